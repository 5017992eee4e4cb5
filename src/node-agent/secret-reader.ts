import { type Clock, isFault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import type { VinoNode } from "../kinds/vino/vino-node.ts";
import type { SecretRead, SecretsRead } from "./node/wish.ts";

/** How long what was read counts: so late is a changed password taken over at most, where nothing else changes. */
const FRESH_MS = 60_000;

/** Reads the Secrets that VinoNodes name, by name and one at a time: the agent may not list any. */
export class SecretReader {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #onSecret: (value: string) => void;
  readonly #read = new Map<string, { secret: SecretRead; at: number; generation: number }>();

  constructor({ clock, onSecret }: { clock: Pick<Clock, "monotonic">; onSecret: (value: string) => void }) {
    this.#clock = clock;
    this.#onSecret = onSecret;
  }

  /** The Secrets of these VinoNodes; one that is missing is left out. Rejects when the API does not answer. */
  async read(client: Pick<Client, "find">, nodes: readonly VinoNode[], signal: AbortSignal): Promise<SecretsRead> {
    const found = new Map<string, SecretRead>();
    for (const node of nodes) {
      const namespace = node.metadata.namespace!;
      const generation = node.metadata.generation ?? 0;
      for (const name of namesOf(node)) {
        const secret = await this.#one(client, { namespace, name, generation, signal });
        if (secret !== undefined) found.set(`${namespace}/${name}`, secret);
      }
    }
    for (const key of this.#read.keys()) if (!found.has(key)) this.#read.delete(key);
    return found;
  }

  async #one(
    client: Pick<Client, "find">,
    {
      namespace,
      name,
      generation,
      signal,
    }: { namespace: string; name: string; generation: number; signal: AbortSignal },
  ): Promise<SecretRead | undefined> {
    const key = `${namespace}/${name}`;
    const now = this.#clock.monotonic();
    const kept = this.#read.get(key);
    if (kept !== undefined && kept.generation === generation && now - kept.at < FRESH_MS) return kept.secret;
    const secret = await client.find(Secret, { namespace, name }, { signal }).catch((error: unknown) => {
      // A name that no object can have, or one that the operator has not allowed yet: the others are read.
      if (isFault(error, "Invalid", "BadRequest", "Forbidden")) return undefined;
      throw error;
    });
    if (secret === undefined) return undefined;
    const data = Object.fromEntries(
      Object.entries(secret.data ?? {}).map(([field, value]) => [field, Buffer.from(value, "base64").toString("utf8")]),
    );
    if (data.password !== undefined) this.#onSecret(data.password);
    const read = { data, version: `${secret.metadata.uid}/${secret.metadata.resourceVersion}` };
    this.#read.set(key, { secret: read, at: now, generation });
    return read;
  }
}

function namesOf({ spec }: VinoNode): readonly string[] {
  return [...new Set(spec.domains.flatMap(({ bmc, vnc }) => [bmc.name, ...(vnc === undefined ? [] : [vnc.name])]))];
}
