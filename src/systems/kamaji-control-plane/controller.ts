import { asFault, isFault, type Log } from "@slipway/base";
import {
  addFinalizer,
  type Context,
  type Controller,
  DONE,
  type KubeObject,
  type Outcome,
  type Ref,
  type Resource,
  refOf,
  removeFinalizer,
  StatusRecord,
  source,
} from "@slipway/kube";
import { CustomResourceDefinition, Secret } from "@slipway/kube/core";
import { GROUPS } from "../../cluster-api/names.ts";
import { owningCluster } from "../../cluster-api/owners.ts";
import { isPaused, pausedCondition } from "../../cluster-api/pause.ts";
import { byClusterOf } from "../../cluster-api/shard-owner.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { PROJECT, TENANT_LABEL } from "../../kinds/kamaji/labels.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import type { ForeignProvider } from "../foreign-provider.ts";
import { DONE_STEP, type StepName, type StepState } from "./conditions-of.ts";
import { type ExternalWays, isElsewhere, nameTenant, needsName, placeOf } from "./external-tenant.ts";
import type { Endpoint } from "./infrastructure-plan.ts";
import { keepInfrastructure } from "./keep-infrastructure.ts";
import { keepSecrets } from "./keep-secrets.ts";
import { keepTenant } from "./keep-tenant.ts";
import { EXTERNAL_FINALIZER, FINALIZER, KAMAJI_CONTROL_PLANE } from "./names.ts";
import { heldStatus, type Seen, statusOf } from "./status-of.ts";
import { isOurs, localHome, type TenantHome } from "./tenant-home.ts";
import { hostAndPort } from "./tenant-of.ts";

/** Infrastructure clusters of any kind: which ones there are is not known beforehand. */
const ANY_INFRASTRUCTURE: Resource = {
  group: GROUPS.infrastructure,
  version: "*",
  kind: "*",
  plural: "*",
  namespaced: true,
};

type Record = StatusRecord<KamajiControlPlane>;

/** Looks for the original provider, and says what it found. */
export interface Beside {
  foreign: ForeignProvider;
  log: Log;
}
/** Until the original provider is looked for again, once it was found. */
const LOOK_AGAIN_MS = 60_000;

/**
 * Has a tenant for each KamajiControlPlane, lets Cluster API know where and how it is, and reports it by both contracts. Without `ways`, tenants in other
 * clusters are refused.
 */
export function kamajiControlPlaneController(ways?: ExternalWays, beside?: Beside): Controller {
  let told: string | undefined;
  /** Whether the original runs: then all is left to it. */
  const isServed = async (): Promise<boolean> => {
    const found = await beside?.foreign.found();
    if (found !== undefined && found !== told)
      beside?.log.warn(
        { found, remedy: "leave it to that one, or remove it" },
        "Kamaji's own control plane provider is installed; KamajiControlPlanes are left alone",
      );
    told = found;
    return found !== undefined;
  };
  return {
    name: "kamaji-control-plane",
    system: KAMAJI_CONTROL_PLANE,
    owner: byClusterOf(KamajiControlPlane),
    sources: [
      source({ resource: KamajiControlPlane }),
      source({ resource: Cluster, optional: true, keys: controlPlaneOfCluster }),
      source({ resource: TenantControlPlane, optional: true, keys: ownersOf }),
      source({
        resource: Secret,
        labelSelector: Object.entries(PROJECT)
          .map(([label, value]) => `${label}=${value}`)
          .join(),
        keys: ({ metadata }) => controlPlaneNamed(metadata.namespace, metadata.labels?.[TENANT_LABEL]),
      }),
      source({ resource: Secret, labelSelector: "kamaji.clastix.io/component=capi", keys: ownersOf }),
    ],
    access: [
      { resource: KamajiControlPlane, verbs: ["get", "patch"] },
      { resource: KamajiControlPlane, verbs: ["update", "patch"], subresource: "status" },
      { resource: TenantControlPlane, verbs: ["get", "create", "patch", "delete"] },
      { resource: Secret, verbs: ["get", "create", "patch"] },
      { resource: CustomResourceDefinition, verbs: ["get"] },
      { resource: ANY_INFRASTRUCTURE, verbs: ["get", "patch"] },
      { resource: ANY_INFRASTRUCTURE, verbs: ["patch"], subresource: "status" },
    ],
    ...(ways && { listen: ways.waker.listen() }),
    async reconcile(ref, context) {
      const controlPlane = context.cache.get(KamajiControlPlane, ref);
      if (controlPlane === undefined) return DONE;
      if (await isServed()) return { againAfterMs: LOOK_AGAIN_MS };
      const record: Record = new StatusRecord(context, KamajiControlPlane, controlPlane);
      const cluster = owningCluster(context.cache, controlPlane);
      const now = context.clock.now();
      if (isPaused(controlPlane, cluster)) return await holdStill(record, cluster, now);
      if (controlPlane.metadata.deletionTimestamp !== undefined) return await end(ways, context, record);
      if (cluster === undefined) {
        const what = "a Cluster that names it in spec.controlPlaneRef";
        await record.write(heldStatus(controlPlane, { what, paused: false }, now));
        return DONE;
      }
      if (!controlPlane.metadata.finalizers?.includes(FINALIZER)) {
        await addFinalizer(context.client, KamajiControlPlane, controlPlane, FINALIZER);
        return DONE;
      }
      if (needsName(controlPlane)) {
        await nameTenant(context, controlPlane);
        return DONE;
      }
      return await keep(ways, context, { record, cluster });
    },
  };
}

