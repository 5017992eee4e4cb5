/** What a KubeadmConfig waits for, and which of its fields are not served. Pure. */
import { Fault } from "@slipway/base";
import { isControlPlane } from "../../cluster-api/owners.ts";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../kinds/cluster-api/machine.ts";
import type { KubeadmConfig } from "../../kinds/kubeadm/kubeadm-config.ts";

/** What must be there before the data can be written; undefined: all is. */
export function waitOf(machine: Machine | undefined, cluster: Cluster | undefined): string | undefined {
  if (machine === undefined) return "a Machine that names it in spec.bootstrap.configRef";
  if (cluster === undefined) return `Cluster ${machine.spec.clusterName}, which its Machine names`;
  const { initialization } = cluster.status ?? {};
  const of = `of Cluster ${cluster.metadata.name}`;
  if (initialization?.infrastructureProvisioned !== true) return `the infrastructure ${of}`;
  if (initialization.controlPlaneInitialized !== true) return `the control plane ${of} to answer for the first time`;
  const { host, port } = cluster.spec.controlPlaneEndpoint ?? {};
  return host && port ? undefined : `spec.controlPlaneEndpoint ${of}`;
}

/** Throws `Invalid` for what upstream's bootstrap provider serves and this one does not. */
export function refuseUnserved({ metadata, spec }: KubeadmConfig, machine: Machine): void {
  const refuse = (field: string, remedy: string): never => {
    throw new Fault("Invalid", `KubeadmConfig/${metadata.name}`, `${field} is served by upstream's Cluster API alone`, {
      remedy,
    });
  };
  const hosted = "use a KamajiControlPlane for the control plane";
  if (isControlPlane(machine)) refuse("a Machine of the control plane", hosted);
  for (const field of ["clusterConfiguration", "initConfiguration"] as const)
    if (spec[field] !== undefined) refuse(`spec.${field}`, hosted);
  if (spec.joinConfiguration?.controlPlane !== undefined) refuse("spec.joinConfiguration.controlPlane", hosted);
  if (spec.format === "ignition") refuse("spec.format ignition", "leave it out: the data is cloud-config");
  const template = spec.files?.find(({ contentFormat }) => contentFormat === "Template");
  if (template !== undefined) refuse(`contentFormat Template of ${template.path}`, "write the content as it is to be");
}
