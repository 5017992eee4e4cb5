import { createHash } from "node:crypto";
import { asFault, isFault } from "@slipway/base";
import { type Client, type Context, type Controller, DONE, type Outcome, source } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { ANNOTATIONS } from "../../cluster-api/names.ts";
import { isPaused } from "../../cluster-api/pause.ts";
import { withCluster } from "../../cluster-api/shard-owner.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import type { WorkloadClusters } from "../../workload/workload-clusters.ts";
import { Waker } from "../cluster-api/wake.ts";
import { ADDONS_ANNOTATION, CLUSTER_ADDONS, FIELD_MANAGER } from "./names.ts";
import { networkObjects } from "./network.ts";
import { nodeFacts } from "./node-facts.ts";
import { type Addon, addonsOf } from "./wanted.ts";

export interface AddonParts {
  workloads: WorkloadClusters;
  /** The add-ons of Clusters that say nothing. */
  usual: ReadonlySet<Addon>;
  /** Image with the network's program; undefined: nodes have it. */
  networkImage: string | undefined;
}

/** Gives each Cluster its add-ons, once its control plane answers. What is no longer asked for stays in the cluster: its Pods may need it. */
export function addonsController(parts: AddonParts): Controller {
  const waker = new Waker();
  /** What was applied last, by connection: a cluster that is made anew, or reached anew, gets it again, which changes nothing that is there. */
  const applied = new WeakMap<Client, string>();
  return {
    name: "cluster-addons",
    system: CLUSTER_ADDONS,
    owner: withCluster,
    sources: [
      source({
        resource: Cluster,
        optional: true,
        when: (cluster, before) => matters(cluster) !== matters(before),
      }),
      source({
        resource: Machine,
        optional: true,
        when: (machine, before) => known(machine) !== known(before),
        keys: ({ metadata, spec }) => [{ namespace: metadata.namespace!, name: spec.clusterName }],
      }),
    ],
    access: [],
    listen: waker.listen(() => parts.workloads.onChange((cluster) => waker.wake(cluster))),
    async reconcile(ref, context) {
      const cluster = context.cache.get(Cluster, ref);
      if (cluster === undefined || !isUsable(cluster)) return DONE;
      try {
        return await keep(parts, context, { cluster, applied });
      } catch (error) {
        if (context.signal.aborted || isFault(error, "Conflict", "NotLeader", "Undeclared")) throw error;
        context.events.warning(cluster, "AddOnsFailed", asFault(error, `Cluster/${ref.name}`).advice);
        throw error;
      }
    },
  };
}

const isUsable = (cluster: Cluster): boolean =>
  cluster.metadata.deletionTimestamp === undefined &&
  !isPaused(cluster, cluster) &&
  cluster.status?.initialization?.controlPlaneInitialized === true;

interface Keeping {
  cluster: Cluster;
  applied: WeakMap<Client, string>;
}

async function keep(parts: AddonParts, context: Context, { cluster, applied }: Keeping): Promise<Outcome> {
  const addons = addonsOf(cluster, parts.usual);
  if (addons.size === 0) return DONE;
  const session = parts.workloads.of(cluster);
  const { client } = session;
  // Its first answer wakes this again.
  if (client === undefined) return DONE;
  if (addons.has("network")) await applyNetwork(parts, context, client, { cluster, applied });
  if (addons.has("cloud-controller"))
    for (const machine of context.cache.list(Machine, cluster.metadata.namespace))
      if (machine.spec.clusterName === cluster.metadata.name && machine.spec.providerID) {
        const [node, ...others] = session.nodesBy(machine.spec.providerID);
        // Where several have the id, a host has lied: none of them gets the Machine's addresses.
        if (node !== undefined && others.length === 0) await initialize(client, node, machine);
      }
  return DONE;
}

async function applyNetwork(parts: AddonParts, context: Context, client: Client, of: Keeping): Promise<void> {
  const { cluster, applied } = of;
  const objects = networkObjects(parts.networkImage);
  const digest = createHash("sha256").update(JSON.stringify(objects)).digest("hex");
  if (applied.get(client) === digest) return;
  for (const { resource, ref, body } of objects)
    await client.patch(resource, ref, { type: "apply", body, fieldManager: FIELD_MANAGER, force: true });
  applied.set(client, digest);
  context.events.normal(cluster, "AddOnApplied", "the network is in the workload cluster");
}

async function initialize(client: Client, node: Node, machine: Machine): Promise<void> {
  const facts = nodeFacts(node, machine);
  if (facts === undefined) return;
  const ref = { name: node.metadata.name };
  const { metadata } = await client.patch(Node, ref, { type: "merge", body: facts.status }, { subresource: "status" });
  const body = {
    ...facts.patch,
    metadata: { ...(facts.patch as Node).metadata, resourceVersion: metadata.resourceVersion },
  };
  await client.patch(Node, ref, { type: "merge", body });
}

/** What of a Cluster decides. */
const matters = ({ metadata, spec, status }: Cluster): string =>
  JSON.stringify([
    metadata.annotations?.[ADDONS_ANNOTATION],
    metadata.deletionTimestamp,
    spec.paused,
    metadata.annotations?.[ANNOTATIONS.paused],
    status?.initialization?.controlPlaneInitialized,
  ]);

/** What of a Machine reaches its Node. */
const known = ({ spec, status }: Machine): string =>
  JSON.stringify([spec.providerID, status?.addresses, status?.failureDomain]);
