import {
  addFinalizer,
  type Context,
  type Controller,
  DONE,
  type Outcome,
  refOf,
  removeFinalizer,
  StatusRecord,
  setCondition,
  source,
  waitFor,
} from "@slipway/kube";
import { endpointOf } from "../../cluster-api/contract.ts";
import { clusterOwner, inNamespaceOf, isControlPlane, machineOf } from "../../cluster-api/owners.ts";
import { isPaused, pausedCondition } from "../../cluster-api/pause.ts";
import { byClusterOf } from "../../cluster-api/shard-owner.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { PlunderCluster } from "../../kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import { announce } from "../infrastructure/announce.ts";
import { type Told, told } from "../infrastructure/conditions.ts";
import { endpointToWrite } from "./cluster-plan.ts";
import { CLUSTER_FINALIZER, PLUNDER } from "./names.ts";
import { clusterNameOf } from "./surroundings.ts";

/** Says when machines may be taken, and where the control plane is reached once that is known. It holds nothing: deleting it never waits. */
export function clusterController(): Controller {
  return {
    name: "plundercluster",
    system: PLUNDER,
    workers: 10,
    owner: byClusterOf(PlunderCluster),
    sources: [
      source({ resource: PlunderCluster }),
      source({
        resource: Cluster,
        optional: true,
        when: (cluster, before) => newsOf(cluster) !== newsOf(before),
        keys: (cluster) =>
          cluster.spec.infrastructureRef?.kind === PlunderCluster.kind
            ? [inNamespaceOf(cluster, cluster.spec.infrastructureRef.name)]
            : [],
      }),
      source({ resource: Machine, optional: true, keys: () => [] }),
      source({
        resource: PlunderMachine,
        when: (machine, before) => addressesOf(machine) !== addressesOf(before),
        keys: (machine, _, cache) => {
          const name = clusterNameOf(machine);
          const cluster = name === undefined ? undefined : cache.get(Cluster, inNamespaceOf(machine, name));
          const ref = cluster?.spec.infrastructureRef;
          return ref?.kind === PlunderCluster.kind ? [inNamespaceOf(machine, ref.name)] : [];
        },
      }),
    ],
    access: [
      { resource: PlunderCluster, verbs: ["get", "update", "patch"] },
      { resource: PlunderCluster, verbs: ["get", "update", "patch"], subresource: "status" },
    ],
    async reconcile(ref, context) {
      const cluster = context.cache.get(PlunderCluster, ref);
      if (cluster === undefined) return DONE;
      if (cluster.metadata.deletionTimestamp !== undefined) {
        await removeFinalizer(context.client, PlunderCluster, cluster, CLUSTER_FINALIZER);
        return DONE;
      }
      return await keep(context, cluster);
    },
  };
}

function newsOf({ spec, status }: Cluster): string {
  return JSON.stringify([spec.paused, spec.controlPlaneEndpoint, spec.clusterNetwork, status?.initialization]);
}

function addressesOf({ metadata, spec, status }: PlunderMachine): string {
  return JSON.stringify([
    spec.ipAddress,
    status?.ipAddress,
    metadata.labels,
    metadata.ownerReferences,
    metadata.deletionTimestamp,
  ]);
}

async function keep(context: Context, cluster: PlunderCluster): Promise<Outcome> {
  const { client, cache, clock } = context;
  const record = new StatusRecord(context, PlunderCluster, cluster, (before, after) =>
    announce(context.events, before, after),
  );
  const owner = clusterOwner(cluster);
  const owning = owner && cache.get(Cluster, owner);
  const conditions = [...setCondition(cluster.status?.conditions, pausedCondition(cluster, owning), clock.now())];
  record.note({ conditions });
  if (isPaused(cluster, owning)) {
    await record.write(waitFor(cluster.status, { what: "the Cluster or the object to be unpaused", now: clock.now() }));
    return DONE;
  }
  if (owner === undefined) {
    const what = "a Cluster to own it";
    await report(context, record, { status: false, reason: "WaitingForCluster", message: `waiting for ${what}` }, what);
    return DONE;
  }
  if (cluster.metadata.finalizers?.includes(CLUSTER_FINALIZER) !== true) {
    await addFinalizer(client, PlunderCluster, cluster, CLUSTER_FINALIZER);
    return DONE;
  }
  // The label of the control plane is on the Machine; manifests need not have it on the PlunderMachine.
  const machines = cache
    .list(PlunderMachine, cluster.metadata.namespace)
    .filter((one) => clusterNameOf(one) === owner.name && isControlPlane(machineOf(cache, one) ?? one));
  const found = endpointToWrite(cluster, {
    cluster: endpointOf(owning?.spec.controlPlaneEndpoint),
    machines,
    port: owning?.spec.clusterNetwork?.apiServerPort,
  });
  if (found !== undefined) {
    const { resourceVersion } = cluster.metadata;
    const body = { metadata: { resourceVersion }, spec: { controlPlaneEndpoint: found } };
    await client.patch(PlunderCluster, refOf(cluster), { type: "merge", body });
    context.events.normal(
      cluster,
      "EndpointFound",
      `the control plane is reached at ${found.host}, port ${found.port}`,
    );
    return { againAfterMs: 0 };
  }
  await report(context, record, { status: true, reason: "Provisioned", message: "" }, undefined);
  return DONE;
}

async function report(
  { clock }: Context,
  record: StatusRecord<PlunderCluster>,
  standing: Omit<Told, "type">,
  what: string | undefined,
): Promise<void> {
  const now = clock.now();
  const { metadata, status } = record.object;
  const place = { now, observedGeneration: metadata.generation ?? 0 };
  const isReady = standing.status === true;
  await record.write({
    ready: isReady,
    ...((isReady || status?.initialization?.provisioned === true) && { initialization: { provisioned: true } }),
    ...waitFor(status, { what, now }),
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    conditions: told(status?.conditions, { ...standing, type: "Ready" }, place),
  });
}
