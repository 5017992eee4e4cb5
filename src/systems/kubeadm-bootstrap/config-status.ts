/** The status of a KubeadmConfig. Pure. */
import type { Fault } from "@slipway/base";
import { type ConditionUpdate, setCondition, waitFor } from "@slipway/kube";
import { type OldUpdate, oldReady, setOldCondition } from "../../cluster-api/old-conditions.ts";
import type { KubeadmConfig, KubeadmConfigStatus } from "../../kinds/kubeadm/kubeadm-config.ts";

export type Standing =
  | { is: "waits"; for: string }
  | { is: "failed"; fault: Fault }
  | { is: "written"; secret: string };

/** The fields of the status. `now`: ms since 1970. */
export function configStatus(
  { metadata, status }: KubeadmConfig,
  standing: Standing,
  now: number,
): KubeadmConfigStatus {
  const isWritten = standing.is === "written" || status?.initialization?.dataSecretCreated === true;
  const what = standing.is === "waits" ? standing.for : standing.is === "failed" ? standing.fault.advice : undefined;
  const isReady = standing.is === "written" || (isWritten && standing.is === "waits");
  const reason = standing.is === "failed" ? standing.fault.code : "Waiting";
  const of = (type: string, holds: boolean, good: string): ConditionUpdate => ({
    ...{ type, status: holds ? "True" : "False", reason: holds ? good : reason, message: holds ? "" : (what ?? "") },
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
  });
  const updates = [
    of("Ready", isReady, "Ready"),
    of("DataSecretAvailable", isWritten, "Available"),
    of("CertificatesAvailable", isWritten, "Available"),
  ];
  const conditions = updates.reduce((list, one) => setCondition(list, one, now), status?.conditions ?? []);
  const { waitingFor, waitingSince } = waitFor(status, { what, now });
  return {
    conditions,
    initialization: { dataSecretCreated: isWritten },
    dataSecretName: standing.is === "written" ? standing.secret : status?.dataSecretName,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...{ waitingFor, waitingSince },
    deprecated: { v1beta1: { conditions: oldConditions(status, updates, now) } },
  } as KubeadmConfigStatus;
}

/** As readers of v1beta1 know them. */
function oldConditions(status: KubeadmConfigStatus | undefined, updates: readonly ConditionUpdate[], now: number) {
  const parts = updates.slice(1).reduce((list, { type, status: value, reason, message }) => {
    const update: OldUpdate =
      value === "True" ? { type, status: "True" } : { type, status: "False", severity: "Info", reason, message };
    return setOldCondition(list, update, now);
  }, status?.deprecated?.v1beta1?.conditions ?? []);
  return setOldCondition(parts, oldReady(parts, ["DataSecretAvailable", "CertificatesAvailable"]), now);
}
