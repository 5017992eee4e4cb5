/** Machines' signals on the objects that claim them, in `status.install`, whatever their kind. */
import { type Clock, isFault, isoTime, type Log } from "@slipway/base";
import type { Access, Cache, Client, KubeObject, Patch, Ref, Resource } from "@slipway/kube";
import type { BootSignal } from "./boot-record.ts";
import type { BootedKind, BootOwner } from "./boot-store.ts";
import { SignalOutbox } from "./signal-outbox.ts";

/** What writing signals needs besides the boots' own rights. */
export const signalAccess = (resource: Resource): readonly Access[] => [
  { resource, verbs: ["get"] },
  { resource, verbs: ["patch"], subresource: "status" },
];

const SIGNALS = ["scriptFetched", "configFetched", "started", "succeeded", "failed", "message"] as const;
const TRIES = 4;

/** An object whose status has a boot, and what its machine has reported of it. */
export interface Booted extends KubeObject {
  status?: {
    boot?: { id: string } | undefined;
    install?:
      | ({ [Name in (typeof SIGNALS)[number]]?: string | null | undefined } & { bootID?: string | null | undefined })
      | undefined;
  };
}

/** The kind, for the boot service. Any replica may write: every write is guarded or only adds. The caller calls `close`. */
export function bootedObjects<T extends Booted>(
  resource: Resource<T>,
  { client, cache, clock, log }: { client: Client; cache: Cache; clock: Clock; log: Log },
): BootedKind & { close(): void } {
  const write = (owner: BootOwner, signals: readonly BootSignal[]) =>
    writeSignals({ resource, client, cache, ref: refOf(resource, owner) }, signals);
  const outbox = new SignalOutbox({ clock, log, write });
  return {
    group: resource.group,
    kind: resource.kind,
    tell: (owner, signal) => outbox.tell(owner, signal),
    close: () => outbox.close(),
  };
}

function refOf({ namespaced }: Resource, { namespace, name }: BootOwner): Ref {
  return namespaced && namespace ? { namespace, name } : { name };
}

interface Place<T extends Booted> {
  resource: Resource<T>;
  client: Client;
  cache: Cache;
  ref: Ref;
}

/** Writes signals of one boot. */
async function writeSignals<T extends Booted>(place: Place<T>, signals: readonly BootSignal[]): Promise<void> {
  const { resource, client, ref } = place;
  const known = cached(place, signals[0]!.bootId);
  // A machine may be sooner than the cache: the object itself says whether the signals are of its boot.
  let patch: Patch | undefined = known === undefined ? signalPatch(signals) : patchFor(known, signals);
  for (let tries = 1; patch !== undefined; tries++) {
    try {
      await client.patch(resource, ref, patch, { subresource: "status" });
      return;
    } catch (error) {
      // A deleted object needs no wake-up.
      if (isFault(error, "NotFound")) return;
      if (!isFault(error, "Conflict", "Invalid") || tries === TRIES) throw error;
      const stored = await client.find(resource, ref);
      patch = stored && patchFor(stored, signals);
    }
  }
}

/** The object as the cache has it, where that knows the boot: every patch made from it is guarded. */
function cached<T extends Booted>({ resource, cache, ref }: Place<T>, bootId: string): T | undefined {
  try {
    const object = cache.get(resource, ref);
    return object?.status?.boot?.id === bootId ? object : undefined;
  } catch (error) {
    if (isFault(error, "Unavailable", "Undeclared")) return undefined;
    throw error;
  }
}

/** The patch for signals of the boot that counts; a held machine asks for its script every few seconds, and only the first time is news. */
function patchFor({ metadata, status }: Booted, signals: readonly BootSignal[]): Patch | undefined {
  const { bootId } = signals[0]!;
  if (status?.boot?.id !== bootId) return undefined;
  const held = status.install;
  if (held?.bootID !== bootId) {
    // Announced by a Slipway that did not name the boot here, too. What an earlier boot had said is not this one's, and another
    // writer's first signal must not get lost.
    const none = Object.fromEntries(SIGNALS.map((field) => [field, null]));
    const install = { ...none, bootID: bootId, ...Object.fromEntries(signals.flatMap(fieldsOf)) };
    const { resourceVersion } = metadata;
    return { type: "merge", body: { metadata: { resourceVersion }, status: { install } } };
  }
  const news = signals.filter(({ kind }) => held[kind] == null || !kind.endsWith("Fetched"));
  return news.length === 0 ? undefined : signalPatch(news);
}

/** Adds signals to those of their boot, whatever else is written at the same time. Refused (`Invalid`) where another boot counts. */
function signalPatch(signals: readonly BootSignal[]): Patch {
  const value = signals[0]!.bootId;
  const added = signals.flatMap(fieldsOf);
  return {
    type: "json",
    body: [
      { op: "test", path: "/status/boot/id", value },
      { op: "test", path: "/status/install/bootID", value },
      ...added.map(([field, value]) => ({ op: "add" as const, path: `/status/install/${field}`, value })),
    ],
  };
}

function fieldsOf({ kind, at, message }: BootSignal): [field: string, value: string][] {
  return [[kind, isoTime(at)], ...(message ? [["message", message] satisfies [string, string]] : [])];
}
