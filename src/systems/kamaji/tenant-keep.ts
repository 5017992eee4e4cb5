/** One step for a tenant that is to run: its place, its certificates, its plane, what is in it, its status. */
import { Fault, rfc3339 } from "@slipway/base";
import { type Context, isTrue, type Outcome, type StatusRecord, type Transport } from "@slipway/kube";
import { createHttpTransport } from "@slipway/kube/http";
import type { JoinFacts } from "../../bootstrap/kubeadm/join-facts.ts";
import { joinMark, joinObjects, markOf } from "../../bootstrap/kubeadm/join-objects.ts";
import { problemsOf } from "../../kinds/kamaji/check.ts";
import { type CompleteSpec, completeSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { TenantSettings } from "../../kinds/sip/sip-cluster.ts";
import { credentialsOf } from "../../pki/tenant/credentials.ts";
import { apiServerHosts } from "../../pki/tenant/hosts.ts";
import type { JudgedPki } from "../../pki/tenant/judged.ts";
import type { Applied } from "../../tenants/deployment/applied.ts";
import type { Observed } from "../../tenants/plane.ts";
import type { Home, Place, Placeless, Runtime } from "../../tenants/runtime.ts";
import type { Aside } from "./aside.ts";
import { joinFactsOf } from "./join-facts-of.ts";
import { keepKubeadmConfig } from "./kubeadm-config-map.ts";
import { RUNS_ON } from "./names.ts";
import type { Override } from "./overrides.ts";
import { planeOf } from "./plane-of.ts";
import type { Runtimes } from "./runtimes.ts";
import type { Stores } from "./stores.ts";
import { boundGroups, oidcOf, subClusterSettings } from "./sub-cluster.ts";
import { addonLeftOvers, addonsToAnnounce } from "./tenant-addons.ts";
import type { TenantContents } from "./tenant-contents.ts";
import { konnectivityContents } from "./tenant-konnectivity.ts";
import { copyOver, nextMove, tidyMove } from "./tenant-migration.ts";
import { nextOverrides } from "./tenant-overrides.ts";
import { keepPki, type MakePki, type Reached, type TenantPki } from "./tenant-pki.ts";
import { keepPlace, type Storage, type TenantPlace } from "./tenant-place.ts";
import { placelessStatus, ROTATING, type TenantFacts, tenantStatusOf, waitOf } from "./tenant-status-of.ts";
import { versionToRun } from "./tenant-version.ts";
import { isSameRelease } from "./upgrade.ts";
import { writeBlock } from "./write-permissions.ts";

/** At the latest. */
const LOOK_MS = 60_000;
const WAITING_MS = 2_000;
/** What holds an upgrade back, or is put into it, is in the tenant, which nobody watches. */
const HELD_BACK_MS = 15_000;

export type TenantRecord = StatusRecord<TenantControlPlane>;

/** What tenants are run with. */
export interface TenantParts {
  runtimes: Runtimes;
  stores: Stores;
  contents: TenantContents;
  /** What is asked of tenants' own APIs. */
  aside: Aside;
  /** Objects beside the tenant that every runtime's tenants have. */
  applied: Applied;
  judged: JudgedPki;
  /** Default: on threads of this process. */
  makePki?: MakePki;
}

/** Brings one tenant a step on and writes how it is. Rejects with what prevents it. */
export async function keepTenant(
  { runtimes, stores, contents, aside, applied, judged, makePki }: TenantParts,
  context: Context,
  record: TenantRecord,
): Promise<Outcome> {
  const tenant = record.object;
  const { signal } = context;
  refuseFaulty(tenant);
  const spec = completeSpec(tenant);
  const runtime = await runtimes.of(tenant.metadata.annotations?.[RUNS_ON]);
  const home = { tenant, spec, client: context.client, cache: context.cache };
  const place = await placeOf(runtime, home);
  if ("waitsFor" in place) {
    await record.write(placelessStatus(tenant, place.waitsFor, context.clock.now()));
    return { againAfterMs: LOOK_MS };
  }
  // The embedded runtime keeps objects by itself.
  const move = runtime.name === "embedded" ? undefined : await nextMove(stores, context, { tenant, spec });
  if (move?.step === "announced") return { againAfterMs: 0 };
  const overrides = move && (await nextOverrides(stores, context, { tenant, spec: { ...spec, dataStore: move.at } }));
  if (overrides?.announced) return { againAfterMs: 0 };
  const store =
    move &&
    (await storeOf(stores, context, record, { spec: { ...spec, dataStore: move.at }, overrides: overrides?.use }));
  const given = subClusterSettings(context.cache, tenant);
  const use = { storeUser: store?.storeUser, hasKonnectivity: goesThroughKonnectivity(runtime, spec) };
  const reached = reachedAt(tenant, spec, place, given);
  const pki = await keepPki(context, tenant, { ...reached, ...use }, { judged, makePki });
  tellOfRenewals(context, tenant, pki);
  const wayIn = (): Transport => runtime.transport?.(tenant.metadata.uid) ?? wayInto(pki);
  const copied = move?.step.do === "copy" ? move.step.record : undefined;
  const now = copied === undefined ? spec : asleep(spec);
  const beside = besideOf(aside, context, tenant);
  const { version, obstacle } = await versionToRun(runtime, { tenant, spec: now }, { wayIn, beside }, signal);
  const joined = joinFactsOf(tenant, spec, { version, place, pki });
  const kubeadmConfig = await keepKubeadmConfig(applied, context, tenant, joined);
  const oidc = oidcOf(given);
  const plane = planeOf(tenant, now, { version, place, pki: pki.held, oidc, ...(store !== undefined && { store }) });
  const seen = await runtime.ensure(plane, signal, { ...home, spec: now });
  const observed = { ...seen, ignored: [...(seen.ignored ?? []), ...ignoredBy(runtime, spec, given)] };
  if (copied !== undefined) return await copyOver(stores, context, record, { spec, observed, migration: copied });
  // The embedded API has webhooks alone.
  const hasPolicies = runtime.name !== "embedded";
  const joinedBy = await fill({ contents, aside }, context, record, {
    ...{ tenant, spec, place, pki, wayIn, joined, hasPolicies, observed, given },
  });
  const tidied = await tidyMove(stores, context, record.object, { spec, step: move?.step, observed });
  if (tidied === true) return { againAfterMs: 0 };
  return await report(context, record, {
    ...{
      spec,
      place,
      pki,
      kubeadmConfig,
      observed: whenFilled(record.object, observed, joinedBy),
      running: version,
      now: context.clock.now(),
    },
    ...(joinedBy !== undefined && { joinedBy }),
    ...(store !== undefined && { store }),
    isMoving: move?.step.do === "clean",
    obstacle:
      obstacle ??
      move?.obstacle ??
      overrides?.obstacle ??
      tidied ??
      writesNotBlocked(tenant, spec, version, hasPolicies),
  });
}

/** Writes how it is. */
async function report(context: Context, record: TenantRecord, facts: TenantFacts): Promise<Outcome> {
  const { spec, observed, obstacle, running: version } = facts;
  const tenant = record.object;
  const before = tenant.status?.kubernetesResources?.version;
  await record.write({ ...tenantStatusOf(tenant, facts), ...waitOf(tenant, facts, facts.now) });
  const after = record.object.status?.kubernetesResources?.version;
  tellOfUpgrade(context, tenant, { before, after, to: version });
  if (after?.status === "Upgrading" && isSameRelease(after.version, version)) return { againAfterMs: 0 };
  if (after?.status === ROTATING && observed.readyReplicas > 0) return { againAfterMs: 0 };
  // The end of what takes long wakes the tenant.
  if (obstacle || observed.components.some(({ component }) => component === FILLING))
    return { againAfterMs: HELD_BACK_MS };
  const rests = observed.readyReplicas > 0 || spec.controlPlane.deployment.replicas === 0;
  // Tenants that became ready together are looked at at different times later.
  return { againAfterMs: rests ? LOOK_MS * (1 - context.random.fraction() / 4) : WAITING_MS };
}

function asleep(spec: CompleteSpec): CompleteSpec {
  const { controlPlane } = spec;
  return { ...spec, controlPlane: { ...controlPlane, deployment: { ...controlPlane.deployment, replicas: 0 } } };
}

function tellOfRenewals({ events }: Context, tenant: TenantControlPlane, { made }: TenantPki): void {
  for (const { part, because } of made)
    if (because !== "missing") events.normal(tenant, "CertificateRenewed", `${part}: ${because}`);
}

/** Its place in its DataStore. */
async function storeOf(
  stores: Stores,
  context: Context,
  record: TenantRecord,
  { spec, overrides = [] }: { spec: CompleteSpec; overrides: readonly Override[] | undefined },
): Promise<TenantPlace> {
  const announce = async (storage: Storage): Promise<void> => {
    const held = record.object.status?.storage;
    await record.write({ storage: { ...held, ...storage, setup: { ...held?.setup, ...storage.setup } } });
  };
  return await keepPlace(stores, context, { tenant: record.object, spec }, { overrides, announce });
}

function goesThroughKonnectivity({ hasKonnectivity = false }: Runtime, { addons }: CompleteSpec): boolean {
  return hasKonnectivity && addons?.konnectivity !== undefined;
}

/** What a runtime does not do that the specification asks for. */
function ignoredBy(runtime: Runtime, spec: CompleteSpec, { oidc }: TenantSettings): string[] {
  const { ingress, gateway } = spec.controlPlane;
  const outside = runtime.name === "deployment" ? {} : { ingress, gateway };
  const isUnserved = spec.addons?.konnectivity !== undefined && !goesThroughKonnectivity(runtime, spec);
  return [
    ...(isUnserved ? [`spec.addons.konnectivity: runtime ${runtime.name} has no server for it`] : []),
    ...Object.entries(outside)
      .filter(([, value]) => value !== undefined)
      .map(([field]) => `spec.controlPlane.${field}: runtime ${runtime.name} has no Service to lead to`),
    ...(runtime.name === "embedded" && oidc !== undefined
      ? ["the SIPCluster's OpenID Connect provider: an embedded API knows no such users"]
      : []),
    ...(runtime.name === "embedded" && (spec.dataStoreOverrides?.length ?? 0) > 0
      ? ["spec.dataStoreOverrides: runtime embedded keeps all objects itself"]
      : []),
  ];
}

interface Installed {
  version?: string | undefined;
  status?: string | undefined;
}

/** What the status had, what it has now, and the version that runs. */
interface InstalledChange {
  before: Installed | undefined;
  after: Installed | undefined;
  to: string | undefined;
}

function tellOfUpgrade(
  { events }: Context,
  tenant: TenantControlPlane,
  { before, after, to = "" }: InstalledChange,
): void {
  if (!before?.version) return;
  if (after?.version !== before.version)
    events.normal(tenant, "Upgraded", `from ${before.version} to ${after?.version}`);
  else if (after.status === "Upgrading" && before.status !== "Upgrading")
    events.normal(tenant, "Upgrading", `from ${before.version} to ${to}`);
}

function writesNotBlocked(
  { metadata }: TenantControlPlane,
  { writePermissions = {} }: CompleteSpec,
  version: string,
  hasPolicies: boolean,
): Fault | undefined {
  const { problem } = writeBlock(writePermissions, version, hasPolicies);
  if (problem === undefined) return undefined;
  return new Fault("Unsupported", `TenantControlPlane/${metadata.name}`, problem, {
    remedy: "upgrade it, or remove them",
  });
}

function refuseFaulty(tenant: TenantControlPlane): void {
  const problems = problemsOf(tenant);
  if (problems.length === 0) return;
  const what = problems.map(({ field, message }) => `${field}: ${message}`).join("; ");
  throw new Fault("Invalid", `TenantControlPlane/${tenant.metadata.name}`, what, {
    remedy: "correct the specification",
  });
}

/** Where it listens: what the status says, else what the specification asks for, or the next free port after it. */
async function placeOf(runtime: Runtime, home: Home & { spec: CompleteSpec }): Promise<Place | Placeless> {
  const { tenant, spec } = home;
  const { metadata, status } = tenant;
  const { address, port } = spec.networkProfile;
  const before = /^\[?([^\]]+?)\]?:(\d+)$/.exec(status?.controlPlaneEndpoint ?? "");
  // A port of the nodes is one that others were told; a load balancer's may be any.
  const exact = spec.controlPlane.service.serviceType === "NodePort";
  const host = address || undefined;
  const again = before !== null && !exact && (host === undefined || host === before[1]);
  const wanted = again
    ? { host: before[1]!, port: Number(before[2]), exact: false }
    : { ...(host && { host }), port, exact };
  return await runtime.place(metadata.uid, wanted, home);
}

