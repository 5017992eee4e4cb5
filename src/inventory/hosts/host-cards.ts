import { keyOf, type Ref } from "@slipway/kube";
import type { Host } from "../../netboot/hosts/host.ts";

/** Which objects a machine on the network may be: by its name and its cards, as they were last seen to belong to them. */
export class HostCards {
  readonly #refs = new Map<string, Map<string, Ref>>();
  readonly #names = new Map<string, readonly string[]>();

  /** The object is known by these cards and names from now on, and by no others. */
  note(ref: Ref, names: readonly string[]): void {
    const key = keyOf(ref);
    const before = this.#names.get(key);
    if (before !== undefined && before.length === names.length && before.every((name, i) => name === names[i])) return;
    this.forget(key);
    this.#names.set(key, names);
    for (const name of names) this.#refs.set(name, (this.#refs.get(name) ?? new Map<string, Ref>()).set(key, ref));
  }

  forget(key: string): void {
    for (const name of this.#names.get(key) ?? []) {
      const refs = this.#refs.get(name);
      refs?.delete(key);
      if (refs?.size === 0) this.#refs.delete(name);
    }
    this.#names.delete(key);
  }

  /** The objects that may be this machine's. */
  of({ name, macs }: Pick<Host, "name" | "macs">): Ref[] {
    const found = [name, ...macs].flatMap((each) => [...(this.#refs.get(each) ?? [])]);
    return [...new Map(found).values()];
  }
}
