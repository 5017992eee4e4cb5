import { isFault, isoTime } from "@slipway/base";
import type { Access, Cache, Client, Patch } from "@slipway/kube";
import type { BootSignal } from "../../bootstrap/boot-record.ts";
import type { BootedKind } from "../../bootstrap/boot-store.ts";
import { Instance } from "../../kinds/harvester/instance.ts";

/** What writing signals needs besides the boots' own rights. */
export const bootSignalAccess: readonly Access[] = [
  { resource: Instance, verbs: ["get"] },
  { resource: Instance, verbs: ["patch"], subresource: "status" },
];

const SIGNALS = ["scriptFetched", "configFetched", "started", "succeeded", "failed", "message"] as const;
const TRIES = 4;

/** Machines' signals on their Instances, in `status.install`. Any replica may write: every write is guarded or only adds. */
export function bootedInstances(client: Client, cache: Cache): BootedKind {
  return {
    group: Instance.group,
    kind: Instance.kind,
    async tell({ name }, signal) {
      const known = cached(cache, name, signal);
      // A machine may be sooner than the cache: the object itself says whether the signal is of its boot.
      let patch: Patch | undefined = known === undefined ? signalPatch(signal) : patchFor(known, signal);
      for (let tries = 1; patch !== undefined; tries++) {
        try {
          await client.patch(Instance, { name }, patch, { subresource: "status" });
          return;
        } catch (error) {
          // A deleted Instance needs no wake-up.
          if (isFault(error, "NotFound")) return;
          if (!isFault(error, "Conflict", "Invalid") || tries === TRIES) throw error;
          const stored = await client.find(Instance, { name });
          patch = stored && patchFor(stored, signal);
        }
      }
    },
  };
}

/** The Instance as the cache has it, where that knows the signal's boot: every patch made from it is guarded. */
function cached(cache: Cache, name: string, signal: BootSignal): Instance | undefined {
  try {
    const instance = cache.get(Instance, { name });
    return instance?.status?.boot?.id === signal.bootId ? instance : undefined;
  } catch (error) {
    if (isFault(error, "Unavailable", "Undeclared")) return undefined;
    throw error;
  }
}

/** The patch for a signal of the boot that counts; a held machine asks for its script every few seconds, and only the first time is news. */
function patchFor({ metadata, status }: Instance, signal: BootSignal): Patch | undefined {
  if (status?.boot?.id !== signal.bootId) return undefined;
  const held = status.install;
  if (held?.bootID !== signal.bootId) {
    // Announced by a Slipway that did not name the boot here, too. What an earlier boot had said is not this one's, and another
    // writer's first signal must not get lost.
    const none = Object.fromEntries(SIGNALS.map((field) => [field, null]));
    const install = {
      ...none,
      bootID: signal.bootId,
      [signal.kind]: isoTime(signal.at),
      ...(signal.message && { message: signal.message }),
    };
    const { resourceVersion } = metadata;
    return { type: "merge", body: { metadata: { resourceVersion }, status: { install } } };
  }
  return held[signal.kind] != null && signal.kind.endsWith("Fetched") ? undefined : signalPatch(signal);
}

/** Adds the signal to those of its boot, whatever else is written at the same time. Refused (`Invalid`) where another boot counts. */
function signalPatch({ kind, at, bootId, message }: BootSignal): Patch {
  return {
    type: "json",
    body: [
      { op: "test", path: "/status/boot/id", value: bootId },
      { op: "test", path: "/status/install/bootID", value: bootId },
      { op: "add", path: `/status/install/${kind}`, value: isoTime(at) },
      ...(message ? [{ op: "add" as const, path: "/status/install/message", value: message }] : []),
    ],
  };
}
