import { asFault, isFault, isoTime } from "@slipway/base";
import {
  addFinalizer,
  type Condition,
  type Context,
  type Controller,
  DONE,
  isTrue,
  type Outcome,
  setCondition,
  source,
} from "@slipway/kube";
import { ConfigMap, Node, Pod, Secret } from "@slipway/kube/core";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Journal, Step } from "../../machines/lifecycle.ts";
import type { Machine } from "../../machines/machine.ts";
import { accountOf } from "../providers/accounts.ts";
import { adopt, isHeld, mark, needsAdoption } from "./adoption.ts";
import { CapiMachine } from "./capi-machine.ts";
import { claimOf } from "./claim.ts";
import type { Harvester } from "./harvester.ts";
import { planInstance } from "./instance-plan.ts";
import { releaseInstance } from "./instance-release.ts";
import { isMissing, JOIN_FACTS_ACCESS } from "./join-facts.ts";
import { journalOf } from "./journal.ts";
import { ABANDONED_MACHINES, FINALIZER, FLEET_LOCAL, HARVESTER, POOL_LABEL } from "./names.ts";
import { identify } from "./node-identity.ts";
import { driftOf, instanceSpecOf } from "./pool-template.ts";
import { look, order } from "./purchase.ts";
import { tell, tellSome } from "./tell.ts";

const STALLED = "Stalled";
const MISSING_RETRY_MS = 10_000;
const SENT_TRIES = 5;

/** `rests`: the step was not tried, so nothing is known of what stalled it. */
type Worked = Outcome & { rests?: boolean };

/** Brings one machine to life for each Instance, keeps its status true, and gives the machine back when the Instance goes. */
export function instanceController(harvester: Harvester): Controller {
  return {
    name: "instance",
    system: HARVESTER,
    workers: 32,
    sources: [
      source({ resource: Instance }),
      source({ resource: Node, keys: (node) => [{ name: node.metadata.name }] }),
      source({
        resource: InstancePool,
        when: (pool, before) =>
          before === undefined ||
          pool.metadata.generation !== before.metadata.generation ||
          annotationsDiffer(pool, before),
        keys: (pool, _, cache) =>
          cache.byIndex(Instance, "pool", pool.metadata.name).map(({ metadata }) => ({ name: metadata.name })),
      }),
    ],
    access: [
      { resource: Instance, verbs: ["get", "patch", "delete"] },
      { resource: Instance, verbs: ["update"], subresource: "status" },
      { resource: Node, verbs: ["get", "patch", "delete"] },
      { resource: Pod, verbs: ["list"] },
      { resource: Pod, verbs: ["create"], subresource: "eviction" },
      { resource: MachineProvider, verbs: ["get"] },
      { resource: Secret, verbs: ["get", "create", "patch", "delete"], namespace: harvester.addon.namespace },
      { resource: CapiMachine, verbs: ["delete"], namespace: FLEET_LOCAL },
      { resource: ConfigMap, verbs: ["create"], namespace: harvester.addon.namespace },
      { resource: ConfigMap, verbs: ["patch"], namespace: harvester.addon.namespace, names: [ABANDONED_MACHINES] },
      ...JOIN_FACTS_ACCESS,
    ],
    async reconcile(ref, context) {
      const instance = context.cache.get(Instance, ref);
      if (instance === undefined) return DONE;
      // Whatever becomes of it: its secrets leave the object first, and the change brings us back here.
      if (needsAdoption(instance)) {
        await adopt(harvester, context, instance);
        return DONE;
      }
      if (instance.metadata.deletionTimestamp !== undefined) {
        return isHeld(instance)
          ? await guarded(harvester, context, instance, () => releaseInstance(harvester, context, instance))
          : DONE;
      }
      if (instance.metadata.finalizers?.includes(FINALIZER) === true)
        return await guarded(harvester, context, instance, () => keep(harvester, context, instance));
      await addFinalizer(context.client, Instance, instance, FINALIZER);
      return DONE;
    },
  };
}

