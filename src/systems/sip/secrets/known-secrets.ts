import { type Context, keyOf, type Ref } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { versionOf } from "./versions.ts";

const MOST = 1_000;

/** Secrets that users of services name, read again when they have another version. */
export class KnownSecrets {
  readonly #held = new Map<string, { version: string; secret: Secret }>();

  /** Undefined: there is none. Rejects as the API does. */
  async find({ client, cache }: Pick<Context, "client" | "cache">, ref: Ref): Promise<Secret | undefined> {
    const [key, version] = [keyOf(ref), versionOf(cache, ref)];
    const held = this.#held.get(key);
    this.#held.delete(key);
    if (version === "") return undefined;
    const secret = held?.version === version ? held.secret : await client.find(Secret, ref);
    if (secret === undefined) return undefined;
    this.#held.set(key, { version, secret });
    // What was not asked for the longest comes first.
    for (const [oldest] of this.#held) if (this.#held.size > MOST) this.#held.delete(oldest);
    return secret;
  }
}
