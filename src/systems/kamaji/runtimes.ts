import { Fault, isFault } from "@slipway/base";
import { type Home, type ProgramUsage, RUNTIMES, type Runtime, type RuntimeName } from "../../tenants/runtime.ts";
import { RUNS_ON, RUNTIME } from "./names.ts";

export interface RuntimesPorts {
  /** Of tenants that name none. */
  wanted: RuntimeName;
  /** Opens a runtime. Rejects with a `Fault` (`Unsupported`) for one that is not there. */
  start: (name: RuntimeName) => Promise<Runtime>;
}

/** The runtimes, each opened when the first tenant needs it. */
export class Runtimes {
  readonly #ports: RuntimesPorts;
  readonly #open = new Map<RuntimeName, Promise<Runtime>>();
  readonly #listeners = new Set<(id: string) => void>();

  constructor(ports: RuntimesPorts) {
    this.#ports = ports;
  }

  /**
   * Where a tenant runs. `held`: where it runs already, and stays; `asked`: what its user asks for, unset: the operator's. Throws `Invalid`
   * for a name that is none, and for a tenant that is asked to move.
   */
  decide(held: string | undefined, asked: string | undefined): RuntimeName {
    const name = held ?? asked ?? this.#ports.wanted;
    const known = RUNTIMES.find((one) => one === name);
    if (known === undefined)
      throw new Fault("Invalid", "runtime", `${JSON.stringify(name)} is none of ${RUNTIMES.join(", ")}`, {
        remedy: `correct the annotation ${held === undefined ? RUNTIME : RUNS_ON}`,
      });
    if (asked !== undefined && asked !== known)
      throw new Fault("Invalid", "runtime", `the tenant runs on ${known}, and can't move to ${JSON.stringify(asked)}`, {
        remedy: `set the annotation ${RUNTIME} back to ${known}, or make another tenant`,
      });
    return known;
  }

  /** Whether the tenant's plane lives in one process, or beside it on its machine. */
  isBound(held: string | undefined, asked: string | undefined): boolean {
    return (held ?? asked ?? this.#ports.wanted) !== "deployment";
  }

  /** The runtime of this name. Rejects with `Invalid` for a name that is none, and with what `start` says. */
  async of(name: string | undefined): Promise<Runtime> {
    const known = this.decide(name, undefined);
    let found = this.#open.get(known);
    if (found === undefined) {
      found = this.#start(known);
      this.#open.set(known, found);
      found.catch(() => this.#open.delete(known));
    }
    return await found;
  }

  /** Ends the plane of a tenant that runs on `held`; unset: it was never started. A name that is no runtime here has nothing of it: the tenant goes all the same. */
  async remove(id: string, held: string | undefined, home: Home): Promise<void> {
    if (held === undefined) return;
    const runtime = await this.of(held).catch((error: unknown) => {
      if (isFault(error, "Invalid", "Unsupported")) return undefined;
      throw error;
    });
    await runtime?.remove(id, home);
  }

  /** What the programs of all tenants cost that run on this machine. */
  async usage(): Promise<readonly ProgramUsage[]> {
    const open = await Promise.all([...this.#open.values()].map((one) => one.catch(() => undefined)));
    return (await Promise.all(open.map((runtime) => runtime?.usage?.() ?? []))).flat();
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    const all = await Promise.all([...this.#open.values()].map((one) => one.catch(() => undefined)));
    await Promise.all(all.map((runtime) => runtime?.close()));
  }

  async #start(name: RuntimeName): Promise<Runtime> {
    const runtime = await this.#ports.start(name);
    runtime.onChange((id) => {
      for (const listener of this.#listeners) listener(id);
    });
    return runtime;
  }
}
