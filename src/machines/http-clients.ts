import { closeAll, type Http } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import type { ClientCertificate } from "./provider.ts";

type Client = Http & { close(): Promise<void> };
type Make = (ca: string | undefined, client?: ClientCertificate) => Client;

/** HTTP clients by the authority that they trust and what they show: everything that has the same shares its connections. They go through the environment's proxy. */
export class HttpClients {
  readonly #make: Make;
  readonly #held = new Map<string, Client>();

  constructor(
    make: Make = (ca, client) =>
      undiciHttp({ proxy: true, ...(ca !== undefined && { ca }), ...(client !== undefined && { client }) }),
  ) {
    this.#make = make;
  }

  /** `ca`: PEM. Unset: the system's authorities. */
  of(ca: string | undefined, client?: ClientCertificate): Http {
    const key = JSON.stringify([ca, client?.certificatePem, client?.keyPem]);
    const held = this.#held.get(key) ?? this.#make(ca, client);
    this.#held.set(key, held);
    return held;
  }

  /** Ends all their connections. */
  async close(): Promise<void> {
    await closeAll([...this.#held.values()].map((client) => () => client.close()));
  }
}