/** Tells a fault on the object before the queue backs off, and takes up rotated credentials. */
async function guarded(
  harvester: Harvester,
  context: Context,
  instance: Instance,
  work: () => Promise<Worked>,
): Promise<Outcome> {
  try {
    const outcome = await work();
    if (outcome.rests !== true) await recovered(context, instance);
    return outcome;
  } catch (error) {
    if (context.signal.aborted || isFault(error, "Conflict", "NotLeader", "Undeclared")) throw error;
    const fault = asFault(error, `Instance/${instance.metadata.name}`);
    if (fault.code === "BadCredentials")
      harvester.accounts.refused(accountOf(instance.spec, context.client, harvester.addon).name);
    const there = await tellStalled(context, instance, { status: "True", reason: fault.code, message: fault.advice });
    // Decided on an object that is gone by now: whatever failed for that reason is no trouble.
    if (!there) return DONE;
    if (isMissing(fault)) return { againAfterMs: MISSING_RETRY_MS };
    throw error;
  }
}

/** The obstacle is out of the way: said once, when the work went through. */
async function recovered(context: Context, instance: Instance): Promise<void> {
  if (!isTrue(instance.status?.conditions, STALLED)) return;
  await tellStalled(context, instance, { status: "False", reason: "Recovered", message: "" });
}

/** False: the object is gone. `Stalled`: what prevents the next step. A separate condition, so that it never overwrites what is reported of the machine. */
async function tellStalled(
  context: Context,
  { metadata }: Instance,
  told: Pick<Condition, "status" | "reason" | "message">,
): Promise<boolean> {
  const latest = await context.client.find(Instance, { name: metadata.name });
  if (latest?.metadata.uid !== metadata.uid) return false;
  const observedGeneration = latest.metadata.generation ?? 0;
  const now = context.clock.now();
  const { status, conditions: held, waitingFor, waitingSince } = latest.status ?? {};
  const conditions = [...setCondition(held, { type: STALLED, ...told, observedGeneration }, now)];
  const stalled = told.status === "True";
  const word = metadata.deletionTimestamp !== undefined ? "releasing" : status || "stalled";
  await tellSome(
    context,
    latest,
    stalled
      ? {
          conditions,
          status: word === "ordering" ? "stalled" : word,
          waitingFor: told.message,
          waitingSince: waitingFor === told.message ? waitingSince : isoTime(now),
          deadline: undefined,
        }
      : { conditions, waitingFor: undefined, waitingSince: undefined },
  );
  return true;
}

async function keep(harvester: Harvester, context: Context, instance: Instance): Promise<Worked> {
  if (instance.status?.failure !== undefined) return await remediate(context, instance);
  const fleet = await harvester.accounts.fleet(accountOf(instance.spec, context.client, harvester.addon));
  const journal = journalOfSpec(instance);
  const maxAge = journal.joined ? 2 * harvester.pollMs : harvester.pollMs;
  const machine = journal.machineId === undefined ? undefined : await sight(fleet, journal.machineId, maxAge);
  const claim = claimOf(instance, harvester.pollMs);
  const node = context.cache.get(Node, { name: instance.metadata.name });
  const known = machine === "gone" ? undefined : machine;
  if (known !== undefined) await mark(context, fleet, instance, known);
  const settled =
    known === undefined || claim.network === undefined || fleet.driver.networkSettled(known, claim.network);
  const plan = planInstance({
    instance,
    claim,
    journal,
    machine,
    settled,
    node: node && { node, identity: identify(node, instance, known) },
    now: context.clock.now(),
  });
  const drift = driftFromPool(context, instance);
  const { drift: _, ...status } = plan.status;
  const told = await tell(context, instance, { ...status, ...(drift.length > 0 && { drift }) });
  return await tried(harvester, context, told, plan.step, () =>
    carryOut(harvester, context, fleet, told, plan.step, known),
  );
}

/** A refusal for want of capacity, or of a wrong order, was of the specification as it was: the corrected one is ordered at once. */
function journalOfSpec({ metadata, status }: Instance): Journal {
  const journal = journalOf(status);
  const corrected = status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation;
  return corrected && journal.purchase?.state === "Refused" ? { ...journal, purchase: undefined } : journal;
}

/** Carries a step out, unless the provider has just refused it. */
async function tried(
  { patience }: Harvester,
  { clock }: Context,
  { metadata, status }: Instance,
  step: Step,
  work: () => Promise<Outcome>,
): Promise<Worked> {
  // A boot that may have been sent is waited for: what stalled it is not over.
  if (step.do === "wait") return { ...(await work()), rests: status?.boot?.sent === false };
  const what = JSON.stringify([step, metadata.generation]);
  const restMs = patience.restMs(metadata.uid, what, clock.monotonic());
  if (restMs > 0) return { againAfterMs: restMs, rests: true };
  try {
    const outcome = await work();
    patience.forget(metadata.uid);
    return outcome;
  } catch (error) {
    if (isFault(error) && !isFault(error, "Conflict")) patience.refused(metadata.uid, what, error, clock.monotonic());
    throw error;
  }
}

