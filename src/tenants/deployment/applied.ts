import { createHash } from "node:crypto";
import { type Cache, type Client, type KubeObject, keyOf, type Resource, refOf } from "@slipway/kube";
import { CHECKSUM } from "../../kinds/kamaji/labels.ts";
import { refuseForeign, takeOver } from "./take-over.ts";
import type { Manifest } from "./wanted.ts";

const MANAGER = "slipway";
/** A SHA-256; Kamaji's own operator writes others under the same annotation. */
const OWN_CHECKSUM = /^[0-9a-f]{64}$/;

/** The management cluster, as one reconcile sees it. */
export interface Cluster {
  client: Client;
  cache: Cache;
}

/**
 * Applies objects where something differs: where other things are wanted than were applied, and where somebody changed what was applied.
 * Fields of others stay. An object that is as wanted costs no request.
 */
export class Applied {
  /** By uid: live objects that don't show what was applied word for word, since the API writes it otherwise, such as `1000m`. */
  readonly #settled = new Map<string, string>();
  readonly #checksum: string;
  readonly #ofTenants: boolean;

  /**
   * `checksum`: annotation on each object, with a mark of all that is wanted of it. Default: Kamaji's. `ofTenants`: an object that is there
   * before is a tenant's by its labels or owner, and what Kamaji's operator wrote in it is taken over; any other is refused.
   */
  constructor({ checksum = CHECKSUM, ofTenants = false }: { checksum?: string; ofTenants?: boolean } = {}) {
    this.#checksum = checksum;
    this.#ofTenants = ofTenants;
  }

  /** Resolves with the object as it is then. Rejects with what the API refuses, and with `AlreadyExists` for a foreign one. */
  async keep<T extends KubeObject>({ client, cache }: Cluster, resource: Resource<T>, wanted: Manifest<T>): Promise<T> {
    const body = this.#withChecksum(wanted);
    const ref = { namespace: wanted.metadata.namespace, name: wanted.metadata.name };
    const live = cache.get(resource, ref);
    if (live !== undefined && this.#isAsWanted(live, body)) return live;
    if (this.#ofTenants && !OWN_CHECKSUM.test(live?.metadata.annotations?.[this.#checksum] ?? "")) {
      const before = await client.find(resource, ref);
      if (before !== undefined) {
        refuseForeign(resource, before, wanted);
        await takeOver(client, resource, before, MANAGER);
      }
    }
    const applied = await client.patch(resource, ref, { type: "apply", body, fieldManager: MANAGER, force: true });
    if (!covers(applied, body)) this.#settled.set(applied.metadata.uid, this.#fingerprint(applied, body));
    return applied;
  }

  /** Deletes an object that is no longer wanted, if it is there and this owner's. */
  async drop<T extends KubeObject>(
    { client, cache }: Cluster,
    resource: Resource<T>,
    ref: { namespace: string; name: string },
    ownerUid: string,
  ): Promise<void> {
    const live = cache.get(resource, ref);
    const isOurs = live?.metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === ownerUid);
    if (live === undefined || isOurs !== true || live.metadata.deletionTimestamp !== undefined) return;
    this.#settled.delete(live.metadata.uid);
    await client.delete(resource, refOf(live), { uid: live.metadata.uid });
  }

  #isAsWanted(live: KubeObject, body: KubeObjectBody): boolean {
    const { uid, annotations, deletionTimestamp } = live.metadata;
    if (deletionTimestamp !== undefined) return false;
    if (annotations?.[this.#checksum] !== body.metadata.annotations[this.#checksum]) return false;
    return covers(live, body) || this.#settled.get(uid) === this.#fingerprint(live, body);
  }

  /** The object with a mark of all that is wanted of it: what is no longer wanted is seen by it. */
  #withChecksum(wanted: Manifest): KubeObjectBody {
    const checksum = createHash("sha256").update(JSON.stringify(wanted)).digest("hex");
    const { metadata } = wanted;
    const annotations = { ...metadata.annotations, [this.#checksum]: checksum };
    return { ...wanted, metadata: { ...metadata, annotations } };
  }

  #fingerprint(live: KubeObject, body: KubeObjectBody): string {
    const { metadata, status: _, ...content } = live as KubeObject & { status?: unknown };
    const { labels, annotations, ownerReferences } = metadata;
    const seen = JSON.stringify([keyOf(metadata), content, labels, annotations, ownerReferences]);
    return createHash("sha256").update(seen).update(body.metadata.annotations[this.#checksum]!).digest("hex");
  }
}

type KubeObjectBody = Manifest & { metadata: { annotations: Record<string, string> } };

/** Whether `live` has everything that is in `wanted`, lists item by item. */
export function covers(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(live) &&
      live.length === wanted.length &&
      wanted.every((item, at) => covers((live as unknown[])[at], item))
    );
  if (typeof wanted === "object" && wanted !== null)
    return (
      typeof live === "object" &&
      live !== null &&
      Object.entries(wanted).every(
        ([key, value]) => value === undefined || covers((live as Record<string, unknown>)[key], value),
      )
    );
  return live === wanted;
}
