import { asFault, isFault } from "@slipway/base";
import {
  type Cache,
  type Condition,
  type Context,
  type Controller,
  DONE,
  type Outcome,
  ownerReference,
  type Ref,
  refOf,
  StatusRecord,
  selects,
  setCondition,
  source,
} from "@slipway/kube";
import { LABELS } from "../../../cluster-api/names.ts";
import { clusterOf } from "../../../cluster-api/owners.ts";
import { byClusterName } from "../../../cluster-api/shard-owner.ts";
import { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../../kinds/cluster-api/machine.ts";
import { MachineHealthCheck, type MachineHealthCheckStatus } from "../../../kinds/cluster-api/machine-health-check.ts";
import type { Asker } from "../external-objects.ts";
import { clusterIndex, PROVIDER_ACCESS } from "../machine/machine-controller.ts";
import { CLUSTER_API } from "../names.ts";
import type { CoreParts } from "../parts.ts";
import { pauseShown } from "../pause-shown.ts";
import { Waker } from "../wake.ts";
import {
  type Allowance,
  allowance,
  type Health,
  healthOf,
  isSkipped,
  isWatched,
  type NodeKnown,
  type Target,
} from "./health-plan.ts";
import { askExternally, tellHealthy, tellUnhealthy, withdraw } from "./remediation.ts";

/** Looks after the Machines of each MachineHealthCheck: says which are unhealthy, and has them remediated while not too many are. */
export function machineHealthCheckController(parts: CoreParts): Controller {
  const waker = new Waker();
  /** Checks by the Cluster that they are for. */
  const ofCluster = new Map<string, Map<string, { namespace: string; name: string }>>();
  const left = ({ namespace, name }: Ref): void => {
    for (const checks of ofCluster.values()) checks.delete(`${namespace}/${name}`);
    parts.external.forget(waker.by("MachineHealthCheck", { namespace: namespace!, name }).who);
  };
  return {
    name: "machine-health-check",
    system: CLUSTER_API,
    workers: 50,
    owner: byClusterName(MachineHealthCheck),
    left,
    sources: [
      source({ resource: MachineHealthCheck }),
      source({
        resource: Machine,
        indexes: { cluster: clusterIndex },
        keys: (machine, _, cache) => checksOf(cache, machine),
      }),
      source({
        resource: Cluster,
        when: (cluster, before) =>
          JSON.stringify([before.spec.paused, before.status?.initialization]) !==
          JSON.stringify([cluster.spec.paused, cluster.status?.initialization]),
        keys: ({ metadata }, _, cache) =>
          cache
            .list(MachineHealthCheck, metadata.namespace)
            .filter(({ spec }) => spec.clusterName === metadata.name)
            .map(refOf),
      }),
    ],
    access: [
      { resource: MachineHealthCheck, verbs: ["get", "patch"] },
      { resource: MachineHealthCheck, verbs: ["update"], subresource: "status" },
      { resource: Machine, verbs: ["update"], subresource: "status" },
      ...PROVIDER_ACCESS,
    ],
    listen: waker.listen(() =>
      parts.workloads.onChange(({ namespace, name }) => {
        for (const ref of ofCluster.get(`${namespace}/${name}`)?.values() ?? []) waker.wake(ref);
      }),
    ),
    async reconcile(ref, context) {
      const check = context.cache.get(MachineHealthCheck, ref);
      if (check === undefined || check.metadata.deletionTimestamp !== undefined) {
        left(ref);
        return DONE;
      }
      const cluster = clusterOf(context.cache, check);
      if (cluster === undefined || (await parts.foreign.found()) !== undefined) return DONE;
      const key = `${cluster.metadata.namespace}/${cluster.metadata.name}`;
      const checks = ofCluster.get(key) ?? new Map();
      ofCluster.set(key, checks.set(`${ref.namespace}/${ref.name}`, { namespace: ref.namespace!, name: ref.name }));
      if (await pauseShown(context, MachineHealthCheck, check, cluster)) return DONE;
      const by = waker.by("MachineHealthCheck", ref);
      return await look({ ...parts, by }, context, await identified(context, check, cluster), cluster);
    },
  };
}

const checksOf = (cache: Cache, machine: Machine) =>
  cache
    .list(MachineHealthCheck, machine.metadata.namespace)
    .filter(
      ({ spec }) => spec.clusterName === machine.spec.clusterName && selects(spec.selector, machine.metadata.labels),
    )
    .map(refOf);

async function identified(
  { client }: Context,
  check: MachineHealthCheck,
  cluster: Cluster,
): Promise<MachineHealthCheck> {
  const { resourceVersion, labels, ownerReferences = [] } = check.metadata;
  const isOwned = ownerReferences.some(({ uid }) => uid === cluster.metadata.uid);
  if (isOwned && labels?.[LABELS.clusterName] === check.spec.clusterName) return check;
  const owners = isOwned ? ownerReferences : [...ownerReferences, ownerReference(Cluster, cluster)];
  const metadata = {
    resourceVersion,
    labels: { [LABELS.clusterName]: check.spec.clusterName },
    ownerReferences: owners,
  };
  return await client.patch(MachineHealthCheck, refOf(check), { type: "merge", body: { metadata } });
}

/** The Node of a Machine, as far as the workload cluster is known. */
function nodeOf({ workloads }: CoreParts, cluster: Cluster, machine: Machine): NodeKnown {
  const name = machine.status?.nodeRef?.name;
  if (name === undefined) return { is: "none" };
  const session = workloads.of(cluster);
  if (session.client === undefined || !session.isReached) return { is: "unknown" };
  const node = session.node(name);
  return node === undefined ? { is: "gone" } : { is: "there", node };
}

/** `by`: whom a kind or template calls that was missing. */
type LookParts = CoreParts & { by: Asker };

interface Judged {
  machine: Machine;
  health: Health;
}

async function look(parts: LookParts, context: Context, check: MachineHealthCheck, cluster: Cluster): Promise<Outcome> {
  const { cache, clock } = context;
  const now = clock.now();
  const targets: Target[] = cache
    .byIndex(Machine, "cluster", `${check.metadata.namespace}/${check.spec.clusterName}`)
    .filter(
      (machine) =>
        selects(check.spec.selector, machine.metadata.labels) && !isSkipped(machine) && isWatched(machine, cluster),
    )
    .map((machine) => ({ machine, node: nodeOf(parts, cluster, machine) }));
  const judged = targets.map((target) => ({ machine: target.machine, health: healthOf(target, check, cluster, now) }));
  const healthy = judged.filter(
    ({ machine, health }) => health.is === "healthy" || (health.is === "unknown" && wasHealthy(machine)),
  );
  const may = allowance(check, judged.length, healthy.length);
  for (const of of judged) await act(parts, context, { check, ...of }, may);
  const record = new StatusRecord(context, MachineHealthCheck, check);
  await record.write(statusOf(check, { judged, healthy: healthy.length, may }, now));
  const waits = judged.flatMap(({ health }) =>
    health.is === "pending" && Number.isFinite(health.inMs) ? [health.inMs] : [],
  );
  return waits.length === 0 ? DONE : { againAfterMs: Math.max(1000, Math.min(...waits)) };
}

const wasHealthy = ({ status }: Machine): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "HealthCheckSucceeded" && is === "True") === true;

