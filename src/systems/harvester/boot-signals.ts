import type { Clock, Log } from "@slipway/base";
import type { Cache, Client } from "@slipway/kube";
import { bootedObjects, signalAccess } from "../../bootstrap/boot-signals.ts";
import { Instance } from "../../kinds/harvester/instance.ts";

/** What writing signals needs besides the boots' own rights. */
export const bootSignalAccess = signalAccess(Instance);

/** Machines' signals on their Instances. The caller calls `close`. */
export function bootedInstances(client: Client, cache: Cache, { clock, log }: { clock: Clock; log: Log }) {
  return bootedObjects(Instance, { client, cache, clock, log });
}
