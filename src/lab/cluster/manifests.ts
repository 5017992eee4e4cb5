/** What the lab has to know of the cluster that it is to make, read from its manifests. */
import type { KubeObject, Ref } from "@slipway/kube";
import { modelledOn } from "../modelled.ts";

const { lacks, only } = modelledOn("examples/lab-cluster");

/** The cluster of a folder of manifests. */
export interface LabCluster {
  /** Name and namespace of the Cluster. */
  ref: Required<Ref>;
  /** Its workers. */
  count: number;
  /** Minor of its Kubernetes: `1.36`. */
  minor: string;
  /** For the lab's own API. */
  objects: readonly KubeObject[];
  /** For the workload cluster; `Deployment`s among them are to run on every worker. */
  workload: readonly KubeObject[];
}

type Specified = KubeObject & { spec?: { replicas?: number; template?: { spec?: { version?: string } } } };

/** Reads the manifests; `name` is how the user calls them. Throws a `Fault` where the lab can't make a cluster of them. Pure. */
export function labClusterOf(
  objects: readonly KubeObject[],
  { workload, name }: { workload: readonly KubeObject[]; name: string },
): LabCluster {
  const cluster = only(objects, "Cluster", name);
  const workers = only(objects, "MachineDeployment", name) as Specified;
  if (!objects.some(({ kind }) => kind === "MachineHealthCheck"))
    throw lacks(name, "there is no MachineHealthCheck: nothing would replace the machine that is killed");
  const { replicas: count = 1, template } = workers.spec ?? {};
  const version = template?.spec?.version ?? "";
  const [, minor] = /^v(\d+\.\d+)\.\d+$/.exec(version) ?? [];
  if (minor === undefined) throw lacks(name, `spec.template.spec.version of its MachineDeployment is "${version}"`);
  if (!Number.isInteger(count) || count < 1) throw lacks(name, `spec.replicas of its MachineDeployment is ${count}`);
  const { name: called, namespace = "default" } = cluster.metadata;
  return { ref: { namespace, name: called }, count, minor, objects, workload };
}