/** While it is paused nothing is done, and the status says so. */
async function holdStill(record: Record, cluster: Cluster | undefined, now: number): Promise<Outcome> {
  const controlPlane = record.object;
  const { message } = pausedCondition(controlPlane, cluster);
  const isLeaving = controlPlane.metadata.deletionTimestamp !== undefined;
  const what = isLeaving ? `${message}: it is deleted when that ends` : message;
  await record.write(heldStatus(controlPlane, { what, paused: true }, now));
  return DONE;
}

/** Each step in turn, as far as it goes; the status is written at the end whatever happens, and a fault is retried after that. */
async function keep(
  ways: ExternalWays | undefined,
  context: Context,
  { record, cluster }: { record: Record; cluster: Cluster },
): Promise<Outcome> {
  const controlPlane = record.object;
  const seen: Seen = { steps: {}, tenant: undefined };
  let failed: unknown;
  const step = async (name: StepName, work: () => Promise<StepState | undefined>): Promise<boolean> => {
    try {
      const state = await work();
      if (state !== undefined) seen.steps[name] = state;
      return state === undefined || state.is === "done";
    } catch (error) {
      if (context.signal.aborted || isFault(error, "Conflict", "NotLeader", "Undeclared")) throw error;
      seen.steps[name] = { is: "failed", fault: asFault(error, `KamajiControlPlane/${controlPlane.metadata.name}`) };
      failed ??= error;
      return false;
    }
  };
  await takeSteps(context, { ways, controlPlane, cluster, seen, step });
  const before = controlPlane.status?.ready;
  // The endpoint may have been written meanwhile; the status is nobody else's.
  record.note(statusOf(controlPlane, seen, context.clock.now()));
  const after = await record.writeBeside({});
  tell(context, before, after, failed);
  if (failed !== undefined) throw failed;
  return DONE;
}

interface Keeping {
  ways: ExternalWays | undefined;
  controlPlane: KamajiControlPlane;
  cluster: Cluster;
  seen: Seen;
  step: (name: StepName, work: () => Promise<StepState | undefined>) => Promise<boolean>;
}

async function takeSteps(context: Context, { ways, controlPlane, cluster, seen, step }: Keeping): Promise<void> {
  const home = await homeOf(context, { ways, controlPlane, step });
  if (home === undefined) return;
  const isMade = await step("TenantControlPlaneCreated", async () => {
    seen.tenant = await home.find();
    seen.tenant = await keepTenant(home, controlPlane, cluster.spec.clusterNetwork);
    return DONE_STEP;
  });
  // One that is there and runs is reported as it runs, also while a change of it is refused.
  const { tenant } = seen;
  if (tenant === undefined) return;
  const endpoint = endpointOf(controlPlane, tenant);
  await step("TenantControlPlaneAddressReady", async () =>
    endpoint === undefined ? { is: "waits", for: addressWait(tenant) } : DONE_STEP,
  );
  if (endpoint !== undefined) {
    await step("ControlPlaneEndpointPatched", () => writeEndpoint(context, controlPlane, endpoint));
    await step("InfrastructureClusterPatched", () => keepInfrastructure(context, controlPlane, cluster, endpoint));
  }
  if (isMade || tenant.status !== undefined)
    await step("KubeadmResourcesCreated", () =>
      keepSecrets(context, { home, controlPlane, cluster: cluster.metadata.name }, tenant),
    );
}

