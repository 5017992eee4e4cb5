import { asFault, isFault } from "@slipway/base";
import {
  type Cache,
  type Context,
  type Controller,
  controllerOf,
  controllerReference,
  DONE,
  isControlledBy,
  type KubeObject,
  type Outcome,
  ownerReference,
  refOf,
  removeFinalizer,
  StatusRecord,
  selects,
  setCondition,
  source,
  withOwner,
} from "@slipway/kube";
import { controlPlaneOf } from "../../../cluster-api/contract.ts";
import { ANNOTATIONS, FINALIZERS, LABELS } from "../../../cluster-api/names.ts";
import { clusterOf } from "../../../cluster-api/owners.ts";
import { byClusterName } from "../../../cluster-api/shard-owner.ts";
import { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import type { ContractReference } from "../../../kinds/cluster-api/fields.ts";
import { Machine } from "../../../kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../../kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import { inBatches } from "../../in-batches.ts";
import { missingIdentity } from "../identity.ts";
import { clusterIndex, PROVIDER_ACCESS } from "../machine/machine-controller.ts";
import { resolveInFlight } from "../machine-deployment/portions.ts";
import { upToDate } from "../machine-deployment/up-to-date.ts";
import { type Seen, see } from "../mirror.ts";
import { CLUSTER_API } from "../names.ts";
import { claim } from "../ownership.ts";
import type { CoreParts } from "../parts.ts";
import { pauseShown } from "../pause-shown.ts";
import { Waker } from "../wake.ts";
import { machinesToDelete } from "./deletion-order.ts";
import { machineSetStatus, toBeRemediated } from "./machine-set-status.ts";
import { machinePatch, metadataPatch, type Propagated, propagatedBy } from "./machine-template.ts";
import { makeMachine, removeLeftovers, type Templates, templatesOf } from "./make-machine.ts";
import { preflight } from "./preflight.ts";

const PREFLIGHT_MS = 15_000;
/** Until Machines that could not be made are tried again. */
const FAILED_MS = 30_000;
/** Machines that are made, changed or deleted at a time. */
const AT_ONCE = 16;
/** Machines that one pass makes: a thousand on a busy API server would outlast its deadline. Each wakes the set for the next pass. */
const MOST_MADE = 100;
/** What the template has brought to Machines, so that what it no longer has can be taken off. */
const PROPAGATED = "slipway.dev/propagated";

/** Keeps each MachineSet's number of Machines, and what of its template reaches them in place. */
export function machineSetController(parts: CoreParts): Controller {
  const waker = new Waker();
  return {
    name: "machine-set",
    system: CLUSTER_API,
    workers: 50,
    owner: byClusterName(MachineSet),
    left: (ref) => parts.external.forget(waker.by("MachineSet", ref).who),
    sources: [
      source({ resource: MachineSet, indexes: { cluster: clusterIndex } }),
      source({ resource: Machine, keys: (machine, _, cache) => setsOf(cache, machine) }),
      source({ resource: MachineDeployment, keys: (deployment, _, cache) => setsOfDeployment(cache, deployment) }),
      source({
        resource: Cluster,
        when: (cluster, before) => before.spec.paused !== cluster.spec.paused,
        keys: (cluster, _, cache) =>
          cache.byIndex(MachineSet, "cluster", `${cluster.metadata.namespace}/${cluster.metadata.name}`).map(refOf),
      }),
    ],
    access: [
      { resource: MachineSet, verbs: ["get", "patch"] },
      { resource: MachineSet, verbs: ["update"], subresource: "status" },
      { resource: Machine, verbs: ["get", "create", "patch", "delete"] },
      { resource: Machine, verbs: ["update"], subresource: "status" },
      ...PROVIDER_ACCESS,
    ],
    listen: waker.listen(),
    async reconcile(ref, context) {
      const set = context.cache.get(MachineSet, ref);
      const by = waker.by("MachineSet", ref);
      if (set === undefined) {
        parts.external.forget(by.who);
        return DONE;
      }
      const cluster = clusterOf(context.cache, set);
      const isOurs = cluster !== undefined || set.metadata.finalizers?.includes(FINALIZERS.machineSet) === true;
      if (!isOurs || (await parts.foreign.found()) !== undefined) return DONE;
      if (await pauseShown(context, MachineSet, set, cluster)) return DONE;
      if (set.metadata.deletionTimestamp !== undefined) return await end(context, set);
      return await keep(parts, context, { set, cluster: cluster!, by });
    },
  };
}

/** Sets that a Machine belongs to, or as an orphan may belong to. */
function setsOf(cache: Cache, machine: Machine) {
  const owner = controllerOf(machine);
  const { namespace } = machine.metadata;
  if (owner !== undefined) return owner.kind === "MachineSet" ? [{ namespace: namespace!, name: owner.name }] : [];
  return cache
    .list(MachineSet, namespace)
    .filter(({ spec }) => selects(spec.selector, machine.metadata.labels))
    .map(refOf);
}

const setsOfDeployment = (cache: Cache, deployment: MachineDeployment) =>
  cache
    .list(MachineSet, deployment.metadata.namespace)
    .filter((set) => isControlledBy(set, deployment))
    .map(refOf);

/** The Machines of a set: those it controls, and orphans with its labels. */
const machinesOf = (cache: Cache, set: MachineSet): Machine[] =>
  cache
    .byIndex(Machine, "cluster", `${set.metadata.namespace}/${set.spec.clusterName}`)
    .filter(
      (machine) =>
        isControlledBy(machine, set) ||
        (controllerOf(machine) === undefined && selects(set.spec.selector, machine.metadata.labels)),
    );

interface Kept {
  set: MachineSet;
  cluster: Cluster;
  by: { who: string; wake: () => void };
}

async function keep(parts: CoreParts, context: Context, { set: first, cluster, by }: Kept): Promise<Outcome> {
  const { client, cache, clock } = context;
  const set = await identified(context, first, cluster);
  const machines = await adopted(context, set, machinesOf(cache, set));
  await propagate(parts, context, set, machines);
  const plane =
    cluster.spec.controlPlaneRef &&
    (await see(parts.external, cluster.spec.controlPlaneRef, set.metadata.namespace!, by));
  let templates: Templates | undefined;
  let failure: string | undefined;
  try {
    templates = await templatesOf(parts.external, set, by);
    for (const { reference, object } of [
      templates.infrastructure,
      ...(templates.bootstrap ? [templates.bootstrap] : []),
    ])
      await claim(client, (await parts.external.kindOf(reference)).resource, object, {
        owner: ownerReference(Cluster, cluster),
      });
  } catch (error) {
    if (!isFault(error, "NotFound", "Invalid")) throw error;
    failure = asFault(error, "template").advice;
  }
  const obstacles = obstaclesOf(set, plane, templates);
  if (templates !== undefined) failure = await resize(parts, context, { set, machines, templates, obstacles });
  await remediate(context, set, machines, obstacles);
  for (const machine of machines) await tellUpToDate(context, set, machine);
  const record = new StatusRecord(context, MachineSet, set);
  await record.write(machineSetStatus({ set, machines, obstacles, failure, now: clock.now() }));
  if (failure !== undefined) return { againAfterMs: templates === undefined ? parts.external.missingMs : FAILED_MS };
  return obstacles.length > 0 && machines.length < set.spec.replicas
    ? { againAfterMs: PREFLIGHT_MS }
    : nextLook(cache, set, clock.now());
}

/** A time at which Machines become outdated is waited for. */
function nextLook(cache: Cache, set: MachineSet, now: number): Outcome {
  const after = Date.parse(deploymentOf(cache, set)?.spec.rollout?.after ?? "") - now;
  return after > 0 ? { againAfterMs: Math.min(after, 2 ** 31 - 1) } : DONE;
}

function deploymentOf(cache: Cache, set: MachineSet): MachineDeployment | undefined {
  const owner = controllerOf(set);
  if (owner?.kind !== "MachineDeployment") return undefined;
  return cache.get(MachineDeployment, { namespace: set.metadata.namespace!, name: owner.name });
}

/** The set with its finalizer, label and owner. */
async function identified({ client }: Context, set: MachineSet, cluster: Cluster): Promise<MachineSet> {
  const metadata = missingIdentity(set, {
    finalizer: FINALIZERS.machineSet,
    labels: { [LABELS.clusterName]: set.spec.clusterName },
    owner: controllerOf(set) === undefined ? ownerReference(Cluster, cluster) : undefined,
  });
  return metadata === undefined
    ? set
    : await client.patch(MachineSet, refOf(set), { type: "merge", body: { metadata } });
}

/** The Machines, orphans adopted. */
async function adopted({ client }: Context, set: MachineSet, machines: readonly Machine[]): Promise<Machine[]> {
  const owner = controllerReference(MachineSet, set);
  return await inBatches(machines, AT_ONCE, async (machine) => {
    if (isControlledBy(machine, set) || machine.metadata.deletionTimestamp !== undefined) return machine;
    const { resourceVersion, ownerReferences } = machine.metadata;
    const body = { metadata: { resourceVersion, ownerReferences: withOwner(ownerReferences, owner) } };
    return await client.patch(Machine, refOf(machine), { type: "merge", body });
  });
}

/** Brings what of the template changes in place to Machines and to their providers' objects. */
async function propagate(
  parts: CoreParts,
  { client }: Context,
  set: MachineSet,
  machines: readonly Machine[],
): Promise<void> {
  const now = propagatedBy(set);
  const before = readPropagated(set);
  await inBatches(machines, AT_ONCE, async (machine) => {
    if (machine.metadata.deletionTimestamp !== undefined) return;
    const body = machinePatch(machine, set, before);
    if (body !== undefined) await client.patch(Machine, refOf(machine), { type: "merge", body });
    const { infrastructureRef, bootstrap } = machine.spec;
    for (const reference of [infrastructureRef, bootstrap.configRef])
      if (reference !== undefined) await propagateTo(parts, client, reference, { set, before });
  });
  const text = JSON.stringify(now);
  if (set.metadata.annotations?.[PROPAGATED] === text) return;
  await client.patch(MachineSet, refOf(set), {
    type: "merge",
    body: { metadata: { annotations: { [PROPAGATED]: text } } },
  });
}

async function propagateTo(
  { external }: CoreParts,
  client: Context["client"],
  reference: ContractReference,
  { set, before }: { set: MachineSet; before: Propagated | undefined },
): Promise<void> {
  const held = await external.known(reference, set.metadata.namespace!);
  const object: KubeObject | undefined = held?.object;
  if (held === undefined || object === undefined || object.metadata.deletionTimestamp !== undefined) return;
  const metadata = metadataPatch(object, set, before);
  if (metadata === undefined) return;
  try {
    await client.patch(held.kind.resource, refOf(object), { type: "merge", body: { metadata } });
  } catch (error) {
    if (!isFault(error, "NotFound")) throw error;
  }
}

function readPropagated(set: MachineSet): Propagated | undefined {
  try {
    return JSON.parse(set.metadata.annotations?.[PROPAGATED] ?? "") as Propagated;
  } catch {
    return undefined;
  }
}

function obstaclesOf(set: MachineSet, plane: Seen | undefined, templates: Templates | undefined): string[] {
  if (plane?.object === undefined || plane.kind === undefined) return [];
  const { kind, contract } = { kind: plane.reference.kind, contract: plane.kind.contract };
  const templateAnnotations = templates?.bootstrap?.object.metadata.annotations;
  return preflight(set, controlPlaneOf(plane.object, contract), { kind, templateAnnotations });
}

interface Sizing {
  set: MachineSet;
  machines: readonly Machine[];
  templates: Templates;
  obstacles: readonly string[];
}

/** Makes or deletes Machines. Resolves with what making one failed with. */
async function resize(
  parts: CoreParts,
  context: Context,
  { set, machines, templates, obstacles }: Sizing,
): Promise<string | undefined> {
  const { clock } = context;
  const more = set.spec.replicas - machines.length;
  if (more < 0) {
    const going = machinesToDelete(machines, -more, set.spec.deletion?.order ?? "Random", clock.now());
    await inBatches(going, AT_ONCE, (machine) => remove(context, set, machine));
    return undefined;
  }
  const isOff = set.metadata.annotations?.[ANNOTATIONS.disableMachineCreate] !== undefined;
  if (more === 0 || obstacles.length > 0 || isOff) return undefined;
  await removeLeftovers(parts.external, context, set, templates);
  try {
    await inBatches(Array.from({ length: Math.min(more, MOST_MADE) }), AT_ONCE, async () => {
      const name = await makeMachine(context, set, templates);
      context.events.normal(set, "SuccessfulCreate", `made Machine ${name}`);
    });
    return undefined;
  } catch (error) {
    const fault = asFault(error, `MachineSet/${set.metadata.name}`);
    context.log.warn({ set: set.metadata.name, error: fault }, "a Machine could not be made");
    context.events.warning(set, "FailedCreate", fault.advice);
    return fault.advice;
  }
}

async function remove({ client, events }: Context, set: MachineSet, machine: Machine): Promise<void> {
  if (machine.metadata.deletionTimestamp !== undefined) return;
  try {
    await client.delete(Machine, refOf(machine), { uid: machine.metadata.uid });
    events.normal(set, "SuccessfulDelete", `deleted Machine ${machine.metadata.name}`);
  } catch (error) {
    if (!isFault(error, "NotFound", "Conflict")) throw error;
  }
}

/** Deletes Machines that a MachineHealthCheck has found unhealthy: no more at a time than allowed, those that a user asks for first, then the youngest. */
async function remediate(
  context: Context,
  set: MachineSet,
  machines: readonly Machine[],
  obstacles: readonly string[],
): Promise<void> {
  const deployment = deploymentOf(context.cache, set);
  const revision = (of: KubeObject | undefined): string | undefined => of?.metadata.annotations?.[ANNOTATIONS.revision];
  // Machines of former revisions go by the roll-out anyway.
  if (obstacles.length > 0 || (deployment !== undefined && revision(deployment) !== revision(set))) return;
  const sick = toBeRemediated(machines).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const allowed = resolveInFlight(deployment?.spec.remediation?.maxInFlight, set.spec.replicas);
  const inFlight = toBeRemediated(machines).length - sick.length;
  const isAsked = ({ metadata }: Machine): number =>
    metadata.annotations?.[ANNOTATIONS.remediateMachine] === undefined ? 1 : 0;
  const age = ({ metadata }: Machine): number => -Date.parse(metadata.creationTimestamp);
  const going = sick
    .toSorted((a, b) => isAsked(a) - isAsked(b) || age(a) - age(b))
    .slice(0, Math.max(0, allowed - inFlight));
  for (const machine of going) await remove(context, set, machine);
}

/** Writes on a Machine of a deployment whether it is as the deployment wants it. The first time it is part of the Machine's own first status. */
async function tellUpToDate(context: Context, set: MachineSet, machine: Machine): Promise<void> {
  const deployment = deploymentOf(context.cache, set);
  if (deployment === undefined || machine.metadata.deletionTimestamp !== undefined) return;
  const held = context.cache.get(Machine, refOf(machine));
  if (held?.status?.observedGeneration === undefined) return;
  const now = context.clock.now();
  const update = upToDate(held, set, deployment, now);
  const conditions = setCondition(held.status?.conditions, update, now);
  if (conditions === held.status?.conditions) return;
  try {
    await new StatusRecord(context, Machine, held).write({ conditions });
  } catch (error) {
    // Its own controller wrote meanwhile: that event brings us here again.
    if (!isFault(error, "Conflict", "NotFound")) throw error;
  }
}

/** Deletes the Machines, then lets the set go. */
async function end(context: Context, set: MachineSet): Promise<Outcome> {
  const { cache, client, clock } = context;
  if (!set.metadata.finalizers?.includes(FINALIZERS.machineSet)) return DONE;
  const machines = machinesOf(cache, set).filter((machine) => isControlledBy(machine, set));
  if (machines.length === 0) {
    await removeFinalizer(client, MachineSet, set, FINALIZERS.machineSet);
    return DONE;
  }
  await inBatches(machines, AT_ONCE, (machine) => remove(context, set, machine));
  await new StatusRecord(context, MachineSet, set).write(
    machineSetStatus({ set, machines, obstacles: [], failure: undefined, now: clock.now() }),
  );
  return DONE;
}
