import { asFault, type Log } from "@slipway/base";

interface Closable {
  close(): unknown;
}

/** What has been started, in that order; it ends in the opposite one. */
export class Parts {
  readonly #log: Log;
  readonly #open: Closable[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  own<T extends Closable>(part: T): T {
    this.#open.push(part);
    return part;
  }

  /** Ends every part, also when another can't be ended: it holds ports that the next start needs. Never rejects. */
  async close(): Promise<void> {
    for (const part of this.#open.splice(0).reverse())
      try {
        await part.close();
      } catch (error) {
        this.#log.error({ error: asFault(error, "netboot").message }, "a part of netboot could not be closed");
      }
  }
}
