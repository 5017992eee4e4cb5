import { isFault, LOWER_CASE, text } from "@slipway/base";
import {
  type Cache,
  type Context,
  type Controller,
  controllerOf,
  DONE,
  isControlledBy,
  type Outcome,
  ownerReference,
  type Ref,
  refOf,
  removeFinalizer,
  StatusRecord,
  source,
} from "@slipway/kube";
import { ANNOTATIONS, FINALIZERS, LABELS } from "../../../cluster-api/names.ts";
import { clusterOf } from "../../../cluster-api/owners.ts";
import { byClusterName } from "../../../cluster-api/shard-owner.ts";
import { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../../kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../../kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import { missingIdentity } from "../identity.ts";
import { clusterIndex } from "../machine/machine-controller.ts";
import { CLUSTER_API } from "../names.ts";
import type { CoreParts } from "../parts.ts";
import { pauseShown } from "../pause-shown.ts";
import { deploymentStatus } from "./machine-deployment-status.ts";
import { paceOf } from "./portions.ts";
import { onDelete, rollingUpdate, type SetState, type Sizes, whilePaused } from "./rollout-plan.ts";
import { byAge, currentSet, newSet, nextRevision, setPatch } from "./sets.ts";

const UNIQUE_LENGTH = 5;

/** Has each MachineDeployment's Machines made by sets, and replaces them step by step when its template changes. */
export function machineDeploymentController(parts: CoreParts): Controller {
  return {
    name: "machine-deployment",
    system: CLUSTER_API,
    workers: 50,
    owner: byClusterName(MachineDeployment),
    sources: [
      source({ resource: MachineDeployment, indexes: { cluster: clusterIndex } }),
      source({ resource: MachineSet, keys: (set) => ownerOf(set) }),
      source({
        resource: Machine,
        keys: ({ metadata }) => {
          const name = metadata.labels?.[LABELS.deploymentName];
          return name === undefined ? [] : [{ namespace: metadata.namespace!, name }];
        },
      }),
      source({
        resource: Cluster,
        when: (cluster, before) => before.spec.paused !== cluster.spec.paused,
        keys: (cluster, _, cache) =>
          cache
            .byIndex(MachineDeployment, "cluster", `${cluster.metadata.namespace}/${cluster.metadata.name}`)
            .map(refOf),
      }),
    ],
    access: [
      { resource: MachineDeployment, verbs: ["get", "patch"] },
      { resource: MachineDeployment, verbs: ["update"], subresource: "status" },
      { resource: MachineSet, verbs: ["get", "create", "patch", "delete"] },
    ],
    async reconcile(ref, context) {
      const deployment = context.cache.get(MachineDeployment, ref);
      if (deployment === undefined) return DONE;
      const cluster = clusterOf(context.cache, deployment);
      const isOurs =
        cluster !== undefined || deployment.metadata.finalizers?.includes(FINALIZERS.machineDeployment) === true;
      if (!isOurs || (await parts.foreign.found()) !== undefined) return DONE;
      if (await pauseShown(context, MachineDeployment, deployment, cluster)) return DONE;
      if (deployment.metadata.deletionTimestamp !== undefined) return await end(context, deployment);
      const known = await identified(context, deployment, cluster!);
      // What a user leaves open is decided and written down first.
      return known === deployment ? await keep(context, deployment) : DONE;
    },
  };
}

function ownerOf(set: MachineSet): Ref[] {
  const owner = controllerOf(set);
  return owner?.kind === "MachineDeployment" ? [{ namespace: set.metadata.namespace!, name: owner.name }] : [];
}

const setsOf = (cache: Cache, deployment: MachineDeployment): MachineSet[] =>
  cache
    .list(MachineSet, deployment.metadata.namespace)
    .filter((set) => isControlledBy(set, deployment))
    .toSorted(byAge);

const machinesOf = (cache: Cache, { metadata, spec }: MachineDeployment): Machine[] =>
  cache
    .byIndex(Machine, "cluster", `${metadata.namespace}/${spec.clusterName}`)
    .filter((machine) => machine.metadata.labels?.[LABELS.deploymentName] === metadata.name);

/** The deployment with its finalizer, owner, label, and the selector and labels that upstream's webhook would have written. */
async function identified(
  { client }: Context,
  deployment: MachineDeployment,
  cluster: Cluster,
): Promise<MachineDeployment> {
  const metadata = missingIdentity(deployment, {
    finalizer: FINALIZERS.machineDeployment,
    labels: { [LABELS.clusterName]: deployment.spec.clusterName },
    owner: ownerReference(Cluster, cluster),
  });
  const spec = missingSpec(deployment);
  if (metadata === undefined && spec === undefined) return deployment;
  const { resourceVersion } = deployment.metadata;
  const body = { metadata: { resourceVersion, ...metadata }, ...(spec && { spec }) };
  return await client.patch(MachineDeployment, refOf(deployment), { type: "merge", body });
}

function missingSpec({ metadata, spec }: MachineDeployment): object | undefined {
  const { selector, template } = spec;
  const isEmpty =
    Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;
  const wanted = {
    ...(isEmpty && { [LABELS.deploymentName]: metadata.name }),
    [LABELS.clusterName]: spec.clusterName,
  };
  const lacking = (held: Readonly<Record<string, string>> = {}) =>
    Object.entries(wanted).some(([key, value]) => held[key] !== value);
  const body = {
    ...(lacking(selector.matchLabels) && { selector: { matchLabels: wanted } }),
    ...(lacking(template.metadata?.labels) && { template: { metadata: { labels: wanted } } }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

async function keep(context: Context, deployment: MachineDeployment): Promise<Outcome> {
  const { cache, clock, client, events } = context;
  const now = clock.now();
  const sets = setsOf(cache, deployment);
  const current = currentSet(deployment, sets, now);
  const revision = nextRevision(current, sets);
  const unique = text(context.random, UNIQUE_LENGTH, LOWER_CASE);
  const sizes = sizesOf(deployment, sets, current, unique);
  if (current === undefined && deployment.spec.paused !== true) {
    const replicas = sizes.get(unique) ?? 0;
    const { metadata } = await client.create(MachineSet, newSet(deployment, { unique, replicas, revision }) as never);
    events.normal(deployment, "SuccessfulCreate", `made MachineSet ${metadata.name} of ${replicas}`);
  }
  for (const set of sets) await change(context, deployment, set, { isCurrent: set === current, revision, sizes });
  if (deployment.metadata.annotations?.[ANNOTATIONS.revision] !== String(revision) && deployment.spec.paused !== true) {
    const annotations = { [ANNOTATIONS.revision]: String(revision) };
    await client.patch(MachineDeployment, refOf(deployment), { type: "merge", body: { metadata: { annotations } } });
    return DONE;
  }
  if (current !== undefined) await cleanUp(context, deployment, sets, current);
  const record = new StatusRecord(context, MachineDeployment, deployment);
  await record.write(deploymentStatus({ deployment, sets, current, machines: machinesOf(cache, deployment), now }));
  const after = Date.parse(deployment.spec.rollout?.after ?? "") - now;
  return after > 0 ? { againAfterMs: Math.min(after, 2 ** 31 - 1) } : DONE;
}

const stateOf = (set: MachineSet): SetState => ({
  name: set.metadata.name,
  spec: set.spec.replicas,
  actual: set.status?.replicas ?? 0,
  available: set.status?.availableReplicas ?? 0,
});

/** What is asked of the sets next. A set that is to be made is called `unique`. */
function sizesOf(
  { spec }: MachineDeployment,
  sets: readonly MachineSet[],
  current: MachineSet | undefined,
  unique: string,
): Sizes {
  const { replicas, rollout, paused } = spec;
  const pace = paceOf(rollout?.strategy?.rollingUpdate, replicas);
  const isOnDelete = rollout?.strategy?.type === "OnDelete";
  const old = sets.filter((set) => set !== current).map(stateOf);
  const now = current && stateOf(current);
  if (paused) return whilePaused({ replicas, maxSurge: isOnDelete ? undefined : pace.maxSurge, current: now, old });
  const facts = { replicas, pace, current: now ?? { name: unique, spec: 0, actual: 0, available: 0 }, old };
  return isOnDelete ? onDelete(facts) : rollingUpdate(facts);
}

async function change(
  { client, events }: Context,
  deployment: MachineDeployment,
  set: MachineSet,
  { isCurrent, revision, sizes }: { isCurrent: boolean; revision: number; sizes: Sizes },
): Promise<void> {
  if (set.metadata.deletionTimestamp !== undefined) return;
  const isOnDelete = deployment.spec.rollout?.strategy?.type === "OnDelete";
  const replicas = sizes.get(set.metadata.name);
  const body = setPatch(set, deployment, { isCurrent, revision, replicas, isOff: isOnDelete && !isCurrent });
  if (body === undefined) return;
  // Sizes were decided on this very version: a set that somebody scaled meanwhile is decided anew.
  const metadata = { ...(body as { metadata?: object }).metadata, resourceVersion: set.metadata.resourceVersion };
  await client.patch(MachineSet, refOf(set), { type: "merge", body: { ...body, metadata } });
  if (replicas !== undefined)
    events.normal(
      deployment,
      "SuccessfulScale",
      `MachineSet ${set.metadata.name}: ${set.spec.replicas} -> ${replicas}`,
    );
}

/** Deletes empty sets of earlier templates once all Machines are of the current one. */
async function cleanUp(
  context: Context,
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  current: MachineSet,
): Promise<void> {
  const { replicas } = deployment.spec;
  const isComplete =
    current.spec.replicas === replicas &&
    current.status?.replicas === replicas &&
    (current.status.availableReplicas ?? 0) >= replicas;
  const empty = sets.filter((set) => set !== current && set.spec.replicas === 0 && (set.status?.replicas ?? 0) === 0);
  if (!isComplete || sets.some((set) => set !== current && !empty.includes(set))) return;
  for (const set of empty) await remove(context, deployment, set);
}

async function remove({ client, events }: Context, deployment: MachineDeployment, set: MachineSet): Promise<void> {
  if (set.metadata.deletionTimestamp !== undefined) return;
  try {
    await client.delete(MachineSet, refOf(set), { uid: set.metadata.uid });
    events.normal(deployment, "SuccessfulDelete", `deleted MachineSet ${set.metadata.name}`);
  } catch (error) {
    if (!isFault(error, "NotFound", "Conflict")) throw error;
  }
}

/** Deletes the sets, then lets the deployment go. */
async function end(context: Context, deployment: MachineDeployment): Promise<Outcome> {
  const { cache, client, clock } = context;
  if (!deployment.metadata.finalizers?.includes(FINALIZERS.machineDeployment)) return DONE;
  const sets = setsOf(cache, deployment);
  if (sets.length === 0) {
    await removeFinalizer(client, MachineDeployment, deployment, FINALIZERS.machineDeployment);
    return DONE;
  }
  for (const set of sets) await remove(context, deployment, set);
  const facts = { deployment, sets, current: undefined, machines: machinesOf(cache, deployment), now: clock.now() };
  await new StatusRecord(context, MachineDeployment, deployment).write(deploymentStatus(facts));
  return DONE;
}