async function act(
  { external, by }: LookParts,
  context: Context,
  { check, machine, health }: Judged & { check: MachineHealthCheck },
  may: Allowance,
): Promise<void> {
  if (machine.metadata.deletionTimestamp !== undefined) return;
  if (health.is === "healthy") {
    await withdraw(external, context, check, machine);
    return await tellHealthy(context, machine);
  }
  if (health.is !== "unhealthy") return;
  const isExternal = check.spec.remediation?.templateRef !== undefined;
  if (may.allowed && isExternal)
    try {
      await askExternally(external, context, { check, machine, by });
    } catch (error) {
      if (!isFault(error, "NotFound", "Invalid")) throw error;
      context.log.warn(
        { machine: machine.metadata.name, error: asFault(error, "remediation").advice },
        "no remediation could be asked for",
      );
      return await tellUnhealthy(context, machine, health, undefined);
    }
  const isNew = machine.status?.conditions?.every(
    ({ type }) => type !== "OwnerRemediated" && type !== "ExternallyRemediated",
  );
  await tellUnhealthy(context, machine, health, may.allowed ? isExternal : undefined);
  if (may.allowed && isNew) context.events.warning(machine, "MachineMarkedUnhealthy", health.message);
}

interface Tally {
  judged: readonly Judged[];
  healthy: number;
  may: Allowance;
}

function statusOf(
  check: MachineHealthCheck,
  { judged, healthy, may }: Tally,
  now: number,
): Partial<MachineHealthCheckStatus> {
  const { generation } = check.metadata;
  const condition: Omit<Condition, "lastTransitionTime"> = {
    type: "RemediationAllowed",
    ...(may.allowed
      ? { status: "True", reason: "RemediationAllowed", message: "" }
      : { status: "False", reason: "TooManyUnhealthy", message: may.message }),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
  return {
    expectedMachines: judged.length,
    currentHealthy: healthy,
    remediationsAllowed: may.left,
    targets: judged.map(({ machine }) => machine.metadata.name).toSorted(),
    conditions: setCondition(check.status?.conditions, condition, now),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}