/** The machine, or the proof that it is gone: what a list does not show is asked for by its id before it is believed. */
async function sight(fleet: Fleet, id: string, maxAgeMs: number): Promise<Machine | "gone"> {
  const listed = await fleet.sight(id, maxAgeMs);
  const seen = listed.is === "unlisted" ? await fleet.read(id) : listed;
  return seen.is === "present" ? seen.machine : "gone";
}

async function carryOut(
  harvester: Harvester,
  context: Context,
  fleet: Fleet,
  instance: Instance,
  step: Step,
  machine: Machine | undefined,
): Promise<Outcome> {
  const joined = instance.status?.node?.joined && instance.status.boot !== undefined;
  if (joined && (step.do === "wait" || step.do === "setNetwork")) {
    await harvester.boots.discard(context, fleet, instance);
    return { againAfterMs: 0 };
  }
  switch (step.do) {
    case "wait":
      return { againAfterMs: step.recheckMs };
    case "order":
      return await order(harvester, context, fleet, instance, step);
    case "look":
      return await look(harvester, context, fleet, instance);
    case "setNetwork":
      fleet.note(await fleet.driver.setNetwork(machine!, claimOf(instance).network!, context.signal));
      return { againAfterMs: 1000 };
    case "reinstall":
      return await reinstall(harvester, context, fleet, instance, machine!, step.pass);
    case "powerOn":
      await fleet.driver.power(machine!.id, "on", context.signal);
      await fleet.read(machine!.id);
      return { againAfterMs: harvester.pollMs };
    case "giveUp": {
      const failure = { reason: step.reason, message: step.message, at: isoTime(context.clock.now()) };
      const told = await tellSome(context, instance, { failure, status: "failed" });
      return await remediate(context, told);
    }
  }
}

/**
 * Installs anew: the second pass, or a boot without an answer. Prepared and written down first, then sent. Without a clear answer it
 * is sent again after a minute, unless the machine has asked for its script by then.
 */
async function reinstall(
  harvester: Harvester,
  context: Context,
  fleet: Fleet,
  instance: Instance,
  machine: Machine,
  pass: 1 | 2,
): Promise<Outcome> {
  const boot = await harvester.boots.prepare(context, instance, { pass, machine });
  const at = isoTime(context.clock.now());
  const status = pass === 2 ? "reinstalling" : (instance.status?.status ?? "");
  const written = await tellSome(context, instance, { boot: { id: boot.id, pass, at, sent: false }, status });
  await harvester.boots.publish(context, instance, boot);
  context.signal.throwIfAborted();
  await fleet.driver.reinstall(machine.id, boot, context.signal);
  await fleet.read(machine.id);
  await tellSent(context, written);
  return { againAfterMs: harvester.pollMs };
}

/** The provider took the boot: that must not be lost because the machine reports on the same object meanwhile. */
async function tellSent(context: Context, written: Instance): Promise<void> {
  const boot = written.status!.boot!;
  for (let latest: Instance | undefined = written, tries = 1; latest?.status?.boot?.id === boot.id; tries++) {
    try {
      await tellSome(context, latest, { boot: { ...boot, sent: true } });
      return;
    } catch (error) {
      if (!isFault(error, "Conflict") || tries === SENT_TRIES) throw error;
      latest = await context.client.find(Instance, { name: written.metadata.name });
    }
  }
}

/** A lost machine of a pool makes room for another; one made by hand stays and says why. */
async function remediate({ client, events }: Context, instance: Instance): Promise<Outcome> {
  const pooled = instance.metadata.labels?.[POOL_LABEL] !== undefined;
  if (!pooled || instance.spec.remediation === "Report") return DONE;
  events.normal(instance, "Replacing", `${instance.status?.failure?.message}: the pool replaces it`);
  await client.delete(Instance, { name: instance.metadata.name }, { uid: instance.metadata.uid });
  return DONE;
}

function driftFromPool({ cache }: Context, instance: Instance): string[] {
  const name = instance.metadata.labels?.[POOL_LABEL];
  const pool = name === undefined ? undefined : cache.get(InstancePool, { name });
  return pool === undefined ? [] : driftOf(instanceSpecOf(pool), instance);
}

function annotationsDiffer(a: InstancePool, b: InstancePool): boolean {
  return JSON.stringify(a.metadata.annotations) !== JSON.stringify(b.metadata.annotations);
}
