import { isFault, isoTime } from "@slipway/base";
import type { Access, Cache, Client } from "@slipway/kube";
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
      let instance = cached(cache, name, signal) ?? (await client.find(Instance, { name }));
      for (let tries = 1; instance !== undefined; tries++) {
        const patch = patchFor(instance, signal);
        if (patch === undefined) return;
        try {
          await client.patch(Instance, { name }, patch, { subresource: "status" });
          return;
        } catch (error) {
          // A deleted Instance needs no wake-up.
          if (isFault(error, "NotFound")) return;
          if (!isFault(error, "Conflict", "Invalid") || tries === TRIES) throw error;
          instance = await client.find(Instance, { name });
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
function patchFor({ metadata, status }: Instance, signal: BootSignal) {
  if (status?.boot?.id !== signal.bootId) return undefined;
  const held = status.install;
  const at = isoTime(signal.at);
  if (held?.bootID !== signal.bootId) {
    // What an earlier boot had said is not this one's. Another writer's first signal must not get lost.
    const none = Object.fromEntries(SIGNALS.map((field) => [field, null]));
    const install = {
      ...none,
      bootID: signal.bootId,
      [signal.kind]: at,
      ...(signal.message && { message: signal.message }),
    };
    const { resourceVersion } = metadata;
    return { type: "merge" as const, body: { metadata: { resourceVersion }, status: { install } } };
  }
  if (held[signal.kind] != null && signal.kind.endsWith("Fetched")) return undefined;
  return {
    type: "json" as const,
    body: [
      { op: "test" as const, path: "/status/boot/id", value: signal.bootId },
      { op: "test" as const, path: "/status/install/bootID", value: signal.bootId },
      { op: "add" as const, path: `/status/install/${signal.kind}`, value: at },
      ...(signal.message ? [{ op: "add" as const, path: "/status/install/message", value: signal.message }] : []),
    ],
  };
}
