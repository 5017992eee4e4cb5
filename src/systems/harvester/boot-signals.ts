import { type Clock, isFault, isoTime, type Log } from "@slipway/base";
import type { Access, Cache, Client, Patch } from "@slipway/kube";
import type { BootSignal } from "../../bootstrap/boot-record.ts";
import type { BootedKind } from "../../bootstrap/boot-store.ts";
import { SignalOutbox } from "../../bootstrap/signal-outbox.ts";
import { Instance } from "../../kinds/harvester/instance.ts";

/** What writing signals needs besides the boots' own rights. */
export const bootSignalAccess: readonly Access[] = [
  { resource: Instance, verbs: ["get"] },
  { resource: Instance, verbs: ["patch"], subresource: "status" },
];

const SIGNALS = ["scriptFetched", "configFetched", "started", "succeeded", "failed", "message"] as const;
const TRIES = 4;

/** Machines' signals on their Instances, in `status.install`. Any replica may write: every write is guarded or only adds. The caller calls `close`. */
export function bootedInstances(client: Client, cache: Cache, { clock, log }: { clock: Clock; log: Log }) {
  const outbox = new SignalOutbox({ clock, log, write: ({ name }, signals) => write(client, cache, name, signals) });
  return {
    group: Instance.group,
    kind: Instance.kind,
    tell: (owner, signal) => outbox.tell(owner, signal),
    close: () => outbox.close(),
  } satisfies BootedKind & { close(): void };
}

/** Writes signals of one boot. */
async function write(client: Client, cache: Cache, name: string, signals: readonly BootSignal[]): Promise<void> {
  const known = cached(cache, name, signals[0]!.bootId);
  // A machine may be sooner than the cache: the object itself says whether the signals are of its boot.
  let patch: Patch | undefined = known === undefined ? signalPatch(signals) : patchFor(known, signals);
  for (let tries = 1; patch !== undefined; tries++) {
    try {
      await client.patch(Instance, { name }, patch, { subresource: "status" });
      return;
    } catch (error) {
      // A deleted Instance needs no wake-up.
      if (isFault(error, "NotFound")) return;
      if (!isFault(error, "Conflict", "Invalid") || tries === TRIES) throw error;
      const stored = await client.find(Instance, { name });
      patch = stored && patchFor(stored, signals);
    }
  }
}

/** The Instance as the cache has it, where that knows the boot: every patch made from it is guarded. */
function cached(cache: Cache, name: string, bootId: string): Instance | undefined {
  try {
    const instance = cache.get(Instance, { name });
    return instance?.status?.boot?.id === bootId ? instance : undefined;
  } catch (error) {
    if (isFault(error, "Unavailable", "Undeclared")) return undefined;
    throw error;
  }
}

/** The patch for signals of the boot that counts; a held machine asks for its script every few seconds, and only the first time is news. */
function patchFor({ metadata, status }: Instance, signals: readonly BootSignal[]): Patch | undefined {
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
