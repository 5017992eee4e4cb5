import { asFault, isFault } from "@slipway/base";
import {
  addFinalizer,
  type Cache,
  type Context,
  type Controller,
  controllerOf,
  DONE,
  isTrue,
  keyOf,
  type Outcome,
  type Ref,
  type Resource,
  refOf,
  removeFinalizer,
  StatusRecord,
  source,
} from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { asksForLabels, isAllowed } from "../../inventory/claims/deploy-policy.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HostDeployPolicy } from "../../kinds/metal3/host-deploy-policy.ts";
import { hostedPlaneOf, sipNamesOf } from "../../kinds/sip/hosted.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE, FINALIZER } from "../../kinds/sip/labels.ts";
import { SIPCluster } from "../../kinds/sip/sip-cluster.ts";
import { hostsOf, passedOf, reported, shortage, type Verdict, verdictOf } from "./cluster-status.ts";
import { hostId, isConsumed, isLabelled } from "./hosts/belonging.ts";
import { adopt, giveBack, handOver } from "./hosts/claims.ts";
import { type Gathered, gather } from "./hosts/gather.ts";
import { clusterAskedFor, handOvers, Metal3Machine } from "./hosts/hand-over.ts";
import { type HostFacts, isHostFault } from "./hosts/host-facts.ts";
import { KnownFacts } from "./hosts/known-facts.ts";
import { SIP } from "./names.ts";
import { wishOf, wrongWith } from "./schedule/wish.ts";
import { CLUSTER_INDEXES, HOST_INDEXES, hostVersion, SecretMetadata, usersOf } from "./secrets/versions.ts";
import { serviceHosts } from "./services/host.ts";
import { KeptServices, networksOf, OBJECTS } from "./services/keep.ts";
import { backendOf, tenantSettings } from "./tenant/tenant-settings.ts";

/** While something is waited for that no event reports: a Secret, a port. */
const WAITING_MS = 60_000;
/** After a first shortage: a host that came free before that was written woke nobody. */
const SHORT_MS = 1_000;
const RELEASING_MS = 10_000;
/** Certificates of providers are renewed in time; all else has an event. */
const RESTING_MS = 10 * 60_000;

/** Gives each SIPCluster its hosts and its services, and keeps its status true. */
export function sipClusterController(): Controller {
  const services = new KeptServices();
  const turns = new Turns();
  const known = new KnownFacts();
  return {
    name: "sip-cluster",
    system: SIP,
    // Clusters that compete for a host are told apart by the host's version: the one that comes late passes it over.
    owner: (ref) => `sipclusters/${keyOf(ref)}`,
    sources: [
      source({
        resource: SIPCluster,
        indexes: CLUSTER_INDEXES,
        when: (cluster, before) => asks(cluster) !== asks(before),
      }),
      source({
        resource: BareMetalHost,
        optional: true,
        indexes: HOST_INDEXES,
        when: (host, before) => matters(host) !== matters(before),
        keys: (host, before, cache) => [
          ...[host, before].flatMap((each) => clusterOf(each)),
          // A host that can be had may be what any of them waits for.
          ...unready(cache),
        ],
      }),
      source({
        resource: SecretMetadata,
        keys: (secret, _, cache) => {
          const { clusters, hosts } = usersOf(cache, refOf(secret));
          const isFree = hosts.some((host) => clusterOf(host).length === 0);
          return [...clusters, ...hosts.flatMap(clusterOf), ...(isFree ? unready(cache) : [])];
        },
      }),
      source({
        resource: HostDeployPolicy,
        optional: true,
        keys: (_, __, cache) => cache.list(SIPCluster).map(refOf),
      }),
      source({
        resource: TenantControlPlane,
        optional: true,
        when: (plane, before) => reachedAt(plane) !== reachedAt(before),
        keys: (plane, before) =>
          [plane, before].flatMap((each) =>
            each === undefined ? [] : sipNamesOf(each).map((name) => ({ namespace: each.metadata.namespace!, name })),
          ),
      }),
      source({
        resource: Metal3Machine,
        optional: true,
        keys: (machine) => [clusterAskedFor(machine)].filter((each) => each !== undefined),
      }),
      ...OBJECTS.map(ofClusters),
    ],
    access: [
      { resource: SIPCluster, verbs: ["get", "patch"] },
      { resource: SIPCluster, verbs: ["update"], subresource: "status" },
      { resource: BareMetalHost, verbs: ["get", "list", "patch"] },
      { resource: Namespace, verbs: ["get"] },
      { resource: Secret, verbs: ["get", "create", "patch", "delete"] },
      ...OBJECTS.filter((resource) => resource !== Secret).map((resource) => ({
        resource,
        verbs: ["create", "patch", "delete"] as const,
      })),
    ],
    async reconcile(ref, context) {
      const cluster = context.cache.get(SIPCluster, ref);
      if (cluster === undefined) return DONE;
      const record = new StatusRecord(context, SIPCluster, cluster);
      if (cluster.metadata.deletionTimestamp !== undefined) return await end(services, context, record);
      if (!cluster.metadata.finalizers?.includes(FINALIZER)) {
        await addFinalizer(context.client, SIPCluster, cluster, FINALIZER);
        return DONE;
      }
      return await keepCluster({ services, turns, known }, context, record);
    },
  };
}

