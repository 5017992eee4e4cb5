/** Gives the host of a PlunderMachine back; the object goes when the host is wiped and nobody's. */
import { Fault, isoTime } from "@slipway/base";
import { type Context, DONE, removeFinalizer, waitFor } from "@slipway/kube";
import { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import { release, wasOrdered, whatIsLeft } from "../../machines/executor.ts";
import type { Fleet } from "../../machines/fleet.ts";
import { type Released, releasePatiently } from "../../machines/patient-release.ts";
import { told } from "../infrastructure/conditions.ts";
import { withWayOut } from "../infrastructure/guarded.ts";
import { ABANDON } from "../infrastructure/names.ts";
import { providerOf, providerSource } from "./account.ts";
import { jobOf } from "./claimant.ts";
import { INSTALLED, journalOf } from "./journal.ts";
import { heldBy, nameOf } from "./names.ts";
import { announceRemoved } from "./old-events.ts";
import type { MachineRecord, Plunder } from "./shared.ts";
import { hasJoined, type Surroundings, wantedOf } from "./surroundings.ts";

const LOOK_MS = 10_000;

/** One step of giving back. Works whatever else is gone: Machine, Cluster, PlunderCluster, bootstrap data, MachineProvider (N33, N35). */
export async function releaseMachine(
  plunder: Plunder,
  context: Context,
  record: MachineRecord,
  around: Surroundings,
): Promise<Released> {
  const { metadata, status } = record.object;
  const { uid, namespace, name } = metadata;
  const isAbandoned = metadata.annotations?.[ABANDON] === "true";
  const left = `host ${status?.host ?? "that may have been taken"}`;
  return await releasePatiently(plunder.patience, context, {
    ...{ uid, name: `release ${isAbandoned}` },
    giveBack: () => giveBack(plunder, context, record, around),
    letGo: isAbandoned ? () => finish(plunder, context, record, { isLeft: true }) : undefined,
    withWayOut: (fault) =>
      withWayOut(fault, { object: `plundermachine -n ${namespace} ${name}`, left, where: "an event" }),
  });
}

async function giveBack(
  plunder: Plunder,
  context: Context,
  record: MachineRecord,
  around: Surroundings,
): Promise<Released> {
  const machine = record.object;
  // What the original had installed is no host of ours: should it start from the network again, it is wiped before it is offered.
  if (!wasOrdered(journalOf(machine, false)))
    return await finish(plunder, context, record, { isLeft: machine.spec.providerID !== undefined });
  // Once: two texts that follow each other at every pass would wake it for ever.
  if (machine.status?.release === undefined) await waits(context, record, "the host to be given back", 0);
  const provider = await providerOf(machine, around.plunderCluster, context.client);
  const fleet = await plunder.accounts.fleet(providerSource(provider, machine, context.client, plunder.own));
  const job = jobOf(plunder, context, {
    ...{ record, fleet, provider, wanted: wantedOf(machine, around), joined: hasJoined(around) },
    address: undefined,
    data: async () => "",
    describe: () => record.object.status ?? {},
  });
  const left = await whatIsLeft(job);
  if (left === "adopted") return { againAfterMs: 0 };
  if (left === "gone") await demandProof(context, record, job.fleet);
  if (left === "none" || left === "gone") return await finish(plunder, context, record, { isLeft: false });
  if (left === "unknown")
    return await waits(context, record, "the answer to a claim that may have taken a host", LOOK_MS);
  const said = job.fleet.driver.proofOf === undefined || !left.lastEvent ? "" : `; waiting for ${left.lastEvent}`;
  const what = `host ${left.id} to be wiped (${left.providerState}${said})`;
  if (machine.status?.release?.accepted === true || left.phase === "releasing")
    return await waits(context, record, what, plunder.pollMs);
  await waits(context, record, what, 0);
  const failure = machine.status?.failureMessage;
  // The host stays the object's until it is wiped: that is the proof that the original lacked (N34).
  await release(job, left.id, { force: false, ...(failure !== undefined && { failure }) });
  return { againAfterMs: 0 };
}

/** Of hosts outside of this cluster: the object goes once their netboot has proven that they are wiped, and the proof is an event on it (N34). */
async function demandProof(context: Context, { object }: MachineRecord, { driver }: Fleet): Promise<void> {
  const { instanceID } = object.status ?? {};
  if (driver.proofOf === undefined || !instanceID) return;
  const proof = await driver.proofOf(instanceID, context.signal);
  if (proof === undefined)
    throw new Fault("Unavailable", nameOf(object), `nothing proves that host ${instanceID} was wiped`, {
      remedy: "look after the host yourself",
    });
  context.events.normal(object, "Wiped", `host ${instanceID}: ${proof}`);
}

/** Writes what the deletion waits for. */
async function waits(context: Context, record: MachineRecord, what: string, againAfterMs: number): Promise<Released> {
  const now = context.clock.now();
  const { status, metadata } = record.object;
  const place = { now, observedGeneration: metadata.generation ?? 0 };
  const gone = { status: false, reason: "Deleting", message: `waiting for ${what}` };
  const conditions = [INSTALLED, "Ready"].reduce(
    (held, type) => told(held, { ...gone, type }, place),
    status?.conditions ?? [],
  );
  await record.write({
    ready: false,
    release: status?.release ?? { reason: "Deleted", at: isoTime(now) },
    ...waitFor(status, { what, now }),
    conditions,
  });
  return { againAfterMs };
}

async function finish(
  plunder: Plunder,
  context: Context,
  record: MachineRecord,
  { isLeft }: { isLeft: boolean },
): Promise<Released> {
  const machine = record.object;
  await plunder.boots.store.remove(context.client, machine.metadata.uid);
  plunder.patience.forget(machine.metadata.uid);
  plunder.fetched.forget(machine.metadata.uid);
  announceRemoved(context.events, machine, isLeft);
  for (const name of heldBy(machine)) await removeFinalizer(context.client, PlunderMachine, record.object, name);
  return DONE;
}
