import { asFault, type Fault, isFault } from "@slipway/base";
import {
  addFinalizer,
  type Context,
  type Controller,
  DONE,
  isStalled,
  type Outcome,
  recovered,
  source,
  stalled,
} from "@slipway/kube";
import { Node, Pod } from "@slipway/kube/core";
import { bootStoreAccess } from "../../bootstrap/boot-store.ts";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { awaitsKnownCapacity, withoutOldRefusal } from "../../machines/capacity.ts";
import { type Tried, tryStep } from "../../machines/executor.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Journal } from "../../machines/lifecycle.ts";
import type { Machine, Order, Placement } from "../../machines/machine.ts";
import { TRIAL_BOOT } from "../../machines/purchase.ts";
import { abandonedAccess } from "../providers/abandoned.ts";
import { accountOf } from "../providers/accounts.ts";
import { adopt, isHeld, mark, needsAdoption } from "./adoption.ts";
import { CapiMachine } from "./capi-machine.ts";
import { claimOf, orderOf, placementsOf } from "./claim.ts";
import { type InstanceRecord, jobOf, recordOf } from "./claimant.ts";
import type { Harvester } from "./harvester.ts";
import { type InstancePlan, planInstance } from "./instance-plan.ts";
import { releaseInstance } from "./instance-release.ts";
import { isMissing, JOIN_FACTS_ACCESS } from "./join-facts.ts";
import { journalOf } from "./journal.ts";
import { FINALIZER, FLEET_LOCAL, HARVESTER, POOL_LABEL, poolOwner } from "./names.ts";
import { identify, isNews, readiness } from "./node-identity.ts";
import { driftOf, instanceSpecOf } from "./pool-template.ts";

const MISSING_RETRY_MS = 10_000;

/** Brings one machine to life for each Instance, keeps its status true, and gives the machine back when the Instance goes. */
export function instanceController(harvester: Harvester): Controller {
  return {
    name: "instance",
    system: HARVESTER,
    workers: 32,
    owner: (ref, cache) => {
      const pool = cache.get(Instance, ref)?.metadata.labels?.[POOL_LABEL];
      return pool === undefined ? `instance/${ref.name}` : poolOwner(pool);
    },
    sources: [
      source({ resource: Instance }),
      source({ resource: Node, when: isNews, keys: (node) => [{ name: node.metadata.name }] }),
      source({
        resource: InstancePool,
        when: (pool, before) =>
          pool.metadata.generation !== before.metadata.generation || annotationsDiffer(pool, before),
        keys: (pool, _, cache) =>
          cache.byIndex(Instance, "pool", pool.metadata.name).map(({ metadata }) => ({ name: metadata.name })),
      }),
    ],
    access: [
      { resource: Instance, verbs: ["get", "patch", "delete"] },
      { resource: Instance, verbs: ["update", "patch"], subresource: "status" },
      { resource: Node, verbs: ["get", "patch", "delete"] },
      { resource: Pod, verbs: ["list"] },
      { resource: Pod, verbs: ["create"], subresource: "eviction" },
      { resource: MachineProvider, verbs: ["get"] },
      ...bootStoreAccess(harvester.addon.namespace),
      { resource: CapiMachine, verbs: ["delete"], namespace: FLEET_LOCAL },
      ...abandonedAccess(harvester.addon.namespace),
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
      const record = recordOf(context, instance);
      if (instance.metadata.deletionTimestamp !== undefined) {
        if (!isHeld(instance)) return DONE;
        return await guarded(harvester, context, record, () => releaseInstance(harvester, context, record));
      }
      if (instance.metadata.finalizers?.includes(FINALIZER) === true)
        return await guarded(harvester, context, record, () => keep(harvester, context, record));
      await addFinalizer(context.client, Instance, instance, FINALIZER);
      return DONE;
    },
  };
}

/** Reports a fault on the object before the queue backs off, and takes up rotated credentials. */
async function guarded(
  harvester: Harvester,
  context: Context,
  record: InstanceRecord,
  work: () => Promise<Tried>,
): Promise<Outcome> {
  const { metadata, spec } = record.object;
  try {
    const outcome = await work();
    if (outcome.rests !== true && isStalled(record.object.status)) await reportRecovered(context, record);
    return outcome;
  } catch (error) {
    if (context.signal.aborted || isFault(error, "Conflict", "NotLeader", "Undeclared")) throw error;
    const fault = asFault(error, `Instance/${metadata.name}`);
    if (fault.code === "BadCredentials")
      harvester.accounts.refused(accountOf(spec, context.client, harvester.addon).name);
    // Decided on an object that is gone by now: whatever failed for that reason is no trouble.
    if (!(await reportStalled(context, record, fault))) return DONE;
    if (isMissing(fault)) return { againAfterMs: MISSING_RETRY_MS };
    throw error;
  }
}