/** Where the tenant is; undefined: that can't be said, and the step says why. */
async function homeOf(
  context: Context,
  { ways, controlPlane, step }: Pick<Keeping, "ways" | "controlPlane" | "step">,
): Promise<TenantHome | undefined> {
  if (!isElsewhere(controlPlane)) return localHome(context, controlPlane);
  let home: TenantHome | undefined;
  await step("FoundExternalReferenceClient", async () => {
    home = await placeOf(ways, context, controlPlane);
    return DONE_STEP;
  });
  return home;
}

/** Where clients reach the tenant: by its Gateway or Ingress, where it has one. */
function endpointOf({ spec }: KamajiControlPlane, tenant: TenantControlPlane): Endpoint | undefined {
  const way = spec.network.gateway ?? spec.network.ingress;
  const text = tenant.status?.controlPlaneEndpoint ?? "";
  if (text === "") return undefined;
  if (way !== undefined) return hostAndPort(way.hostname);
  const { host, port } = hostAndPort(text);
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port };
}

function addressWait({ metadata, status }: TenantControlPlane): string {
  const { waitingFor } = (status ?? {}) as { waitingFor?: string };
  return `an address of TenantControlPlane ${metadata.name}${waitingFor ? `: ${waitingFor}` : ""}`;
}

async function writeEndpoint(
  { client }: Context,
  controlPlane: KamajiControlPlane,
  endpoint: Endpoint,
): Promise<StepState> {
  const { host, port } = controlPlane.spec.controlPlaneEndpoint ?? {};
  if (host === endpoint.host && port === endpoint.port) return DONE_STEP;
  const body = { spec: { controlPlaneEndpoint: endpoint } };
  await client.patch(KamajiControlPlane, refOf(controlPlane), { type: "merge", body });
  return DONE_STEP;
}

/** Events for what a person would want to have seen. */
function tell({ events }: Context, before: boolean | undefined, after: KamajiControlPlane, failed: unknown): void {
  if (failed !== undefined) events.warning(after, "Failed", asFault(failed, after.metadata.name).advice);
  else if (after.status?.ready === true && before !== true)
    events.normal(after, "Ready", "the control plane can be used");
  else if (after.status?.ready !== true && before === true)
    events.warning(after, "NotReady", `the control plane can't be used: ${after.status?.waitingFor ?? "unknown"}`);
}

/** Deletes the tenant and waits until it is gone, which its deletion reports. */
async function end(ways: ExternalWays | undefined, context: Context, record: Record): Promise<Outcome> {
  const controlPlane = record.object;
  const { finalizers = [] } = controlPlane.metadata;
  if (!finalizers.includes(FINALIZER) && !finalizers.includes(EXTERNAL_FINALIZER)) return DONE;
  const hold = (what: string) => record.write(heldStatus(controlPlane, { what, paused: false }, context.clock.now()));
  let home: TenantHome | undefined;
  let tenant: TenantControlPlane | undefined;
  try {
    home = await placeOf(ways, context, controlPlane);
    tenant = await home?.find();
  } catch (error) {
    const { advice } = asFault(error, `KamajiControlPlane/${controlPlane.metadata.name}`);
    await hold(`the tenant's cluster, where the tenant is to be deleted: ${advice}`);
    throw error;
  }
  if (home !== undefined && tenant !== undefined && isOurs(home, tenant)) {
    await hold(`TenantControlPlane ${tenant.metadata.name} to be deleted`);
    if (tenant.metadata.deletionTimestamp === undefined) await home.remove(tenant);
    return DONE;
  }
  for (const finalizer of [FINALIZER, EXTERNAL_FINALIZER])
    await removeFinalizer(context.client, KamajiControlPlane, controlPlane, finalizer);
  return DONE;
}

function controlPlaneOfCluster({ metadata, spec }: Cluster): Ref[] {
  const { kind, apiGroup, name } = spec.controlPlaneRef ?? {};
  const isOurs = kind === KamajiControlPlane.kind && apiGroup === KamajiControlPlane.group;
  return isOurs ? controlPlaneNamed(metadata.namespace, name) : [];
}

function controlPlaneNamed(namespace: string | undefined, name: string | undefined): Ref[] {
  return namespace === undefined || name === undefined ? [] : [{ namespace, name }];
}

/** The control planes that own an object. */
function ownersOf({ metadata }: KubeObject): Ref[] {
  return (metadata.ownerReferences ?? [])
    .filter(({ kind }) => kind === KamajiControlPlane.kind)
    .flatMap(({ name }) => controlPlaneNamed(metadata.namespace, name));
}