function reachedAt(
  { metadata }: TenantControlPlane,
  { networkProfile, controlPlane }: CompleteSpec,
  { host, port, local = host }: Place,
  { certSANs: given = [] }: TenantSettings,
): Reached {
  const { name, namespace = "" } = metadata;
  const { clusterDomain, serviceCidrs, certSANs = [], advertiseAddress } = networkProfile;
  const { ingress, gateway } = controlPlane;
  const outside = [advertiseAddress, ingress?.hostname?.replace(/:\d+$/, ""), gateway?.hostname];
  const others = [
    host,
    ...outside.filter((name) => name !== undefined && name !== ""),
    ...certSANs,
    ...given,
  ] as string[];
  const url = (at: string): string => `https://${at.includes(":") ? `[${at}]` : at}:${port}`;
  return {
    hosts: apiServerHosts({ name, namespace, clusterDomain, serviceCidrs, others }),
    servers: { endpoint: url(advertiseAddress ?? host), service: url(`${name}.${namespace}.svc`), local: url(local) },
  };
}

interface Filling {
  tenant: TenantControlPlane;
  spec: CompleteSpec;
  place: Place;
  pki: TenantPki;
  wayIn: () => Transport;
  joined: JoinFacts;
  hasPolicies: boolean;
  observed: Observed;
  given: TenantSettings;
}

