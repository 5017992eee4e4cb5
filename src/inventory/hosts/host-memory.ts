/** What one process remembers of the hosts that it drives, by their keys; another begins without. */
export class HostMemory {
  readonly #orders = new Map<string, string>();
  readonly #installs = new Map<string, string>();
  readonly #firmware = new Map<string, string | undefined>();
  readonly #starts = new Map<string, string | undefined>();

  /** The files of this order are offered here. */
  noteOrder(key: string, id: string): void {
    this.#orders.set(key, id);
  }

  /** The files of this installation are offered here. */
  noteInstall(key: string, id: string): void {
    this.#installs.set(key, id);
  }

  /** Whether the files of the order or installation are offered here. */
  offers(key: string, id: string): boolean {
    return this.#orders.get(key) === id || this.#installs.get(key) === id;
  }

  /** The start that was announced for this moment has been made from here. */
  noteStart(key: string, announcedAt: string | undefined): void {
    this.#starts.set(key, announcedAt);
  }

  hasStarted(key: string, announcedAt: string): boolean {
    return this.#starts.get(key) === announcedAt;
  }

  /** The firmware's settings were read in the inspection that began then. */
  noteFirmware(key: string, began: string | undefined): void {
    this.#firmware.set(key, began);
  }

  hasReadFirmware(key: string, began: string | undefined): boolean {
    return this.#firmware.has(key) && this.#firmware.get(key) === began;
  }

  forget(key: string): void {
    for (const map of [this.#orders, this.#installs, this.#firmware, this.#starts]) map.delete(key);
  }
}
