/** Gives the machine of a PacketMachine back; the object goes when nothing of the machine is left. */
import { Fault, isoTime } from "@slipway/base";
import { type Context, DONE, removeFinalizer, waitFor } from "@slipway/kube";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import { release, wasOrdered, whatIsLeft } from "../../machines/executor.ts";
import { type Released, releasePatiently } from "../../machines/patient-release.ts";
import { told } from "../infrastructure/conditions.ts";
import { withWayOut } from "../infrastructure/guarded.ts";
import { ABANDON } from "../infrastructure/names.ts";
import { ABANDONED_MACHINES, writeAbandoned } from "../providers/abandoned.ts";
import { accountSource, machineAccount } from "./account.ts";
import { jobOf, type MachineRecord } from "./claimant.ts";
import { INSTANCE_READY, journalOf } from "./journal.ts";
import { MACHINE_FINALIZER, nameOf } from "./names.ts";
import type { Packet } from "./shared.ts";
import { hasJoined, type Surroundings, wantedOf } from "./surroundings.ts";

const HOLD_MS = 30_000;
const LOOK_MS = 10_000;

/** One step of giving back. Works whatever else is gone: Machine, Cluster, PacketCluster, bootstrap data. */
export async function releaseMachine(
  packet: Packet,
  context: Context,
  record: MachineRecord,
  around: Surroundings,
): Promise<Released> {
  const { metadata, status } = record.object;
  const { uid, namespace, name } = metadata;
  const isAbandoned = metadata.annotations?.[ABANDON] === "true";
  const left = status?.instanceID ? `machine ${status.instanceID}` : "the machine that may have been ordered";
  const where = `ConfigMap ${packet.own.namespace}/${ABANDONED_MACHINES}`;
  return await releasePatiently(packet.patience, context, {
    ...{ uid, name: `release ${isAbandoned}` },
    giveBack: () => giveBack(packet, context, record, around),
    letGo: isAbandoned ? (reason) => letGo(packet, context, record, reason) : undefined,
    withWayOut: (fault) => withWayOut(fault, { object: `packetmachine -n ${namespace} ${name}`, left, where }),
  });
}

async function giveBack(
  packet: Packet,
  context: Context,
  record: MachineRecord,
  around: Surroundings,
): Promise<Released> {
  const machine = record.object;
  const journal = journalOf(machine, { reports: false, joined: false });
  if (machine.spec.reclaimPolicy === "Retain") return await retain(packet, context, record);
  if (!wasOrdered(journal)) return await finish(packet, context, record);
  const account = machineAccount(machine, around.packetCluster);
  if (account === undefined)
    throw new Fault(
      "MissingInput",
      nameOf(machine),
      "its PacketCluster is gone, and nothing says with which account it was ordered",
      {
        remedy: "create the PacketCluster again",
      },
    );
  const fleet = await packet.accounts.fleet(accountSource(account, context.client, packet.own));
  const job = jobOf(packet, context, {
    ...{ record, fleet, account, wanted: wantedOf(machine, around), joined: hasJoined(around) },
    data: async () => "",
    describe: () => record.object.status ?? {},
  });
  const left = await whatIsLeft(job);
  if (left === "adopted") return { againAfterMs: 0 };
  if (left === "none" || left === "gone") return await finish(packet, context, record);
  if (left === "unknown")
    return await waits(context, record, "the answer to an order that may have bought a machine", LOOK_MS);
  const what = `the provider to take machine ${left.id} back (${left.providerState})`;
  if (left.phase === "releasing" || machine.status?.release?.accepted === true)
    return await waits(context, record, what, packet.pollMs);
  if (left.locked)
    return await waits(context, record, `the lock on machine ${left.id} to be taken off at the provider`, HOLD_MS);
  await waits(context, record, what, 0);
  const failure = machine.status?.failureMessage;
  await release(job, left.id, { force: true, ...(failure !== undefined && { failure }) });
  return { againAfterMs: 0 };
}

/** Writes what the deletion waits for. */
async function waits(context: Context, record: MachineRecord, what: string, againAfterMs: number): Promise<Released> {
  const now = context.clock.now();
  const { status, metadata } = record.object;
  const place = { now, observedGeneration: metadata.generation ?? 0 };
  const gone = { status: false, reason: "Deleting", message: `waiting for ${what}` };
  const conditions = told(
    told(status?.conditions, { ...gone, type: INSTANCE_READY }, place),
    { ...gone, type: "Ready" },
    place,
  );
  await record.write({
    ready: false,
    release: status?.release ?? { reason: "Deleted", at: isoTime(now) },
    ...waitFor(status, { what, now }),
    conditions,
  });
  return { againAfterMs };
}

/** Lets the object go and keeps the machine, as its reclaimPolicy says. */
async function retain(packet: Packet, context: Context, record: MachineRecord): Promise<Released> {
  const machine = record.object;
  const id = machine.status?.instanceID;
  if (id !== undefined)
    context.events.normal(
      machine,
      "Retained",
      `machine ${id} is kept and goes on being billed: reclaimPolicy is Retain`,
    );
  return await finish(packet, context, record);
}

/** Lets an object go whose machine stays, since its provider can't be asked: what may be left is written down first. */
async function letGo(packet: Packet, context: Context, record: MachineRecord, reason: string): Promise<Released> {
  const { metadata, status } = record.object;
  const entry = {
    machine: status?.instanceID ?? "unknown",
    hostname: metadata.name,
    find: `hostname ${metadata.name}, or the mark slipway:claim:${metadata.uid}`,
    account: status?.account,
    ...status?.placement,
    ...(status?.purchase && { orderedAt: status.purchase.at }),
    reason,
  };
  const key = `${metadata.namespace}.${metadata.name}.${metadata.uid}`;
  const where = await writeAbandoned(context, packet.own.namespace, { key, record: entry });
  const message = `machine ${entry.machine} (${metadata.name}) was not given back and may still be billed: see ${where}; ${reason}`;
  context.events.warning(record.object, "MachineAbandoned", message);
  return await finish(packet, context, record);
}

async function finish(packet: Packet, context: Context, record: MachineRecord): Promise<Released> {
  await packet.boots.remove(context, record.object);
  packet.patience.forget(record.object.metadata.uid);
  await removeFinalizer(context.client, PacketMachine, record.object, MACHINE_FINALIZER);
  return DONE;
}
