/** For this folder's tests: Cluster API's objects with the fields that a test is about. */
import { rfc3339 } from "@slipway/base";
import type { Condition, KubeObject, ObjectMeta, Resource } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../kinds/cluster-api/machine-set.ts";
import type { Seen } from "./mirror.ts";

/** The time at which tests begin, in ms. */
export const NOW = Date.parse("2026-06-01T12:00:00Z");
/** So many seconds before `NOW`. */
export const ago = (seconds: number): string => rfc3339(NOW - seconds * 1000);

/** A condition that has held for an hour. */
export const is = (type: string, status: Condition["status"], of: Partial<Condition> = {}): Condition => ({
  ...{ type, status, reason: `${type}Reason`, message: "", lastTransitionTime: ago(3600) },
  ...of,
});

interface Fields {
  metadata?: Partial<ObjectMeta>;
  spec?: object;
  status?: object;
}

function made<T extends KubeObject>(resource: Resource<T>, name: string, { metadata, spec, status }: Fields): T {
  return {
    apiVersion: resource.group === "" ? resource.version : `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: {
      ...{ name, uid: `uid-${name}`, resourceVersion: "1", creationTimestamp: ago(7200) },
      ...(resource.namespaced && { namespace: "default" }),
      ...metadata,
    },
    ...(spec && { spec }),
    ...(status && { status }),
  } as unknown as T;
}

const MACHINE_SPEC = {
  clusterName: "quay",
  bootstrap: { dataSecretName: "data" },
  infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "SimMachine", name: "m" },
};

/** What a Machine is made of; `of` replaces fields. */
export const machineSpec = (of: object = {}): Machine["spec"] => ({ ...MACHINE_SPEC, ...of }) as Machine["spec"];

/** The Cluster `quay`. */
export const cluster = (of: Fields = {}): Cluster => made(Cluster, "quay", { ...of, spec: { ...of.spec } });
/** A Machine of `quay`. */
export const machine = (name: string, of: Fields = {}): Machine =>
  made(Machine, name, { ...of, spec: machineSpec(of.spec) });
/** A Node. */
export const node = (name: string, of: Fields = {}): Node => made(Node, name, of);

/** A set of three. `template`: fields of its Machines' spec. */
export const machineSet = (name: string, { template = {}, ...of }: Fields & { template?: object } = {}): MachineSet =>
  made(MachineSet, name, {
    ...of,
    spec: { clusterName: "quay", replicas: 3, selector: {}, template: { spec: machineSpec(template) }, ...of.spec },
  });

/** A deployment of three. `template`: fields of its Machines' spec. */
export const deployment = ({ template = {}, ...of }: Fields & { template?: object } = {}): MachineDeployment =>
  made(MachineDeployment, "berth", {
    ...of,
    spec: { clusterName: "quay", replicas: 3, selector: {}, template: { spec: machineSpec(template) }, ...of.spec },
  });

/** An object of a provider as it was seen; without `object`, one that is not there. */
export function seen(kind: string, object?: Fields): Seen {
  const group = "infrastructure.cluster.x-k8s.io";
  const resource = { group, version: "v1beta2", kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
  return {
    reference: { apiGroup: group, kind, name: "m" },
    kind: { resource, contract: "v1beta2" },
    object: object && made(resource, "m", object),
    because: `${kind} m does not exist`,
  };
}
