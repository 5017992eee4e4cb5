import { closeAll, type Http } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";

type Client = Http & { close(): Promise<void> };

/** HTTP clients by the authority that they trust: everything that trusts the same one shares its connections. They go through the environment's proxy. */
export class HttpClients {
  readonly #make: (ca: string | undefined) => Client;
  readonly #held = new Map<string | undefined, Client>();

  constructor(
    make: (ca: string | undefined) => Client = (ca) => undiciHttp({ proxy: true, ...(ca !== undefined && { ca }) }),
  ) {
    this.#make = make;
  }

  /** `ca`: PEM. Unset: the system's authorities. */
  of(ca: string | undefined): Http {
    const held = this.#held.get(ca) ?? this.#make(ca);
    this.#held.set(ca, held);
    return held;
  }

  /** Ends all their connections. */
  async close(): Promise<void> {
    await closeAll([...this.#held.values()].map((client) => () => client.close()));
  }
}
