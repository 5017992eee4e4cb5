import { type Clock, isFault } from "@slipway/base";
import { type Access, type Client, type KubeObject, ownerReference, type Ref, type Resource } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { afterSignal, type BootRecord, type BootSignal, decodeBootRecord, encodeBootRecord } from "./boot-record.ts";
import type { BootRecords } from "./boot-service.ts";
import { bootIdOf, sameCapability } from "./boot-url.ts";

/** Whose boot it is, of whatever kind. */
export interface BootOwner extends Ref {
  group: string;
  kind: string;
}

/** A kind whose objects have boots, and how a machine's signal gets onto one of them. */
export interface BootedKind {
  group: string;
  kind: string;
  /** Writes the signal, if it is of the boot that counts: the change is what wakes the object's controller (H16). */
  tell(owner: BootOwner, signal: BootSignal): Promise<void>;
}

/** What the boot service may do to the Secrets, besides what the kinds' `tell` needs. */
export const bootRecordAccess = (namespace: string): readonly Access[] => [
  { resource: Secret, verbs: ["get", "patch", "delete"], namespace },
];

/** What a controller may do that publishes and removes boots. */
export const bootStoreAccess = (namespace: string): readonly Access[] => [
  { resource: Secret, verbs: ["get", "create", "patch", "delete"], namespace },
];

/** On a boot's Secret: whose boot it is, as `<kind>.<group>/<namespace>/<name>`; the namespace is empty for kinds without. */
const BOOT_OF = "slipway.dev/boot-of";
const TRIES = 4;
/** How old a record may be that a request is answered from. What may be given once is guarded by the Secret's version all the same. */
const KEPT_MS = 5_000;
const MOST_KEPT = 1024;

/** Whose boot a Secret is; undefined where its kind is not served. */
type KindOf = (secret: Secret) => [BootedKind, BootOwner] | undefined;

interface Kept {
  record: BootRecord;
  secret: Secret;
  at: number;
}

/**
 * Boots of machines, one Secret a claim, in one namespace. Everything secret about a boot stands there; it is owned by the claiming object
 * and removed once the machine is installed. Several replicas may serve: what may happen once is guarded by the Secret's version.
 */
export class BootStore {
  readonly #namespace: string;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #kept = new Map<string, Kept>();
  /** Where a record came from: a request that loads one and then notes its signal needs one read. */
  readonly #secrets = new WeakMap<BootRecord, Secret>();

  constructor({ namespace, clock }: { namespace: string; clock: Pick<Clock, "monotonic"> }) {
    this.#namespace = namespace;
    this.#clock = clock;
  }

