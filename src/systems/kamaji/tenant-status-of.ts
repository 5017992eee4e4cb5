import { type Fault, rfc3339 } from "@slipway/base";
import { type Condition, setCondition, stalled, type Waiting, waitFor } from "@slipway/kube";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane, TenantControlPlaneStatus } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { State } from "../../kinds/kamaji/tenant-status.ts";
import type { Observed } from "../../tenants/plane.ts";
import type { KubeadmConfigMark } from "./kubeadm-config-map.ts";
import { TENANT_LABEL } from "./names.ts";
import { addonStatus } from "./tenant-addons.ts";
import { konnectivityStatus } from "./tenant-konnectivity.ts";
import type { TenantPki } from "./tenant-pki.ts";
import type { TenantPlace } from "./tenant-place.ts";
import { isSameRelease } from "./upgrade.ts";

export interface TenantFacts {
  spec: CompleteSpec;
  place: { host: string; port: number; tunnelPort?: number };
  pki: TenantPki;
  observed: Observed;
  /** The version that is being run: the wanted one, or one on the way to it. */
  running: string;
  /** What keeps it from going on to the version that is wanted. */
  obstacle?: Fault | undefined;
  /** It starts on another DataStore than before. */
  isMoving?: boolean;
  kubeadmConfig: KubeadmConfigMark;
  /** A mark of what nodes join by in the tenant; unset: it can't be reached now. */
  joinedBy?: string;
  /** ms since 1970. */
  now: number;
  /** Where its objects are; unset: its runtime keeps them. */
  store?: Pick<TenantPlace, "driver" | "dataStoreName" | "config">;
}

/** The fields of a tenant's status that Kamaji's users read. Pure; unchanged facts give the same status. */
export function tenantStatusOf(tenant: TenantControlPlane, facts: TenantFacts): TenantControlPlaneStatus {
  const { spec, place, pki, observed, kubeadmConfig } = facts;
  const { status } = tenant;
  const { name, namespace, generation } = tenant.metadata;
  const { marks } = pki;
  const wanted = spec.controlPlane.deployment.replicas;
  const ready = observed.readyReplicas;
  const host = place.host.includes(":") ? `[${place.host}]` : place.host;
  const ref = { name, namespace: namespace ?? "" };
  return {
    controlPlaneEndpoint: `${host}:${place.port}`,
    observedGeneration: generation ?? 0,
    kubernetesResources: {
      version: { version: versionOf(tenant, facts), status: stateOf(tenant, facts) },
      deployment: {
        ...ref,
        selector: `${TENANT_LABEL}=${name}`,
        replicas: wanted,
        readyReplicas: ready,
        availableReplicas: ready,
        unavailableReplicas: Math.max(0, wanted - ready),
        updatedReplicas: ready,
      },
      service: { ...ref, port: place.port },
      ...observed.objects,
    },
    certificates: {
      ca: marks.ca,
      apiServer: marks.apiServer,
      apiServerKubeletClient: marks.apiServerKubeletClient,
      frontProxyCA: marks.frontProxyCA,
      frontProxyClient: marks.frontProxyClient,
      sa: marks.sa,
    },
    kubeconfig: { admin: marks.admin, controllerManager: marks.controllerManager, scheduler: marks.scheduler },
    storage: {
      ...(facts.store !== undefined && { driver: facts.store.driver, config: facts.store.config }),
      ...(marks.datastore !== undefined && { certificate: marks.datastore }),
      dataStoreName: facts.store?.dataStoreName ?? spec.dataStore,
      setup: {
        ...{ schema: spec.dataStoreSchema, user: spec.dataStoreUsername },
        ...(facts.store !== undefined && dated(status?.storage?.setup, facts.store.config.checksum, facts.now)),
      },
    },
    kubeadmconfig: {
      configmapName: kubeadmConfig.configmapName,
      ...dated(status?.kubeadmconfig, kubeadmConfig.checksum, facts.now),
    },
    ...(facts.joinedBy !== undefined && {
      kubeadmPhase: { bootstrapToken: dated(status?.kubeadmPhase?.bootstrapToken, facts.joinedBy, facts.now) },
    }),
    ...addonsOf(tenant, facts),
  };
}

function addonsOf(tenant: TenantControlPlane, facts: TenantFacts): Pick<TenantControlPlaneStatus, "addons"> {
  const own = addonStatus(tenant, facts.spec, { isReached: facts.joinedBy !== undefined });
  const { addons = own } = konnectivityStatus({ ...tenant, status: { ...tenant.status, addons: own } }, facts);
  return tenant.status?.addons === undefined && Object.keys(addons).length === 0 ? {} : { addons };
}

/** A checksum, and since when it is that. */
function dated(
  held: { checksum?: string | undefined; lastUpdate?: string | undefined } | undefined,
  checksum: string,
  now: number,
): { checksum: string; lastUpdate: string } {
  const since = held?.checksum === checksum ? held.lastUpdate : undefined;
  return { checksum, lastUpdate: since ?? rfc3339(now) };
}

