import { type AddressInfo, createServer } from "node:net";
import { Fault } from "@slipway/base";

/** Ports beside the wanted one are looked for in this many after it. */
const SPAN = 2_000;

/** Which ports of this machine are given to which plane. Keeps nothing: who starts anew says again what each had. */
export class PortBook {
  readonly #held = new Map<string, { host: string; port: number }>();
  /** One search at a time: two would find the same port free. */
  #turn: Promise<unknown> = Promise.resolve();

  /** The port of `id`, found anew where what is wanted has changed; port 0 is any free one. Rejects with `Refused` where `exact` and another has it. */
  async take(
    id: string,
    wanted: { host: string; port: number; exact: boolean },
  ): Promise<{ host: string; port: number }> {
    const held = this.#held.get(id);
    const suits = held?.host === wanted.host && (!wanted.exact || held.port === wanted.port);
    if (held !== undefined && suits) return held;
    const found = this.#turn.then(() => this.#find(id, wanted));
    this.#turn = found.catch(() => undefined);
    return await found;
  }

  release(id: string): void {
    this.#held.delete(id);
  }

  async #find(id: string, { host, port: wanted, exact }: { host: string; port: number; exact: boolean }) {
    const last = exact ? wanted : Math.min(65_535, wanted + SPAN);
    for (let at = wanted; at <= last; at++) {
      const port = await freePort(host, wanted === 0 ? 0 : at);
      if (port !== undefined && this.#holder(id, host, port) === undefined) {
        const taken = { host, port };
        this.#held.set(id, taken);
        return taken;
      }
    }
    const message = exact
      ? `port ${wanted} of ${host} is taken`
      : `no port from ${wanted} to ${last} of ${host} is free`;
    throw new Fault("Refused", "control plane", message, { remedy: "choose another port in spec.networkProfile.port" });
  }

  #holder(id: string, host: string, port: number): string | undefined {
    return [...this.#held].find(([other, at]) => other !== id && at.host === host && at.port === port)?.[0];
  }
}

/** The port, where a server could listen there now; 0: one that is free. */
function freePort(host: string, wanted: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(undefined));
    server.listen(wanted, host, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
