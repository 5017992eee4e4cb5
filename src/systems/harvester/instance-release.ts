import { Fault } from "@slipway/base";
import { type Context, DONE, drainStep, type Outcome, removeFinalizer } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { release, wasOrdered, whatIsLeft } from "../../machines/executor.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { LossReason } from "../../machines/lifecycle.ts";
import type { Machine, Release } from "../../machines/machine.ts";
import { type Released, releasePatiently } from "../../machines/patient-release.ts";
import { accountOf } from "../providers/accounts.ts";
import { isAbandoned, recordAbandoned, withWayOut } from "./abandon.ts";
import { CapiMachine } from "./capi-machine.ts";
import { type InstanceRecord, jobOf } from "./claimant.ts";
import type { Harvester } from "./harvester.ts";
import { journalOf } from "./journal.ts";
import {
  ADDON_FRAMEWORK_FINALIZER,
  ADOPTED,
  FINALIZER,
  FLEET_LOCAL,
  FORCE_DELETE,
  POOL_LABEL,
  PROTECT,
} from "./names.ts";
import { identify, readiness } from "./node-identity.ts";
import { planRelease } from "./release-plan.ts";
import { releaseStatus } from "./release-status.ts";

const DRAIN_POLL_MS = 5_000;
const HOLD_POLL_MS = 30_000;
const LOOK_POLL_MS = 10_000;

/**
 * Gives an Instance's machine back, step by step; the object goes when nothing of the machine is left. A provider that can't be asked
 * holds it, until the user abandons the machine: then what may be left is written down first.
 */
export async function releaseInstance(
  harvester: Harvester,
  context: Context,
  record: InstanceRecord,
): Promise<Released> {
  const { patience, addon } = harvester;
  const instance = record.object;
  const { uid, annotations } = instance.metadata;
  const given = isAbandoned(instance);
  return await releasePatiently(patience, context, {
    ...{ uid, name: `release ${given} ${annotations?.[FORCE_DELETE]}` },
    giveBack: () => giveBack(harvester, context, record),
    letGo: given ? (reason) => letGo(harvester, context, record, reason) : undefined,
    withWayOut: (fault) => withWayOut(fault, instance, addon.namespace),
  });
}

/** Lets an Instance go whose machine stays. A Node that is Ready stays too: it is in use, and would register again. */
async function letGo(harvester: Harvester, context: Context, record: InstanceRecord, reason: string): Promise<Outcome> {
  const instance = record.object;
  const node = ownNode(context, instance, undefined);
  const nodes = context.cache.list(Node);
  const view = { instance, poolProtected: isPoolProtected(context, instance), node, nodes, now: context.clock.now() };
  const step = planRelease({ ...view, machine: "gone" });
  if (step.do === "hold") {
    await record.write(releaseStatus(instance, { step, node, drained: undefined, now: view.now }));
    return { againAfterMs: HOLD_POLL_MS };
  }
  await recordAbandoned(harvester, context, instance, reason);
  if (node !== undefined && !readiness(node).ready)
    await context.client.delete(Node, { name: node.metadata.name }, { uid: node.metadata.uid });
  return await finish(harvester, context, instance, nodes);
}