/** Has the tenant hold what is wanted. Resolves with a mark of what nodes join by; undefined: it does not answer yet, or not soon. */
async function fill(
  { contents, aside }: Pick<TenantParts, "contents" | "aside">,
  context: Context,
  record: TenantRecord,
  of: Filling,
): Promise<string | undefined> {
  const { tenant, spec, place, pki, wayIn, joined, hasPolicies } = of;
  if (of.observed.readyReplicas === 0) return undefined;
  const { version } = joined;
  const addons = addonsToAnnounce(record.object, spec, rfc3339(context.clock.now()));
  if (addons !== undefined) await record.write({ addons });
  const konnectivity = konnectivityContents(tenant, { spec, place, pki, version });
  const block = writeBlock(spec.writePermissions ?? {}, version, hasPolicies);
  const bound = boundGroups(tenant, of.given);
  const wanted = [...joinObjects(joined), ...konnectivity.wanted, ...block.wanted, ...bound.wanted];
  const unwanted = [...addonLeftOvers(tenant, spec, joined), ...konnectivity.unwanted, ...block.unwanted];
  const { uid } = tenant.metadata;
  const done = await aside.run(
    uid,
    markOf([wanted, unwanted, bound.prune]),
    async (signal) => {
      const transport = wayIn();
      try {
        await contents.fill(uid, transport, { wanted, unwanted, prune: bound.prune }, signal);
      } finally {
        await transport.close();
      }
    },
    context,
  );
  return done && joinMark(joined);
}

