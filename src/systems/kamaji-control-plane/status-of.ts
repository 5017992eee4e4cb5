/** The status of a KamajiControlPlane, decided anew from what is seen at each pass: nothing stays true by itself but what is done once (KCP-8). Pure. */
import type { Fault } from "@slipway/base";
import { setCondition, waitFor } from "@slipway/kube";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type {
  KamajiControlPlane,
  KamajiControlPlaneStatus,
} from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { conditionsOf, STEPS, type StepName, type StepState } from "./conditions-of.ts";

export interface Seen {
  /** Steps that were not come to are missing; they wait for the one before. */
  steps: Partial<Record<StepName, StepState>>;
  tenant: TenantControlPlane | undefined;
}

/**
 * Steps without which the tenant's API is not to be used. That the infrastructure knows the endpoint is not one (KCP-7), and neither is a
 * change of the tenant that was refused: it runs on as it is.
 */
const NEEDED: readonly StepName[] = ["TenantControlPlaneAddressReady", "KubeadmResourcesCreated"];
/** States of a tenant in which its API answers. */
const ANSWERS = new Set(["Ready", "Upgrading", "WriteLimited", "CertificateAuthorityRotating"]);

/** The fields of the status. `now`: ms since 1970. */
export function statusOf(
  { metadata, spec, status }: KamajiControlPlane,
  { steps, tenant }: Seen,
  now: number,
): KamajiControlPlaneStatus {
  const observedGeneration = metadata.generation ?? 0;
  const pending = tenantWait(tenant, spec.replicas);
  const unmet = firstUnmet(steps);
  const isUsable = pending === undefined && NEEDED.every((step) => steps[step]?.is === "done");
  const initialized = status?.initialization?.controlPlaneInitialized === true || isUsable;
  const what = unmet?.text ?? pending;
  const judged = { steps, initialized, isUsable, what, hasFailed: unmet?.fault !== undefined };
  const terminal = unmet?.fault !== undefined && !unmet.fault.retryable ? unmet.fault : undefined;
  return {
    externalManagedControlPlane: true,
    initialization: { controlPlaneInitialized: initialized },
    initialized,
    ready: isUsable,
    ...countsOf(tenant, spec.replicas),
    observedGeneration,
    failureReason: terminal?.code,
    failureMessage: terminal?.advice,
    conditions: conditionsOf(status?.conditions, judged, { observedGeneration, now }),
    ...waitOf(status, what, now),
  } as KamajiControlPlaneStatus;
}

/** Replicas and versions, under the names of both contracts. */
function countsOf(tenant: TenantControlPlane | undefined, wanted: number): Partial<KamajiControlPlaneStatus> {
  const { deployment, version } = tenant?.status?.kubernetesResources ?? {};
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0, updatedReplicas = 0 } = deployment ?? {};
  const running = version?.version || undefined;
  return {
    replicas,
    readyReplicas,
    availableReplicas,
    upToDateReplicas: updatedReplicas,
    updatedReplicas,
    unavailableReplicas: deployment?.unavailableReplicas ?? Math.max(0, wanted - availableReplicas),
    ...(deployment && { selector: deployment.selector }),
    ...(running && { version: running, versions: [{ version: running, replicas }] }),
  };
}

/** What the tenant itself waits for; undefined: its API answers. */
function tenantWait(tenant: TenantControlPlane | undefined, replicas: number): string | undefined {
  const { version, deployment } = tenant?.status?.kubernetesResources ?? {};
  const name = `TenantControlPlane ${tenant?.metadata.name}`;
  if (replicas === 0) return `${name} sleeps: spec.replicas is 0`;
  const answers = ANSWERS.has(version?.status ?? "") && (deployment?.readyReplicas ?? 0) > 0;
  if (answers) return undefined;
  const { waitingFor } = (tenant?.status ?? {}) as { waitingFor?: string };
  return `${name} is ${version?.status ?? "not looked at yet"}${waitingFor ? `: ${waitingFor}` : ""}`;
}

function firstUnmet(steps: Seen["steps"]): { text: string; fault?: Fault } | undefined {
  for (const step of STEPS) {
    const state = steps[step];
    if (state?.is === "waits") return { text: state.for };
    if (state?.is === "failed") return { text: state.fault.advice, fault: state.fault };
  }
  return undefined;
}

/** The fields of the status while nothing is done, and why. */
export function heldStatus(
  { metadata, status }: KamajiControlPlane,
  { what, paused }: { what: string; paused: boolean },
  now: number,
): KamajiControlPlaneStatus {
  const observedGeneration = metadata.generation ?? 0;
  const update = paused
    ? { type: "Paused", status: "True" as const, reason: "Paused", message: what, observedGeneration }
    : { type: "Ready", status: "False" as const, reason: "Waiting", message: what, observedGeneration };
  return {
    ...(!paused && { externalManagedControlPlane: true, ready: false }),
    conditions: setCondition(status?.conditions, update, now),
    ...waitOf(status, what, now),
  } as KamajiControlPlaneStatus;
}

function waitOf(
  held: KamajiControlPlaneStatus | undefined,
  what: string | undefined,
  now: number,
): Pick<ReturnType<typeof waitFor>, "waitingFor" | "waitingSince"> {
  const { waitingFor, waitingSince } = waitFor(held, { what, now });
  return { waitingFor, waitingSince };
}
