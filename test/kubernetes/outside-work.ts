import { systemClock } from "@slipway/base";
import type { ApiAnswer, ApiRequest, KubeObject, WatchEvent } from "@slipway/kube";
import { attributesOf } from "./attributes.ts";

/**
 * What a stream owes: a version; the news that the object is gone, whose version the answer to a deletion does not tell; or the end of
 * what there was when it began.
 */
type Debt = bigint | "gone" | "beginning";

const BEGINNING = "what there is";

/** A stream that doesn't tell of a write for so long has lost it. */
const PATIENCE_MS = 60_000;

/** An open watch, with what it has shown and what it is about to tell. */
export class FollowedWatch {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  /** Labels that objects must have: `key=value`, as sources write them. */
  readonly #labels: readonly string[];
  shown: bigint;
  readonly owed = new Map<string, Debt>();
  readonly #gone = new Set<string>();

  constructor(request: ApiRequest) {
    const { group, resource, namespace } = attributesOf(request)!;
    this.group = group;
    this.resource = resource;
    this.namespace = namespace;
    this.#labels = request.query?.labelSelector?.split(",") ?? [];
    this.shown = BigInt(request.query?.resourceVersion ?? "0");
    if (request.query?.sendInitialEvents === "true") this.owed.set(BEGINNING, "beginning");
  }

  /** Whether it tells of the object in the answer. Of one whose answer does not show its labels it is not waited for. */
  concerns({ body }: ApiAnswer): boolean {
    const { labels = {} } = (body as Partial<KubeObject>).metadata ?? {};
    return this.#labels.every((each) => {
      const [key = "", value = ""] = each.split("=");
      return labels[key] === value;
    });
  }

  owes(uid: string, debt: bigint | "gone"): void {
    if (debt === "gone" ? !this.#gone.has(uid) : debt > this.shown) this.owed.set(uid, debt);
  }

  shows({ type, object }: WatchEvent): void {
    const { uid, resourceVersion, annotations } = (object as KubeObject).metadata ?? {};
    if (resourceVersion !== undefined) this.shown = BigInt(resourceVersion);
    if (type === "DELETED") this.#gone.add(uid);
    if (annotations?.["k8s.io/initial-events-end"] === "true") this.owed.delete(BEGINNING);
    for (const [of, debt] of this.owed)
      if (debt === "gone" ? this.#gone.has(of) : debt !== "beginning" && debt <= this.shown) this.owed.delete(of);
  }
}

/**
 * What a virtual world has on its way to a real server: requests without an answer, and writes of which an open watch has
 * not shown yet. Writes of others (garbage collection) are not known here and come when they come.
 */
export class OutsideWork {
  readonly #watches = new Set<FollowedWatch>();
  #requests = 0;
  #change = Promise.withResolvers<void>();

  /** For `VirtualClock`. Rejects when a watch does not tell of a write in a minute of real time. */
  readonly rest = (): Promise<void> | undefined => {
    if (this.#requests > 0) return this.#change.promise;
    const debtor = [...this.#watches].find(({ owed }) => owed.size > 0);
    return debtor && this.#patiently(debtor);
  };

  async #patiently({ resource, owed }: FollowedWatch): Promise<void> {
    const time = Promise.withResolvers<void>();
    const timer = systemClock.after(PATIENCE_MS, () => {
      const lost = [...owed].map(([uid, debt]) => `${uid}: ${debt}`);
      time.reject(new Error(`the watch of ${resource} did not tell of a write: ${lost.join(", ")}`));
    });
    await Promise.race([this.#change.promise, time.promise]).finally(() => timer.cancel());
  }

  /** Counts a call while it is out. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    this.#requests++;
    try {
      return await call();
    } finally {
      this.#requests--;
      this.#changed();
    }
  }

  /** A write and what every watch that was open when it was sent will tell of it. */
  async write(request: ApiRequest, call: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const { group, resource, namespace } = attributesOf(request) ?? {};
    const open = [...this.#watches].filter(
      (watch) =>
        watch.group === group &&
        watch.resource === resource?.split("/")[0] &&
        (watch.namespace === undefined || watch.namespace === namespace),
    );
    return await this.during(async () => {
      const answer = await call();
      const [uid, debt] = debtOf(request, answer);
      if (uid !== undefined)
        for (const watch of open) if (this.#watches.has(watch) && watch.concerns(answer)) watch.owes(uid, debt);
      return answer;
    });
  }

  follow(watch: FollowedWatch): void {
    this.#watches.add(watch);
  }

  shows(watch: FollowedWatch, event: WatchEvent): void {
    watch.shows(event);
    this.#changed();
  }

  unfollow(watch: FollowedWatch): void {
    this.#watches.delete(watch);
    this.#changed();
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

function debtOf(request: ApiRequest, { status, body }: ApiAnswer): [uid: string | undefined, bigint | "gone"] {
  const { kind, metadata, details } = body as KubeObject & { details?: { uid?: string } };
  if (status >= 300 || request.query?.dryRun !== undefined) return [undefined, "gone"];
  if (kind === "Status") return [request.method === "DELETE" ? details?.uid : undefined, "gone"];
  const { uid, resourceVersion, deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  const leaves = deletionTimestamp !== undefined || request.method === "DELETE";
  const held = (finalizers?.length ?? 0) > 0 || (deletionGracePeriodSeconds ?? 0) > 0;
  return [uid, leaves && !held ? "gone" : BigInt(resourceVersion)];
}