/** Stands among the components of a tenant that is not filled yet. */
const FILLING = "its API";

/** One that never was ready is so when it holds what nodes join by. */
function whenFilled(tenant: TenantControlPlane, observed: Observed, joinedBy: string | undefined): Observed {
  if (joinedBy !== undefined || observed.readyReplicas === 0 || isTrue(tenant.status?.conditions, "Ready"))
    return observed;
  const waits = { component: FILLING, ready: false, message: "it takes long to take what nodes join by" };
  return { ...observed, readyReplicas: 0, components: [...observed.components, waits] };
}

/** Work at the tenant's API that a worker does not wait for longer than a second. Rejects with `Unavailable` meanwhile. */
function besideOf(aside: Aside, context: Context, { metadata }: TenantControlPlane) {
  return async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const done = await aside.run(metadata.uid, "look", work, context);
    if (done === undefined) throw new Fault("Unavailable", `the API of ${metadata.name}`, "it has not answered yet");
    return done.value;
  };
}

/** As the tenant's own super-administrator. */
function wayInto(pki: TenantPki): Transport {
  const found = credentialsOf(pki.held.admin["super-admin.conf"] ?? "");
  if (found === undefined) throw new Fault("MissingInput", "super-admin.conf", "it can't be read");
  const { server, caPem: ca, certificatePem: cert, keyPem: key } = found;
  return createHttpTransport({ server, ca, cert, key });
}
