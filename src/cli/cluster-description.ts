/** A workload cluster as `slipway describe` shows it: what is read of it. `cluster-tree.ts` puts it into lines. */
import { asFault, Fault } from "@slipway/base";
import type { Client, KubeObject, Ref } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { type Contract, type ContractKind, contractKindOf, definitionName } from "../cluster-api/contract.ts";
import { LABELS } from "../cluster-api/names.ts";
import { Cluster } from "../kinds/cluster-api/cluster.ts";
import type { ContractReference } from "../kinds/cluster-api/fields.ts";
import { Machine } from "../kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../kinds/cluster-api/machine-set.ts";

/** What a reference names: the object and the contract by which it is read, or why it can't be shown. */
export type Referenced = { reference: ContractReference } & (
  | { object: KubeObject; contract: Contract }
  | { missing: string }
);

export interface MachineFacts {
  machine: Machine;
  infrastructure: Referenced;
  bootstrap?: Referenced;
}

export interface ClusterFacts {
  cluster: Cluster;
  infrastructure?: Referenced;
  controlPlane?: Referenced;
  deployments: readonly MachineDeployment[];
  sets: readonly MachineSet[];
  machines: readonly MachineFacts[];
}

/** Reads all that is shown. Rejects with `NotFound` where there is no such Cluster. */
export async function readCluster(client: Client, { namespace, name }: Required<Ref>): Promise<ClusterFacts> {
  const cluster = await client.find(Cluster, { namespace, name });
  if (cluster === undefined)
    throw new Fault("NotFound", `${namespace}/${name}`, "there is no such Cluster", {
      remedy: "see kubectl get cluster -A",
    });
  const labelSelector = `${LABELS.clusterName}=${name}`;
  const [{ items: deployments }, { items: sets }, { items: machines }] = await Promise.all([
    client.list(MachineDeployment, { namespace, labelSelector }),
    client.list(MachineSet, { namespace, labelSelector }),
    client.list(Machine, { namespace, labelSelector }),
  ]);
  const objects = new ReferencedObjects(client, namespace);
  const { infrastructureRef, controlPlaneRef } = cluster.spec;
  return {
    cluster,
    ...(infrastructureRef && { infrastructure: await objects.read(infrastructureRef) }),
    ...(controlPlaneRef && { controlPlane: await objects.read(controlPlaneRef) }),
    deployments,
    sets,
    machines: await Promise.all(
      machines.map(async (machine) => {
        const { infrastructureRef: made, bootstrap } = machine.spec;
        return {
          machine,
          infrastructure: await objects.read(made),
          ...(bootstrap.configRef && { bootstrap: await objects.read(bootstrap.configRef) }),
        };
      }),
    ),
  };
}

/** The objects of a kind by their names. */
interface Listed {
  contract: Contract;
  objects: ReadonlyMap<string, KubeObject>;
}

/** Objects of providers, read a kind at a time: a Cluster of a thousand Machines costs no more requests than one of ten. */
class ReferencedObjects {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #kinds = new Map<string, Promise<Listed>>();

  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  async read(reference: ContractReference): Promise<Referenced> {
    const key = definitionName(reference);
    const listed = this.#kinds.get(key) ?? this.#list(reference);
    this.#kinds.set(key, listed);
    try {
      const { contract, objects } = await listed;
      const object = objects.get(reference.name);
      return object === undefined ? { reference, missing: "there is no such object" } : { reference, object, contract };
    } catch (error) {
      return { reference, missing: asFault(error, `${reference.kind}/${reference.name}`).message };
    }
  }

  async #list(reference: ContractReference): Promise<Listed> {
    const { resource, contract } = await this.#kindOf(reference);
    const { items } = await this.#client.list(resource, { namespace: this.#namespace });
    return { contract, objects: new Map(items.map((object) => [object.metadata.name, object])) };
  }

  async #kindOf(reference: ContractReference): Promise<ContractKind> {
    const name = definitionName(reference);
    const definition = await this.#client.find(CustomResourceDefinition, { name });
    if (definition === undefined)
      throw new Fault("NotFound", `CustomResourceDefinition/${name}`, "there is none", {
        remedy: `install the provider that serves ${reference.kind}`,
      });
    return contractKindOf(reference, definition.metadata.labels);
  }
}