/** One after another: each sees what the one before has taken, and none competes with another of the same replica. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  next<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

type Record = StatusRecord<SIPCluster>;

async function keepCluster(
  { services, turns, known }: { services: KeptServices; turns: Turns; known: KnownFacts },
  context: Context,
  record: Record,
): Promise<Outcome> {
  const cluster = record.object;
  const { client, clock, cache } = context;
  const networks = networksOf(cluster);
  const wish = wishOf(cluster);
  const wrong = wrongWith(wish);
  if (wrong !== undefined) {
    await record.write(reported(cluster, { reason: "Unschedulable", message: wrong, waitsFor: wrong }, clock.now()));
    return DONE;
  }
  const closed = await closedTo(cluster, context);
  const facts = (host: BareMetalHost): Promise<HostFacts> =>
    known.of(client, host, { networks, version: hostVersion(cache, host), now: clock.now() });
  const of = { client, now: clock.now(), cluster, wish, facts, closed };
  const gathered = await turns.next(() => gather(of, cache.list(BareMetalHost)));
  announce(context, cluster, gathered);
  const leaving = await releaseAll(gathered.planned.release, gathered, context, cluster);
  const { planned } = gathered;
  if (planned.short.length > 0) {
    const message = shortage(planned);
    const isKnown = cluster.status?.conditions?.some(({ reason }) => reason === "Unschedulable") ?? false;
    if (!isKnown) context.events.warning(cluster, "Unschedulable", message);
    const verdict: Verdict = { reason: "Unschedulable", message, waitsFor: `hosts: ${message}` };
    const outcome = await tell(context, record, verdict, { gathered, facts: new Map() });
    return isKnown ? outcome : { againAfterMs: SHORT_MS };
  }
  const read = await factsOf(context, cluster, gathered, { networks, facts });
  if ("problem" in read) return await tell(context, record, read.problem, { gathered, facts: new Map() });
  const all = [...read.found].map(([id, { addresses, bmc, role }]) => {
    const { name, namespace = "" } = gathered.hosts.get(id)!.metadata;
    return { name, namespace, role, addresses, bmc };
  });
  await handAll(context, cluster, gathered);
  const plane = hostedPlaneOf(cluster, cache.list(TenantControlPlane, cluster.metadata.namespace));
  const hosted = plane && backendOf(plane.metadata.name, plane.status?.controlPlaneEndpoint);
  const kept = await services.keep(context, cluster, { hosts: serviceHosts(all), hosted });
  const tenant = tenantSettings(cluster, kept.oidc);
  record.note({ endpoints: kept.endpoints, tenant });
  return await tell(context, record, verdictOf(kept, leaving), { gathered, facts: read.found });
}

function announce({ events }: Context, cluster: SIPCluster, { claimed }: Gathered): void {
  if (claimed.length > 0)
    events.normal(cluster, "HostsClaimed", claimed.map(({ host, role }) => `${host} for ${role}`).join(", "));
}

/** Machines of Cluster API get the hosts that they ask for by the cluster's labels. */
async function handAll({ client, cache, events }: Context, cluster: SIPCluster, { hosts }: Gathered): Promise<void> {
  const own = [...hosts.values()].filter((host) => isLabelled(host, cluster));
  for (const { host, to } of handOvers(cluster, own, cache.list(Metal3Machine)))
    if ((await handOver(client, host, to)) !== undefined)
      events.normal(cluster, "HostHandedOver", `${hostId(host)} to ${to.kind} ${to.namespace}/${to.name}`);
}

