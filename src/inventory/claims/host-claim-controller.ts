import { asFault, isFault } from "@slipway/base";
import {
  addFinalizer,
  type Condition,
  type Context,
  type Controller,
  DONE,
  keyOf,
  type Outcome,
  refOf,
  removeFinalizer,
  StatusRecord,
  setCondition,
  source,
} from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HostClaim } from "../../kinds/metal3/host-claim.ts";
import { HostDeployPolicy } from "../../kinds/metal3/host-deploy-policy.ts";
import { NETBOOT } from "../discovery/controller.ts";
import { claimedElsewhere, type DrivenElsewhere, METAL3_OPERATOR_ACCESS } from "../hosts/metal3-operator.ts";
import { fitting } from "./choose.ts";
import { claimHost, consumerOf, hostOf, isConsumedBy, releaseHost } from "./claim.ts";
import { asksForLabels, isAllowed } from "./deploy-policy.ts";
import { claimedBy, claimsFor, isNews, offered, waits } from "./waiting-claims.ts";

const CLAIM_FINALIZER = "hostclaim.metal3.io";
/** Until the next look for a host: one that comes free wakes the claims, too. */
const LOOK_MS = 60_000;
const RELEASE_MS = 10_000;

/** Gives each HostClaim a BareMetalHost of its own namespace, or of one whose HostDeployPolicy lets it, and has that install what the claim says. */
export function hostClaimController({
  drivenElsewhere,
}: {
  /** Whether another operator drives the hosts. Where it serves HostClaims itself, nothing is done with them here. */
  drivenElsewhere: DrivenElsewhere;
}): Controller {
  const servedElsewhere = claimedElsewhere(drivenElsewhere);
  /** When the reason was last written to each claim that waits, in ms, monotonic. */
  const told = new Map<string, number>();
  return {
    name: "host-claim",
    system: NETBOOT,
    // Of two replicas' claims the one that writes the host's consumerRef first has it, and the other goes on to the next host.
    owner: (ref) => `host-claim/${keyOf(ref)}`,
    left: (ref) => void told.delete(keyOf(ref)),
    sources: [
      source({ resource: HostClaim, optional: true, indexes: { waits } }),
      source({
        resource: BareMetalHost,
        indexes: { offered, claimedBy },
        keys: (host, before, cache) => {
          const held = [host.spec.consumerRef, before?.spec.consumerRef].flatMap((each) =>
            each?.kind === "HostClaim" && each.name !== undefined
              ? [{ name: each.name, ...(each.namespace !== undefined && { namespace: each.namespace }) }]
              : [],
          );
          if (!isNews(host, before)) return held;
          return [...held, ...claimsFor(host, cache.byIndex(HostClaim, "waits", "yes")).map(refOf)];
        },
      }),
      source({ resource: HostDeployPolicy, optional: true, keys: (_, __, cache) => cache.list(HostClaim).map(refOf) }),
    ],
    access: [
      { resource: HostClaim, verbs: ["get", "patch"] },
      { resource: HostClaim, verbs: ["update"], subresource: "status" },
      { resource: BareMetalHost, verbs: ["get", "list", "patch"] },
      { resource: Namespace, verbs: ["get"] },
      ...METAL3_OPERATOR_ACCESS,
    ],
    // Those of a replica one after another: each sees what the one before has taken.
    workers: 1,
    async reconcile(ref, context): Promise<Outcome> {
      if ((await servedElsewhere(context)) !== undefined) return { againAfterMs: LOOK_MS };
      const claim = context.cache.get(HostClaim, ref);
      if (claim === undefined) told.delete(keyOf(ref));
      if (claim === undefined) return DONE;
      if (claim.metadata.deletionTimestamp !== undefined) return release(claim, context);
      if (!isHeld(claim)) {
        await addFinalizer(context.client, HostClaim, claim, CLAIM_FINALIZER);
        return DONE;
      }
      return bind(claim, context, told);
    },
  };
}

function isHeld({ metadata }: HostClaim): boolean {
  return metadata.finalizers?.includes(CLAIM_FINALIZER) === true;
}

async function bind(claim: HostClaim, context: Context, told: Map<string, number>): Promise<Outcome> {
  const { client, cache, clock } = context;
  const consumer = consumerOf(HostClaim, claim);
  const key = keyOf(refOf(claim));
  try {
    const own = cache
      .byIndex(BareMetalHost, "claimedBy", claim.metadata.name)
      .filter((host) => isConsumedBy(host, consumer));
    const free = cache.byIndex(BareMetalHost, "offered", "yes");
    const near = [...own, ...free];
    const isHopeless = own.length === 0 && fitting(free, await wishOf(claim, free, context), consumer.uid).length === 0;
    const left = (told.get(key) ?? Number.NEGATIVE_INFINITY) + LOOK_MS - clock.monotonic();
    // What stands in the way of each host is counted once a minute, however many hosts change.
    if (isHopeless && left > 0) return { againAfterMs: left };
    const hosts = isHopeless ? cache.list(BareMetalHost) : near;
    const host = await claimHost(client, hosts, consumer, { wish: await wishOf(claim, hosts, context) });
    told.delete(key);
    await hand(claim, host, context);
    await report(claim, host, context);
    return DONE;
  } catch (error) {
    if (context.signal.aborted || !isFault(error, "NoCapacity", "Invalid", "Forbidden")) throw error;
    const { code, advice } = asFault(error, `HostClaim/${claim.metadata.name}`);
    await tell(claim, context, { type: "Ready", status: "False", reason: code, message: advice });
    if (code === "NoCapacity") told.set(key, clock.monotonic());
    return { againAfterMs: LOOK_MS };
  }
}