/** The obstacle is out of the way: reported once, when the work went through. */
async function reportRecovered({ clock }: Context, record: InstanceRecord): Promise<void> {
  if (!(await record.reread())) return;
  const { metadata, status } = record.object;
  await record.write(recovered(status, { now: clock.now(), observedGeneration: metadata.generation ?? 0 }));
}

/** False: the object is gone. */
async function reportStalled({ clock }: Context, record: InstanceRecord, fault: Fault): Promise<boolean> {
  if (!(await record.reread())) return false;
  const { metadata, status } = record.object;
  const word = metadata.deletionTimestamp !== undefined ? "releasing" : status?.status || "stalled";
  await record.write({
    ...stalled(status, fault, { now: clock.now(), observedGeneration: metadata.generation ?? 0 }),
    status: word === "ordering" ? "stalled" : word,
  });
  return true;
}

async function keep(harvester: Harvester, context: Context, record: InstanceRecord): Promise<Tried> {
  const instance = record.object;
  if (instance.status?.failure !== undefined) return await remediate(context, instance);
  const fleet = await harvester.accounts.fleet(accountOf(instance.spec, context.client, harvester.addon));
  const { driver } = fleet;
  const { pollMs } = harvester;
  const journal = await withoutOldRefusal({
    ...{ journal: journalOfSpec(instance), driver, pollMs, now: context.clock.now() },
    orders: () => placementsOf(instance.spec).map((placement) => trialOf(instance, placement)),
  });
  const machine =
    journal.machineId === undefined
      ? undefined
      : await fleet.look(journal.machineId, journal.joined ? ageOfJoined(fleet, context, instance, pollMs) : pollMs);
  const known = machine === "gone" ? undefined : machine;
  if (known !== undefined) await mark(context, fleet, instance, known);
  const plan = planFor(harvester, context, { instance, journal, fleet, machine });
  const drift = driftFromPool(context, instance);
  record.note({ ...plan.status, drift: drift.length > 0 ? drift : undefined });
  const describe = (bought: Machine) => {
    const instance = record.object;
    return planFor(harvester, context, { instance, journal: journalOf(instance.status), fleet, machine: bought })
      .status;
  };
  const outcome = await tryStep(jobOf(harvester, context, { record, fleet, describe }), {
    step: plan.step,
    machine: known,
    version: instance.metadata.generation,
    patience: harvester.patience,
  });
  if (plan.step.do === "giveUp") return await remediate(context, record.object);
  if (!awaitsKnownCapacity(journal, driver) || "done" in outcome) return outcome;
  return { ...outcome, againAfterMs: Math.min(outcome.againAfterMs, pollMs) };
}

/** How old an answer about a machine that has joined may be: one whose Node is not Ready is no machine at rest. */
function ageOfJoined(fleet: Fleet, { cache }: Context, { metadata }: Instance, pollMs: number): number {
  const node = cache.get(Node, { name: metadata.name });
  return node !== undefined && readiness(node).ready ? fleet.restMs(2 * pollMs) : 2 * pollMs;
}

/** An order as it would be, before there is anything to boot. */
function trialOf(instance: Instance, placement: Placement): Order {
  return orderOf(instance, { placement, boot: TRIAL_BOOT, onDemand: false });
}

/** What follows for a living Instance from what is known of its machine now. */
function planFor(
  { pollMs }: Harvester,
  { cache, clock }: Context,
  {
    instance,
    journal,
    fleet,
    machine,
  }: {
    instance: Instance;
    journal: Journal;
    fleet: Fleet;
    machine: Machine | "gone" | undefined;
  },
): InstancePlan {
  const claim = claimOf(instance, pollMs);
  const known = machine === "gone" ? undefined : machine;
  const node = cache.get(Node, { name: instance.metadata.name });
  const { network } = claim;
  return planInstance({
    instance,
    claim,
    journal,
    machine,
    settled: known === undefined || network === undefined || fleet.driver.networkSettled(known, network),
    node: node && { node, identity: identify(node, instance, known) },
    now: clock.now(),
  });
}

/** A refusal for want of capacity, or of a wrong order, was of the specification as it was: the corrected one is ordered at once. */
function journalOfSpec({ metadata, status }: Instance): Journal {
  const journal = journalOf(status);
  const corrected = status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation;
  return corrected && journal.purchase?.state === "Refused" ? { ...journal, purchase: undefined } : journal;
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