async function giveBack(harvester: Harvester, context: Context, record: InstanceRecord): Promise<Outcome> {
  const instance = record.object;
  const fleet = await fleetOf(harvester, context, instance);
  const job = fleet && jobOf(harvester, context, { record, fleet });
  const machine = job === undefined ? "none" : await whatIsLeft(job);
  if (machine === "adopted") return { againAfterMs: 0 };
  const node = ownNode(context, instance, typeof machine === "string" ? undefined : machine);
  const now = context.clock.now();
  const nodes = context.cache.list(Node);
  const step = planRelease({ instance, poolProtected: isPoolProtected(context, instance), node, nodes, machine, now });
  if (step.do === "hold" && step.reason === "Locked" && isAbandoned(instance))
    throw new Fault("Locked", `Instance/${instance.metadata.name}`, step.message);
  const drained = step.do === "drain" ? await drain(context, instance, node!) : undefined;
  await record.write(releaseStatus(instance, { step, node, drained, now }));
  if (drained !== undefined) return { againAfterMs: drained === "done" ? 0 : DRAIN_POLL_MS };
  switch (step.do) {
    case "hold":
      return { againAfterMs: HOLD_POLL_MS };
    case "look":
      return { againAfterMs: LOOK_POLL_MS };
    case "drain":
      return { againAfterMs: DRAIN_POLL_MS };
    case "release":
      await release(job!, (machine as Machine).id, releaseOptions(instance));
      return { againAfterMs: 0 };
    case "awaitGone":
      return { againAfterMs: harvester.pollMs };
    case "removeNode":
      await context.client.delete(Node, { name: node!.metadata.name }, { uid: node!.metadata.uid });
      // The Node's own event brings us back; this is for a Node that a foreign finalizer holds.
      return { againAfterMs: harvester.pollMs };
    case "finish":
      return await finish(harvester, context, record.object, nodes);
  }
}

/** Losses that the machine itself may be the reason of, before it was ever in service. */
const MACHINE_FAILED: ReadonlySet<string> = new Set<LossReason>([
  "MachineFailed",
  "ProvisionTimeout",
  "InstallFailed",
  "JoinTimeout",
]);

function releaseOptions(instance: Instance): Release {
  const { failure } = instance.status ?? {};
  const isItsFault = failure !== undefined && MACHINE_FAILED.has(failure.reason);
  return { force: isForced(instance), ...(isItsFault && { failure: failure.message }) };
}

function isForced({ metadata }: Instance): boolean {
  return metadata.annotations?.[FORCE_DELETE] === "true";
}

/** Undefined: nothing was ever ordered, so no account is needed to let go. */
async function fleetOf(harvester: Harvester, context: Context, { status, spec }: Instance): Promise<Fleet | undefined> {
  if (!wasOrdered(journalOf(status))) return undefined;
  return await harvester.accounts.fleet(accountOf(spec, context.client, harvester.addon));
}

/** One step of emptying the Node: `done`, or what is still waited for. */
async function drain({ client, signal }: Context, { spec }: Instance, node: Node): Promise<string> {
  const drained = await drainStep(client, node.metadata.name, { signal, ...(spec.drain?.force && { force: true }) });
  return "waitingFor" in drained ? drained.waitingFor : "done";
}

/** Removes what is left in the cluster, and last the finalizer. */
async function finish(
  harvester: Harvester,
  context: Context,
  instance: Instance,
  nodes: readonly Node[],
): Promise<Outcome> {
  const { client } = context;
  const machine = instance.status?.node?.machine;
  // Harvester deletes it with the Node; one that it missed would keep the Node's name taken.
  const stillNamed = nodes.some((node) => node.metadata.name === instance.metadata.name);
  if (machine !== undefined && !stillNamed) {
    await client.delete(CapiMachine, { namespace: FLEET_LOCAL, name: machine.replace(/^.*\//, "") });
  }
  await harvester.boots.remove(context, instance);
  harvester.patience.forget(instance.metadata.uid);
  if (instance.metadata.annotations?.[ADOPTED] !== undefined) {
    await removeFinalizer(client, Instance, instance, ADDON_FRAMEWORK_FINALIZER);
  }
  await removeFinalizer(client, Instance, instance, FINALIZER);
  return DONE;
}

function ownNode({ cache }: Context, instance: Instance, machine: Machine | undefined): Node | undefined {
  const node = cache.get(Node, { name: instance.metadata.name });
  return node !== undefined && identify(node, instance, machine) === "ours" ? node : undefined;
}

function isPoolProtected({ cache }: Context, instance: Instance): boolean {
  const name = instance.metadata.labels?.[POOL_LABEL];
  const pool = name === undefined ? undefined : cache.get(InstancePool, { name });
  // Shrinking a protected pool is the user's wish; deleting it is what the protection is against.
  return pool?.metadata.annotations?.[PROTECT] === "true" && pool.metadata.deletionTimestamp !== undefined;
}