/** Whether it is ready, and what is waited for otherwise. What stalled it is over. `now`: ms since 1970. */
export function waitOf(
  { metadata, status }: TenantControlPlane,
  { spec, observed, obstacle }: Pick<TenantFacts, "spec" | "observed" | "obstacle">,
  now: number,
): Pick<TenantControlPlaneStatus, "conditions"> & Waiting {
  const isAsleep = spec.controlPlane.deployment.replicas === 0;
  const isReady = observed.readyReplicas > 0;
  const starting = observed.components
    .filter(({ ready }) => !ready)
    .map(({ component, message }) => (message === undefined ? component : `${component}: ${message}`));
  const what = isReady || isAsleep ? undefined : starting.join("; ") || "its components to start";
  const ready = {
    type: "Ready",
    status: isReady ? ("True" as const) : ("False" as const),
    reason: isAsleep ? "Sleeping" : isReady ? "Ready" : "Starting",
    message: what ?? "",
    observedGeneration: metadata.generation ?? 0,
  };
  const held = (status?.conditions ?? []).filter(({ type }) => type !== "Stalled" && type !== IGNORED);
  const ignored = (status?.conditions ?? []).filter(({ type }) => type === IGNORED);
  const conditions = [
    ...setCondition(held, ready, now),
    ...ignoredCondition(ignored, observed.ignored, { metadata, now }),
  ];
  if (obstacle === undefined) return { conditions, ...waitFor(status, { what, now }) };
  // When it began to stall is in the condition that was taken out above.
  const before = (status?.conditions ?? []).filter(({ type }) => type === "Stalled");
  const decided = { now, observedGeneration: metadata.generation ?? 0 };
  return stalled({ ...status, conditions: [...conditions, ...before] }, obstacle, decided);
}

/** The status of a tenant that has no address yet. */
export function placelessStatus(
  { metadata, status }: TenantControlPlane,
  what: string,
  now: number,
): TenantControlPlaneStatus & Waiting {
  const observedGeneration = metadata.generation ?? 0;
  const ready = { type: "Ready", status: "False" as const, reason: "NoAddress", message: what, observedGeneration };
  const held = (status?.conditions ?? []).filter(({ type }) => type !== "Stalled");
  const { version = "" } = status?.kubernetesResources?.version ?? {};
  return {
    observedGeneration,
    kubernetesResources: {
      ...status?.kubernetesResources,
      version: { version, status: version === "" ? "Provisioning" : "NotReady" },
    },
    conditions: setCondition(held, ready, now),
    ...waitFor(status, { what, now }),
  };
}

const IGNORED = "FieldsIgnored";

/** Which fields of the specification have no effect; none where all have one. */
function ignoredCondition(
  before: readonly Condition[],
  ignored: readonly string[] = [],
  { metadata, now }: { metadata: TenantControlPlane["metadata"]; now: number },
): Condition[] {
  if (ignored.length === 0) return [];
  const update = { type: IGNORED, status: "True" as const, reason: "NoEffect", message: ignored.join("; ") };
  return setCondition(before, { ...update, observedGeneration: metadata.generation ?? 0 }, now);
}

/** The version that is installed: the one that last answered. */
function versionOf({ status }: TenantControlPlane, { observed, running }: TenantFacts): string {
  return isAnswering(observed, running) ? running : (status?.kubernetesResources?.version?.version ?? "");
}

/** Until the one before is gone, another version may answer. */
function isAnswering({ readyReplicas, version }: Observed, running: string): boolean {
  return readyReplicas > 0 && isSameRelease(version, running);
}

/** Kamaji's word for a tenant whose authority is another one than before, until it answers by it. */
export const ROTATING: State = "CertificateAuthorityRotating";

function isRotating({ status }: TenantControlPlane, { pki }: TenantFacts, answers: boolean): boolean {
  const held = status?.certificates?.ca?.checksum;
  if (held !== undefined && held !== pki.marks.ca.checksum) return true;
  return status?.kubernetesResources?.version?.status === ROTATING && !answers;
}

/** Kamaji's word for how it is. */
export function stateOf(tenant: TenantControlPlane, facts: TenantFacts): State {
  const { spec, observed, running } = facts;
  const installed = tenant.status?.kubernetesResources?.version?.version;
  if (spec.controlPlane.deployment.replicas === 0) return "Sleeping";
  const answers = isAnswering(observed, running);
  if (!answers && facts.isMoving) return "Migrating";
  if (!answers && !installed) return "Provisioning";
  if (running !== spec.kubernetes.version || (!answers && installed !== running)) return "Upgrading";
  if (isRotating(tenant, facts, answers)) return ROTATING;
  if (!answers) return "NotReady";
  const { blockCreation, blockUpdate, blockDeletion } = spec.writePermissions ?? {};
  return blockCreation || blockUpdate || blockDeletion ? "WriteLimited" : "Ready";
}
