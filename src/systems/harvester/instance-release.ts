import { Fault, isoTime, parseTime } from "@slipway/base";
import { type Context, DONE, drainStep, isTrue, type Outcome, removeFinalizer, setCondition } from "@slipway/kube";
import { Node, Secret } from "@slipway/kube/core";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Machine } from "../../machines/machine.ts";
import { accountOf } from "../providers/accounts.ts";
import { isAbandoned, mayBeAbandoned, recordAbandoned, withWayOut } from "./abandon.ts";
import { bootSecretRef } from "./boots.ts";
import { CapiMachine } from "./capi-machine.ts";
import type { Harvester } from "./harvester.ts";
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
import { bought } from "./purchase.ts";
import { drainTimeout, mayStillAppear, planRelease, type ReleaseStep, type ReleaseView } from "./release-plan.ts";
import { tell, tellSome } from "./tell.ts";

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
  instance: Instance,
): Promise<Outcome & { rests?: boolean }> {
  const { patience, addon } = harvester;
  const { uid } = instance.metadata;
  const step = `release ${isAbandoned(instance)} ${instance.metadata.annotations?.[FORCE_DELETE]}`;
  const restMs = patience.restMs(uid, step, context.clock.monotonic());
  if (restMs > 0) return { againAfterMs: restMs, rests: true };
  try {
    const outcome = await giveBack(harvester, context, instance);
    patience.forget(uid);
    return outcome;
  } catch (error) {
    context.signal.throwIfAborted();
    if (!mayBeAbandoned(error)) throw error;
    if (isAbandoned(instance)) return await letGo(harvester, context, instance, error.message);
    patience.refused(uid, step, error, context.clock.monotonic());
    throw withWayOut(error, instance, addon.namespace);
  }
}

/** Lets an Instance go whose machine stays. A Node that is Ready stays too: it is in use, and would register again. */
async function letGo(harvester: Harvester, context: Context, instance: Instance, reason: string): Promise<Outcome> {
  const node = ownNode(context, instance, undefined);
  const nodes = context.cache.list(Node);
  const view = { instance, poolProtected: isPoolProtected(context, instance), node, nodes, now: context.clock.now() };
  const step = planRelease({ ...view, machine: "gone" });
  if (step.do === "hold") {
    await tellRelease(context, instance, step, node, undefined);
    return { againAfterMs: HOLD_POLL_MS };
  }
  await recordAbandoned(harvester, context, instance, reason);
  if (node !== undefined && !readiness(node).ready)
    await context.client.delete(Node, { name: node.metadata.name }, { uid: node.metadata.uid });
  return await finish(harvester, context, instance, nodes);
}

async function giveBack(harvester: Harvester, context: Context, instance: Instance): Promise<Outcome> {
  const fleet = await fleetOf(harvester, context, instance);
  const machine = await machineOf(harvester, fleet, context, instance);
  if (machine === "adopted") return { againAfterMs: 0 };
  const node = ownNode(context, instance, typeof machine === "string" ? undefined : machine);
  const view: ReleaseView = {
    instance,
    poolProtected: isPoolProtected(context, instance),
    node,
    nodes: context.cache.list(Node),
    machine,
    now: context.clock.now(),
  };
  const step = planRelease(view);
  if (step.do === "hold" && step.reason === "Locked" && isAbandoned(instance))
    throw new Fault("Locked", `Instance/${instance.metadata.name}`, step.message);
  const drained = step.do === "drain" ? await drain(context, instance, node!) : undefined;
  const told = await tellRelease(context, instance, step, node, drained);
  if (drained !== undefined) return { againAfterMs: drained === "done" ? 0 : DRAIN_POLL_MS };
  return await carryOut(harvester, context, fleet, told, step, view);
}

/** Undefined: nothing was ever ordered, so no account is needed to let go. */
async function fleetOf(harvester: Harvester, context: Context, { status, spec }: Instance): Promise<Fleet | undefined> {
  const ordered = Boolean(status?.instanceID) || status?.purchase?.state === "Pending";
  return ordered ? await harvester.accounts.fleet(accountOf(spec, context.client, harvester.addon)) : undefined;
}

async function machineOf(
  harvester: Harvester,
  fleet: Fleet | undefined,
  context: Context,
  instance: Instance,
): Promise<ReleaseView["machine"] | "adopted"> {
  if (fleet === undefined) return "none";
  const id = instance.status?.instanceID;
  if (id) {
    const listed = await fleet.sight(id, harvester.pollMs);
    const seen = listed.is === "unlisted" ? await fleet.read(id) : listed;
    return seen.is === "present" ? seen.machine : "gone";
  }
  const found = await fleet.driver.find(instance.metadata.uid, context.signal);
  if (found.length === 0) return mayStillAppear(instance, context.clock.now()) ? "unknown" : "none";
  await bought(harvester, context, fleet, instance, found);
  return "adopted";
}

/** One step of emptying the Node: `done`, or what is still waited for. */
async function drain({ client, signal }: Context, { spec }: Instance, node: Node): Promise<string> {
  const drained = await drainStep(client, node.metadata.name, { signal, ...(spec.drain?.force && { force: true }) });
  return "waitingFor" in drained ? drained.waitingFor : "done";
}

