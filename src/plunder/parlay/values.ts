import { Fault } from "@slipway/base";

/** What maps save and use by name. The original had one store for all, so that two clusters shared a token (P4). */
export class Values {
  readonly #kept: Map<string, string>;

  constructor(kept: Readonly<Record<string, string>> = {}) {
    this.#kept = new Map(Object.entries(kept));
  }

  /** Throws a `Fault` (`NotFound`) for a name under which nothing was saved. */
  get(name: string): string {
    const value = this.#kept.get(name);
    if (value !== undefined) return value;
    throw new Fault("NotFound", name, "nothing is saved under this name", {
      remedy: "save it first, by commandSaveAsKey or by an action key with keyFile",
    });
  }

  set(name: string, value: string): void {
    this.#kept.set(name, value);
  }

  /** They may be secrets. */
  all(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#kept);
  }
}
