/** By host, the ids of the order and of the installation whose files this process offers: another process knows nothing of them. */
export class Offered {
  readonly #orders = new Map<string, string>();
  readonly #installs = new Map<string, string>();

  noteOrder(key: string, id: string): void {
    this.#orders.set(key, id);
  }

  noteInstall(key: string, id: string): void {
    this.#installs.set(key, id);
  }

  has(key: string, id: string): boolean {
    return this.#orders.get(key) === id || this.#installs.get(key) === id;
  }

  forget(key: string): void {
    this.#orders.delete(key);
    this.#installs.delete(key);
  }
}
