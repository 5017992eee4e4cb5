import type { ConditionUpdate } from "@slipway/kube";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { MachineDeployment } from "../../../kinds/cluster-api/machine-deployment.ts";
import type { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import { differencesOf } from "./template-equality.ts";

/** Whether a set was made before a time at which Machines are to be replaced. Pure. */
export function isOverdue(set: MachineSet, { spec }: MachineDeployment, now: number): boolean {
  const after = Date.parse(spec.rollout?.after ?? "");
  return after <= now && Date.parse(set.metadata.creationTimestamp) < after;
}

/** The condition UpToDate of a Machine of a deployment. Pure. */
export function upToDate(
  machine: Machine,
  set: MachineSet,
  deployment: MachineDeployment,
  now: number,
): ConditionUpdate {
  const lines = differencesOf(set.spec.template.spec, deployment.spec.template.spec);
  if (isOverdue(set, deployment, now)) lines.push("* MachineDeployment spec.rollout.after expired");
  const kubelet = machine.status?.nodeInfo?.kubeletVersion;
  const wanted = deployment.spec.template.spec.version;
  if (lines.length === 0 && kubelet && wanted && kubelet !== wanted)
    lines.push(`* Kubelet version is ${kubelet}, ${wanted} required`);
  const { generation } = machine.metadata;
  const common = { type: "UpToDate", ...(generation !== undefined && { observedGeneration: generation }) };
  return lines.length === 0
    ? { ...common, status: "True", reason: "UpToDate", message: "" }
    : { ...common, status: "False", reason: "NotUpToDate", message: lines.join("\n") };
}