async function carryOut(
  harvester: Harvester,
  context: Context,
  fleet: Fleet | undefined,
  instance: Instance,
  step: ReleaseStep,
  { node, machine, nodes }: ReleaseView,
): Promise<Outcome> {
  const { client, clock, signal } = context;
  switch (step.do) {
    case "hold":
      return { againAfterMs: HOLD_POLL_MS };
    case "look":
      return { againAfterMs: LOOK_POLL_MS };
    case "drain":
      return { againAfterMs: DRAIN_POLL_MS };
    case "release": {
      const { id } = machine as Machine;
      signal.throwIfAborted();
      const force = instance.metadata.annotations?.[FORCE_DELETE] === "true";
      await fleet!.driver.release(id, { force }, signal);
      context.events.normal(instance, "Released", `machine ${id}`);
      await fleet!.read(id);
      await tellSome(context, instance, { release: { ...releaseOf(instance, clock.now()), accepted: true } });
      return { againAfterMs: 0 };
    }
    case "awaitGone":
      return { againAfterMs: harvester.pollMs };
    case "removeNode":
      await client.delete(Node, { name: node!.metadata.name }, { uid: node!.metadata.uid });
      // The Node's own event brings us back; this is for a Node that a foreign finalizer holds.
      return { againAfterMs: harvester.pollMs };
    case "finish":
      return await finish(harvester, context, instance, nodes);
  }
}

/** Removes what is left in the cluster, and last the finalizer. */
async function finish(
  harvester: Harvester,
  { client }: Context,
  instance: Instance,
  nodes: readonly Node[],
): Promise<Outcome> {
  const machine = instance.status?.node?.machine;
  // Harvester deletes it with the Node; one that it missed would keep the Node's name taken.
  const stillNamed = nodes.some((node) => node.metadata.name === instance.metadata.name);
  if (machine !== undefined && !stillNamed) {
    await client.delete(CapiMachine, { namespace: FLEET_LOCAL, name: machine.replace(/^.*\//, "") });
  }
  await client.delete(Secret, bootSecretRef(harvester.addon.namespace, instance.metadata.uid));
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

function releaseOf(
  instance: Instance,
  now: number,
): { reason: string; at: string; drained?: boolean; accepted?: boolean } {
  const { reason, at, drained, accepted } = instance.status?.release ?? {
    reason: instance.status?.failure?.reason ?? "Deleted",
    at: isoTime(now),
  };
  return { reason, at, ...(drained !== undefined && { drained }), ...(accepted !== undefined && { accepted }) };
}

const WAITS: Readonly<Record<Exclude<ReleaseStep["do"], "hold">, string | undefined>> = {
  look: "the answer to an order that may have bought a machine",
  drain: "its Node to be drained",
  release: "the provider to take the machine back",
  awaitGone: "the provider to take the machine back",
  removeNode: "its Node to be removed",
  finish: undefined,
};

async function tellRelease(
  context: Context,
  instance: Instance,
  step: ReleaseStep,
  node: Node | undefined,
  drained: string | undefined,
): Promise<Instance> {
  const now = context.clock.now();
  const release = { ...releaseOf(instance, now), ...(drained === "done" && { drained: true }) };
  const stuck =
    drained !== undefined && drained !== "done" && now - (parseTime(release.at) ?? now) > drainTimeout(instance);
  const waitsFor =
    step.do === "hold" ? step.message : step.do === "drain" && drained !== "done" ? drained : WAITS[step.do];
  const [reason, message] =
    step.do === "hold"
      ? [step.reason, step.message]
      : stuck
        ? [
            "DrainStuck",
            `Node ${node?.metadata.name} is not drained: it waits for ${drained}; end that, or set ${FORCE_DELETE}`,
          ]
        : ["Releasing", waitsFor === undefined ? "nothing of the machine is left" : `waiting for ${waitsFor}`];
  const observedGeneration = instance.metadata.generation ?? 0;
  const released = { type: "Released", status: "False" as const, reason, message, observedGeneration };
  const gone = {
    type: "Ready",
    status: "False" as const,
    reason: "Deleting",
    message: "the Instance is being deleted",
    observedGeneration,
  };
  return await tell(context, instance, {
    ...instance.status,
    status: "releasing",
    release,
    conditions: [...setCondition(setCondition(instance.status?.conditions, released, now), gone, now)],
    ...waitOf(instance, step, waitsFor, now),
  });
}

/** What is waited for, since when, until when. What stalled the release stands until it went through. */
function waitOf(
  { status }: Instance,
  step: ReleaseStep,
  waitingFor: string | undefined,
  now: number,
): Record<"waitingFor" | "waitingSince" | "deadline", string | undefined> {
  if (step.do === "release" && isTrue(status?.conditions, "Stalled") && status?.waitingFor !== undefined)
    return { waitingFor: status.waitingFor, waitingSince: status.waitingSince, deadline: undefined };
  const since = status?.waitingFor === waitingFor ? status?.waitingSince : isoTime(now);
  return {
    waitingFor,
    waitingSince: waitingFor === undefined ? undefined : since,
    deadline: step.do === "drain" && step.deadline !== undefined ? isoTime(step.deadline) : undefined,
  };
}