/** On hosts, as Cluster API's providers set it. */
const FAILURE_DOMAIN = "infrastructure.cluster.x-k8s.io/failure-domain";

async function wishOf({ metadata, spec }: HostClaim, hosts: readonly BareMetalHost[], context: Context) {
  const { inNamespace, ...labels } = spec.hostSelector ?? {};
  const own = metadata.namespace ?? "";
  const wanted = inNamespace === undefined || inNamespace === "" ? undefined : inNamespace;
  const all = [...new Set(hosts.map((host) => host.metadata.namespace ?? ""))];
  const namespaces: string[] = [];
  for (const namespace of wanted === undefined ? all : [wanted])
    if (namespace === own || (!hasSecrets(spec) && (await mayTake(own, namespace, context))))
      namespaces.push(namespace);
  const { failureDomain: value } = spec;
  return { namespaces, labels, ...(value ? { prefer: { label: FAILURE_DOMAIN, value } } : {}) };
}

/** A host reads Secrets of its own namespace: a claim from elsewhere would name Secrets that are not its user's. */
function hasSecrets({ userData, networkData, metaData }: HostClaim["spec"]): boolean {
  return [userData, networkData, metaData].some((reference) => reference?.name !== undefined);
}

async function mayTake(from: string, namespace: string, { cache, client }: Context): Promise<boolean> {
  const policies = cache.list(HostDeployPolicy, namespace);
  if (policies.length === 0) return false;
  const labels = asksForLabels(policies) ? ((await client.find(Namespace, { name: from }))?.metadata.labels ?? {}) : {};
  return isAllowed(policies, { name: from, labels });
}

/** Has the host be what the claim says. */
async function hand(claim: HostClaim, host: BareMetalHost, { client }: Context): Promise<void> {
  const { image, customDeploy, userData, networkData, metaData, poweredOn } = claim.spec;
  const wanted = { image, customDeploy, userData, networkData, metaData, online: poweredOn };
  const isSame = Object.entries(wanted).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify(host.spec[field as keyof typeof wanted]),
  );
  if (isSame) return;
  const body = {
    metadata: { resourceVersion: host.metadata.resourceVersion },
    spec: Object.fromEntries(Object.entries(wanted).map(([field, value]) => [field, value ?? null])),
  };
  await client.patch(BareMetalHost, refOf(host), { type: "merge", body });
}

async function report(claim: HostClaim, host: BareMetalHost, context: Context): Promise<void> {
  const reference = { name: host.metadata.name, namespace: host.metadata.namespace ?? "" };
  const ready = host.status?.conditions?.find(({ type }) => type === "Ready");
  const isReady = isHostReady(host, ready);
  const message = isReady ? "" : ready?.message || `the host is ${host.status?.provisioning?.state ?? "new"}`;
  const reason = isReady ? "HostReady" : "HostNotReady";
  await tell(
    claim,
    context,
    { type: "Ready", status: isReady ? "True" : "False", reason, message },
    { bareMetalHost: reference, hardwareData: reference, poweredOn: host.status?.poweredOn === true },
  );
}

/** An older operator of Metal3 writes no conditions: its host is ready once it is provisioned, and healthy. */
function isHostReady({ metadata, status }: BareMetalHost, ready: Condition | undefined): boolean {
  if (ready !== undefined) return ready.status === "True" && ready.observedGeneration === metadata.generation;
  return status?.provisioning?.state === "provisioned" && status.operationalStatus === "OK";
}

async function tell(
  claim: HostClaim,
  context: Context,
  condition: { type: string; status: "True" | "False"; reason: string; message: string },
  fields: Partial<NonNullable<HostClaim["status"]>> = {},
): Promise<void> {
  const observedGeneration = claim.metadata.generation ?? 0;
  const conditions = setCondition(claim.status?.conditions, { ...condition, observedGeneration }, context.clock.now());
  await new StatusRecord(context, HostClaim, claim).write({ ...fields, conditions });
}

async function release(claim: HostClaim, context: Context): Promise<Outcome> {
  const { client, cache } = context;
  if (!isHeld(claim)) return DONE;
  const consumer = consumerOf(HostClaim, claim);
  const host = await hostOf(client, cache.list(BareMetalHost), consumer);
  const waiting = host && (await releaseHost(client, host, consumer));
  if (waiting !== undefined) {
    await tell(claim, context, {
      type: "Ready",
      status: "False",
      reason: "Releasing",
      message: `waits for ${waiting}`,
    });
    return { againAfterMs: RELEASE_MS };
  }
  await removeFinalizer(client, HostClaim, claim, CLAIM_FINALIZER);
  return DONE;
}
