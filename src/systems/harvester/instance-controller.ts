import { isoTime } from "../../base/clock.ts";
import { asFault, isFault } from "../../base/fault.ts";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { isTrue, setCondition } from "../../kube/conditions.ts";
import { type Context, type Controller, DONE, type Outcome, source } from "../../kube/controller.ts";
import { Node, Pod, Secret } from "../../kube/core.ts";
import { addFinalizer } from "../../kube/finalizers.ts";
import type { Condition } from "../../kube/object.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Step } from "../../machines/lifecycle.ts";
import type { Machine } from "../../machines/machine.ts";
import { accountOf } from "../providers/accounts.ts";
import { adopt, isHeld, mark, needsAdoption } from "./adoption.ts";
import { claimOf } from "./claim.ts";
import { FleetMachine } from "./fleet-machine.ts";
import type { Harvester } from "./harvester.ts";
import { planInstance } from "./instance-plan.ts";
import { releaseInstance } from "./instance-release.ts";
import { journalOf } from "./journal.ts";
import { FINALIZER, FLEET_NAMESPACE, POOL_LABEL, SYSTEM } from "./names.ts";
import { identify } from "./node-identity.ts";
import { driftOf, instanceSpecOf } from "./pool-template.ts";
import { look, order } from "./purchase.ts";
import { isMissing, SITE_ACCESS } from "./site.ts";
import { tell, tellSome } from "./tell.ts";

const STALLED = "Stalled";
const MISSING_RETRY_MS = 10_000;

/** Brings one machine to life for each Instance, keeps its status true, and gives the machine back when the Instance goes. */
export function instanceController(harvester: Harvester): Controller {
  return {
    name: "instance",
    system: SYSTEM,
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
      { resource: FleetMachine, verbs: ["delete"], namespace: FLEET_NAMESPACE },
      ...SITE_ACCESS,
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
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    const outcome = await work();
    await recovered(context, instance);
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

/** False: the object is gone. `Stalled`: what stands in the way of the next step. A condition of its own, so that telling it does not undo what is told of the machine. */
async function tellStalled(
  context: Context,
  { metadata }: Instance,
  told: Pick<Condition, "status" | "reason" | "message">,
): Promise<boolean> {
  const latest = await context.client.find(Instance, { name: metadata.name });
  if (latest?.metadata.uid !== metadata.uid) return false;
  const observedGeneration = latest.metadata.generation ?? 0;
  const conditions = setCondition(
    latest.status?.conditions,
    { type: STALLED, ...told, observedGeneration },
    context.clock.now(),
  );
  await tellSome(context, latest, { conditions: [...conditions] });
  return true;
}

async function keep(harvester: Harvester, context: Context, instance: Instance): Promise<Outcome> {
  if (instance.status?.failure !== undefined) return await remediate(context, instance);
  const fleet = await harvester.accounts.fleet(accountOf(instance.spec, context.client, harvester.addon));
  const journal = journalOf(instance.status);
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
  return await carryOut(harvester, context, fleet, told, plan.step, known);
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
  switch (step.do) {
    case "wait":
      if (instance.status?.node?.joined && instance.status.boot !== undefined)
        await harvester.boots.discard(context, fleet, instance);
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
 * Installs anew: the second pass, or a boot that nobody answered. Prepared and written down first, then sent; sent again after a
 * crash in between, which harms nobody: nothing runs there yet.
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
  await tellSome(context, written, { boot: { ...written.status!.boot!, sent: true } });
  return { againAfterMs: harvester.pollMs };
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