  /** The record as it is now; undefined where the claim has none. Throws `Invalid` for a Secret that can't be read. */
  async read(client: Client, claim: string): Promise<BootRecord | undefined> {
    const secret = await client.find(Secret, this.#ref(claim));
    if (secret?.data === undefined) {
      this.#kept.delete(claim);
      return undefined;
    }
    return this.#keep(claim, secret, decodeBootRecord(secret.data));
  }

  /**
   * Makes a boot ready to be fetched, in the place of any earlier one of the claim, which is the uid of `object`. Only after its id was
   * written to the object under its version: a decision on an old object would otherwise take away the boot of a machine on its way.
   */
  async publish<T extends KubeObject>(
    client: Client,
    { resource, object }: { resource: Resource<T>; object: T },
    record: BootRecord,
  ): Promise<void> {
    const { uid, namespace, name } = object.metadata;
    const ref = this.#ref(uid);
    const data = encodeBootRecord(record);
    // An object of another namespace can't own the Secret: who claims removes it.
    const isOwner = namespace === undefined || namespace === this.#namespace;
    const metadata = {
      ...ref,
      annotations: { [BOOT_OF]: textOf({ group: resource.group, kind: resource.kind, namespace, name }) },
      ...(isOwner && { ownerReferences: [ownerReference(resource, object)] }),
    };
    this.#kept.delete(uid);
    try {
      this.#keep(uid, await client.create(Secret, { metadata, type: "Opaque", data }), record);
    } catch (error) {
      if (!isFault(error, "AlreadyExists")) throw error;
      const body = { data: { firstConfigFetchAt: null, firstConfigFetchFrom: null, closed: null, ...data } };
      this.#keep(uid, await client.patch(Secret, ref, { type: "merge", body }), record);
    }
  }

  /** Nothing of the claim's boot may be fetched any more. Resolves also where there is none. */
  async remove(client: Client, claim: string): Promise<void> {
    this.#kept.delete(claim);
    await client.delete(Secret, this.#ref(claim));
    this.#kept.delete(claim);
  }

  /** The boots of these kinds for the boot service, `client` being its own. */
  records(client: Client, kinds: readonly BootedKind[]): BootRecords {
    const kindOf: KindOf = ({ metadata }) => {
      const owner = ownerOf(metadata.annotations?.[BOOT_OF] ?? "");
      const kind = kinds.find((one) => one.group === owner?.group && one.kind === owner.kind);
      return kind === undefined ? undefined : [kind, owner!];
    };
    const served = (record: BootRecord | undefined): BootRecord | undefined =>
      record !== undefined && kindOf(this.#secrets.get(record)!) !== undefined ? record : undefined;
    return {
      load: async (claim, capability) => {
        const kept = this.#kept.get(claim);
        const isRecent = kept !== undefined && this.#clock.monotonic() - kept.at < KEPT_MS;
        // A capability that is not this record's may be of a newer one.
        if (isRecent && sameCapability(capability, kept.record.capability)) return served(kept.record);
        return served(await this.read(client, claim));
      },
      note: async (claim, signal, seen) => await this.#note(client, kindOf, { claim, signal, seen }),
    };
  }

  async #note(
    client: Client,
    kindOf: KindOf,
    { claim, signal, seen }: { claim: string; signal: BootSignal; seen: BootRecord },
  ): Promise<BootRecord | undefined> {
    let held: BootRecord | undefined = this.#secrets.has(seen) ? seen : await this.read(client, claim);
    for (let tried = 1; held !== undefined && bootIdOf(held.capability) === signal.bootId; tried++) {
      const secret = this.#secrets.get(held)!;
      const of = kindOf(secret);
      if (of === undefined) return undefined;
      const stored = await this.#store(client, { claim, held, secret, signal, mayRetry: tried < TRIES });
      if (stored === "gone") return undefined;
      if (stored !== "overtaken") {
        await of[0].tell(of[1], signal);
        if (stored.closed === true) await this.#end(client, claim, stored);
        return stored;
      }
      held = await this.read(client, claim);
    }
    return undefined;
  }

  /** What a signal changes in the record, but for its end: a boot that is over is removed, once its report has arrived. */
  async #store(
    client: Client,
    {
      claim,
      held,
      secret,
      signal,
      mayRetry,
    }: {
      claim: string;
      held: BootRecord;
      secret: Secret;
      signal: BootSignal;
      mayRetry: boolean;
    },
  ): Promise<BootRecord | "gone" | "overtaken"> {
    const record = afterSignal(held, signal);
    if (record === held) return held;
    if (record.closed === true) {
      this.#secrets.set(record, secret);
      return record;
    }
    const news = Object.entries(encodeBootRecord(record)).filter(([key, value]) => secret.data?.[key] !== value);
    const body = { metadata: { resourceVersion: secret.metadata.resourceVersion }, data: Object.fromEntries(news) };
    try {
      const written = await client.patch(Secret, this.#ref(claim), { type: "merge", body });
      return this.#keep(claim, written, record);
    } catch (error) {
      if (isFault(error, "NotFound")) return "gone";
      if (isFault(error, "Conflict") && mayRetry) return "overtaken";
      throw error;
    }
  }

  /** Removes a boot that is over, unless another one has taken its place. What is kept of it for some seconds answers a repeated report. */
  async #end(client: Client, claim: string, over: BootRecord): Promise<void> {
    let held: BootRecord | undefined = over;
    for (let tried = 1; held?.capability === over.capability; tried++) {
      const secret = this.#secrets.get(held)!;
      const { uid, resourceVersion } = secret.metadata;
      try {
        await client.delete(Secret, this.#ref(claim), {
          uid,
          ...(resourceVersion !== undefined && { resourceVersion }),
        });
        this.#keep(claim, secret, over);
        return;
      } catch (error) {
        if (!isFault(error, "Conflict") || tried === TRIES) throw error;
        held = await this.read(client, claim);
      }
    }
  }

  #keep(claim: string, secret: Secret, record: BootRecord): BootRecord {
    this.#secrets.set(record, secret);
    this.#kept.delete(claim);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size >= MOST_KEPT) this.#kept.delete(oldest);
    this.#kept.set(claim, { record, secret, at: this.#clock.monotonic() });
    return record;
  }

  #ref(claim: string): Required<Ref> {
    return { namespace: this.#namespace, name: `boot-${claim}` };
  }
}

function textOf({
  group,
  kind,
  namespace = "",
  name,
}: {
  group: string;
  kind: string;
  namespace: string | undefined;
  name: string;
}): string {
  return `${kind}.${group}/${namespace}/${name}`;
}

function ownerOf(text: string): BootOwner | undefined {
  const match = /^([A-Za-z0-9]+)\.([a-z0-9.-]*)\/([a-z0-9-]*)\/([a-z0-9.-]+)$/.exec(text);
  if (match === null) return undefined;
  const [, kind, group, namespace, name] = match;
  return { kind: kind!, group: group!, name: name!, ...(namespace !== "" && { namespace: namespace! }) };
}
