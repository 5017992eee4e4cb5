import { isFault, isoTime } from "@slipway/base";
import type { Access, Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import {
  afterSignal,
  type BootRecord,
  type BootSignal,
  decodeBootRecord,
  encodeBootRecord,
} from "../../bootstrap/boot-record.ts";
import type { BootRecords } from "../../bootstrap/boot-service.ts";
import { Instance } from "../../kinds/harvester/instance.ts";
import { BOOT_OF, bootSecretRef } from "./boots.ts";

/** What the boot service may do besides the controllers' own rights. */
export const bootSignalAccess = (namespace: string): readonly Access[] => [
  { resource: Secret, verbs: ["get", "patch"], namespace },
  { resource: Instance, verbs: ["get"] },
  { resource: Instance, verbs: ["patch"], subresource: "status" },
];

const TRIES = 4;

/**
 * Boot records in Secrets, and the machines' signals on their Instances, in `status.install`: the change of the object is what wakes the
 * controller (H16). Any replica may serve: every write is guarded or only adds.
 */
export function harvesterBootRecords(client: Client, namespace: string): BootRecords {
  /** Where what was loaded came from: a request that loads a record and then notes its signal needs one read. */
  const origins = new WeakMap<BootRecord, Secret>();
  const load = async (claim: string): Promise<BootRecord | undefined> => {
    const secret = await client.find(Secret, bootSecretRef(namespace, claim));
    if (secret?.data === undefined) return undefined;
    const record = decodeBootRecord(secret.data);
    origins.set(record, secret);
    return record;
  };
  return {
    load,
    async note(claim, signal, seen) {
      let held = origins.has(seen) ? seen : await load(claim);
      for (let tried = 1; held !== undefined; tried++) {
        const secret = origins.get(held)!;
        const record = afterSignal(held, signal);
        try {
          if (record !== held) {
            const body = {
              metadata: { resourceVersion: secret.metadata.resourceVersion },
              data: encodeBootRecord(record),
            };
            await client.patch(Secret, bootSecretRef(namespace, claim), { type: "merge", body });
          }
        } catch (error) {
          if (isFault(error, "NotFound")) return undefined;
          if (!isFault(error, "Conflict") || tried >= TRIES) throw error;
          held = await load(claim);
          continue;
        }
        await tellInstance(client, secret.metadata.annotations?.[BOOT_OF], signal);
        return record;
      }
      return undefined;
    },
  };
}

const SIGNALS = ["scriptFetched", "configFetched", "started", "succeeded", "failed", "message"] as const;

/** Writes a signal of the boot that counts; a held machine asks for its script every few seconds, and only the first time is news. */
async function tellInstance(client: Client, name: string | undefined, signal: BootSignal): Promise<void> {
  const instance = name === undefined ? undefined : await client.find(Instance, { name });
  if (instance === undefined || instance.status?.boot?.id !== signal.bootId) return;
  const held = instance.status.install;
  const same = held?.bootID === signal.bootId;
  if (same && held[signal.kind] != null && signal.kind.endsWith("Fetched")) return;
  const install = {
    // What an earlier boot had said is not this one's.
    ...(same ? {} : Object.fromEntries(SIGNALS.map((field) => [field, null]))),
    bootID: signal.bootId,
    [signal.kind]: isoTime(signal.at),
    ...(signal.message && { message: signal.message }),
  };
  try {
    const ref = { name: instance.metadata.name };
    await client.patch(Instance, ref, { type: "merge", body: { status: { install } } }, { subresource: "status" });
  } catch (error) {
    // A deleted Instance needs no wake-up.
    if (!isFault(error, "NotFound")) throw error;
  }
}