/** Resolves with what is waited for. */
async function releaseAll(
  ids: readonly string[],
  { hosts }: Gathered,
  context: Context,
  cluster: SIPCluster,
): Promise<string[]> {
  const waits: string[] = [];
  for (const id of ids) {
    const waitsFor = await giveBack(context.client, hosts.get(id)!, cluster);
    if (waitsFor === undefined) context.events.normal(cluster, "HostReleased", id);
    else waits.push(`${id}: waits for ${waitsFor}`);
  }
  return waits;
}

type Facts = HostFacts & { role: string };

/** What is known of all hosts that the cluster has. A Secret that has gone since leaves the addresses that were known. */
async function factsOf(
  { client }: Context,
  cluster: SIPCluster,
  { planned, hosts }: Gathered,
  { networks, facts }: { networks: readonly string[]; facts: (host: BareMetalHost) => Promise<HostFacts> },
): Promise<{ found: Map<string, Facts> } | { problem: Verdict }> {
  const found = new Map<string, Facts>();
  const kept = [...planned.keep].flatMap(([role, ids]) => ids.map((host) => ({ host, role })));
  for (const { host: id, role } of [...kept, ...planned.take]) {
    const host = hosts.get(id)!;
    if (!isLabelled(host, cluster)) {
      const message = `${id} was changed while it was labelled`;
      return { problem: { reason: "UnableToApplyLabels", message, waitsFor: `${id} to be labelled` } };
    }
    if (host.spec.consumerRef === undefined) await adopt(client, host, cluster);
    try {
      found.set(id, { ...(await facts(host)), role });
    } catch (error) {
      if (!isHostFault(error)) throw error;
      const known = cluster.status?.hosts?.find((each) => `${each.namespace}/${each.name}` === id)?.addresses ?? {};
      if (!networks.every((network) => known[network] !== undefined)) {
        const message = `${id}: ${asFault(error, id).advice}`;
        return { problem: { reason: "InfraServiceFailure", message, waitsFor: message } };
      }
      found.set(id, { addresses: known, role });
    }
  }
  return { found };
}

async function tell(
  context: Context,
  record: Record,
  verdict: Verdict,
  { gathered: { planned, hosts }, facts }: { gathered: Gathered; facts: ReadonlyMap<string, HostFacts> },
): Promise<Outcome> {
  const cluster = record.object;
  const before = new Map((cluster.status?.hosts ?? []).map((each) => [`${each.namespace}/${each.name}`, each]));
  const known = new Map(
    [...hosts].map(([id, host]) => {
      const addresses = facts.get(id)?.addresses ?? before.get(id)?.addresses ?? {};
      return [id, { host, addresses }];
    }),
  );
  const scheduled = hostsOf(cluster, planned, known);
  const wanted = wishOf(cluster).roles.reduce((sum, { count }) => sum + count, 0);
  if (verdict.reason === "ReconciliationSucceeded" && !isTrue(cluster.status?.conditions, "Ready"))
    context.events.normal(cluster, "ReconciliationSucceeded", `${scheduled.length} hosts, and all services answer`);
  await record.write({
    scheduled: `${scheduled.length}/${wanted}`,
    hosts: scheduled,
    passedOver: passedOf(planned),
    ...reported(cluster, verdict, context.clock.now()),
  });
  if (verdict.reason === "ReconciliationSucceeded" && verdict.waitsFor === undefined)
    return { againAfterMs: RESTING_MS * (1 - context.random.fraction() / 4) };
  return { againAfterMs: verdict.reason === "ReconciliationSucceeded" ? RELEASING_MS : WAITING_MS };
}

