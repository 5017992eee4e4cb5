import { isDeepStrictEqual } from "node:util";
import { type Clock, isFault } from "@slipway/base";
import type { Client, KubeObject, Resource } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { FLEET_LOCAL, type JoinRequest, machineNameOf } from "./node-object.ts";

/** The Cluster API Machine that Harvester's Rancher keeps for each node. */
export interface CapiMachine extends KubeObject {
  spec?: { clusterName: string; bootstrap: object; infrastructureRef: object };
}
export const CapiMachine: Resource<CapiMachine> = {
  group: "cluster.x-k8s.io",
  version: "v1beta1",
  kind: "Machine",
  plural: "machines",
  namespaced: true,
};

export const MACHINES = "machines.cluster.x-k8s.io";
const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** Installs a minimal CRD for Machines where the cluster has none, and waits until it is served. */
export async function ensureMachineKind(client: Client, clock: Clock): Promise<void> {
  const name = MACHINES;
  if ((await client.find(CustomResourceDefinition, { name })) === undefined) {
    await create(client, CustomResourceDefinition, {
      metadata: { name },
      spec: {
        group: CapiMachine.group,
        scope: "Namespaced",
        names: {
          plural: "machines",
          singular: "machine",
          kind: "Machine",
          listKind: "MachineList",
          shortNames: ["ma"],
        },
        versions: [
          {
            name: "v1beta1",
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: { type: "object", properties: { spec: open, status: open } } },
          },
        ],
      },
    });
  }
  for (let attempt = 0; attempt < 100; attempt++) {
    const crd = await client.get(CustomResourceDefinition, { name });
    if (crd.status?.conditions?.some((c) => c.type === "Established" && c.status === "True")) return;
    await clock.sleep(100);
  }
}

/** Whether a definition of Machines is the one that stands in for Cluster API's: none of Cluster API's own leaves spec and status open. */
export function isStandIn({ spec }: CustomResourceDefinition): boolean {
  const versions = (
    spec as { versions?: { schema?: { openAPIV3Schema?: { properties?: Record<string, unknown> } } }[] }
  ).versions;
  return (
    versions?.length === 1 &&
    isDeepStrictEqual(versions[0]?.schema?.openAPIV3Schema?.properties, { spec: open, status: open })
  );
}

/** Makes sure that the Machine of a joining host exists. */
export async function ensureMachine(client: Client, request: JoinRequest): Promise<void> {
  const name = machineNameOf(request.machineId);
  const reference = (apiVersion: string, kind: string): object => ({ apiVersion, kind, name, namespace: FLEET_LOCAL });
  await create(client, CapiMachine, {
    metadata: { name, namespace: FLEET_LOCAL, labels: { "cluster.x-k8s.io/cluster-name": "local" } },
    spec: {
      clusterName: "local",
      bootstrap: { configRef: reference("rke.cattle.io/v1", "RKEBootstrap") },
      infrastructureRef: reference("rke.cattle.io/v1", "CustomMachine"),
    },
  });
}

/** Creates an object unless it is there. */
export async function create<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  draft: Parameters<typeof client.create<T>>[1],
): Promise<void> {
  try {
    await client.create(resource, draft);
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
  }
}