/** Gives everything back. Its finalizer goes when nothing is left. */
async function end(services: KeptServices, context: Context, record: Record): Promise<Outcome> {
  const cluster = record.object;
  if (!cluster.metadata.finalizers?.includes(FINALIZER)) return DONE;
  const { client, cache, clock } = context;
  const left = await services.remove(context, cluster);
  const { uid } = cluster.metadata;
  const labelSelector = `${CLUSTER_NAMESPACE}=${cluster.metadata.namespace},${CLUSTER_NAME}=${cluster.metadata.name}`;
  const live = (await client.list(BareMetalHost, { labelSelector }).catch(none)).items;
  const hosts = new Map([...cache.list(BareMetalHost), ...live].map((host) => [hostId(host), host]));
  const waits = left > 0 ? [`${left} objects of its services to be deleted`] : [];
  for (const host of hosts.values()) {
    if (!isLabelled(host, cluster) && !isConsumed(host, cluster)) continue;
    const waitsFor = await giveBack(client, host, cluster);
    if (waitsFor !== undefined) waits.push(`${hostId(host)}: waits for ${waitsFor}`);
  }
  if (waits.length === 0) {
    await removeFinalizer(client, SIPCluster, cluster, FINALIZER);
    context.log.info({ uid }, "a SIPCluster has given everything back");
    return DONE;
  }
  const message = waits.join("; ");
  const verdict: Verdict = { reason: "UnableToDecommission", message, waitsFor: message };
  await record.write(reported(cluster, verdict, clock.now()));
  return { againAfterMs: RELEASING_MS };
}

/** A cluster without Metal3's definitions has no hosts. */
function none(error: unknown): { items: BareMetalHost[] } {
  if (isFault(error, "NotFound")) return { items: [] };
  throw error;
}

/** Namespaces whose hosts the cluster may not have: those with policies that don't let it. */
async function closedTo({ metadata }: SIPCluster, { cache, client }: Context): Promise<Set<string>> {
  const own = metadata.namespace ?? "";
  const policies = Map.groupBy(cache.list(HostDeployPolicy), (policy) => policy.metadata.namespace ?? "");
  policies.delete(own);
  const all = [...policies.values()].flat();
  const labels = asksForLabels(all) ? ((await client.find(Namespace, { name: own }))?.metadata.labels ?? {}) : {};
  const closed = [...policies].filter(([, those]) => !isAllowed(those, { name: own, labels }));
  return new Set(closed.map(([namespace]) => namespace));
}

function unready(cache: Cache): Ref[] {
  const clusters = cache.list(SIPCluster);
  return clusters.filter(({ status }) => !isTrue(status?.conditions, "Ready")).map(refOf);
}

/** The clusters that a host is or was in. */
function clusterOf(host: BareMetalHost | undefined): { namespace: string; name: string }[] {
  const { labels = {} } = host?.metadata ?? {};
  const [namespace, name] = [labels[CLUSTER_NAMESPACE], labels[CLUSTER_NAME]];
  const held = host?.spec.consumerRef;
  const isHeld = held?.kind === SIPCluster.kind && held.name !== undefined && held.namespace !== undefined;
  return [
    ...(namespace !== undefined && name !== undefined ? [{ namespace, name }] : []),
    ...(isHeld ? [{ namespace: held.namespace!, name: held.name! }] : []),
  ];
}

/** What of a cluster decides: its own status does not. */
const asks = ({ metadata }: SIPCluster): string =>
  JSON.stringify([metadata.uid, metadata.generation, metadata.deletionTimestamp, metadata.finalizers]);

/** What of a hosted control plane decides. */
const reachedAt = (plane: TenantControlPlane): string =>
  JSON.stringify([sipNamesOf(plane), plane.metadata.deletionTimestamp, plane.status?.controlPlaneEndpoint]);

/** What of a host decides. The version of its credentials changes with their Secret. */
const matters = ({ metadata, spec, status }: BareMetalHost): string =>
  JSON.stringify([
    metadata.labels,
    metadata.annotations,
    metadata.deletionTimestamp,
    spec,
    status?.provisioning?.state,
    status?.errorMessage,
    status?.goodCredentials?.credentialsVersion,
  ]);

/** Objects that were made for a cluster wake it. */
function ofClusters(resource: Resource) {
  return source({
    resource,
    labelSelector: "app.kubernetes.io/part-of=sip",
    keys: (object) => {
      const owner = controllerOf(object);
      return owner?.kind === SIPCluster.kind ? [{ namespace: object.metadata.namespace!, name: owner.name }] : [];
    },
  });
}
