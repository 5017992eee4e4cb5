import {
  type Context,
  type Controller,
  DONE,
  type Outcome,
  type OwnerReference,
  ownerReference,
  source,
  TokenBucket,
} from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { HardwareDetails } from "../../kinds/metal3/hardware.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import type { Host, HostChange } from "../../netboot/hosts/host.ts";
import {
  DEMANDS,
  type NamespacePolicy,
  namespacePolicy,
  policyName,
  TRUST_ANNOTATION,
} from "../../netboot/hosts/namespace-policy.ts";
import type { Declaration, Standing } from "../../netboot/hosts/trust.ts";
import { fingerprint } from "../../netboot/protocol/key.ts";
import { bootMacOf, declarationOf, isDiscovered } from "./declaration.ts";
import { noteBoot } from "./measured-boot.ts";
import { type Discovery, type DiscoveryStep, type Observed, planDiscovery } from "./plan.ts";

export const NETBOOT = "netboot";

/** The machines that were seen. */
export interface SeenHosts {
  /** By its name, or by any of its cards. */
  get(nameOrMac: string): Host | undefined;
  list(): readonly Host[];
  /** Calls back with every host that changes; returns what ends that. A host that was only seen again need not be reported. */
  onChange(listener: (change: HostChange) => void): () => void;
  /** Takes what the cluster says of a host. True: that is news. */
  declare(name: string, declaration: Declaration): boolean;
  /** Throws for a host that is not known. */
  standing(name: string): Standing;
}

export interface DiscoveryOptions extends Discovery {
  hosts: SeenHosts;
  /** BareMetalHosts created a second at most, on average. */
  perSecond: number;
}

const LATER_MS = 1_000;
/** Until the next look for a machine without an object: it may be seen again, or there may be room for it. */
const LOOK_AGAIN_MS = 30_000;
const BURST = 10;
/** By then an agent that has registered has its key. */
const KEY_MS = 60_000;
/** So often what a machine reports is written down, on average, and so often at once. */
const TOLD_MS = 5_000;
const TOLD_AT_ONCE = 10;
/** Of one host, that are not reported yet. */
const MOST_REFUSALS = 16;

type StepOf<Do extends DiscoveryStep["do"]> = Extract<DiscoveryStep, { do: Do }>;

function trustWord({ metadata }: Namespace): string | undefined {
  return metadata.annotations?.[TRUST_ANNOTATION];
}

/** Creates a BareMetalHost and its HardwareData for every machine that was seen and is not declared. Its keys are the names of seen hosts. */
export function discoveryController({ hosts, perSecond, ...discovery }: DiscoveryOptions): Controller {
  let pace: TokenBucket | undefined;
  let isFullLogged = false;
  /** Created, and not in the cache yet. */
  const fresh = new Set<string>();
  /** The registration of a host that was last reported, by host. */
  const registrations = new Map<string, number>();
  /** What was refused in the name of a host, by host. */
  const refusals = new Map<string, string[]>();
  /** How often what a machine reports is written down, by host. */
  const paces = new Map<string, TokenBucket>();
  let keepsAgent = true;
  return {
    name: "discovery",
    system: NETBOOT,
    sources: [
      source({
        resource: BareMetalHost,
        indexes: { mac: bootMacOf },
        // A declaration that is moved to another card is taken from the first.
        keys: (object, before) => [object, ...(before === undefined ? [] : [before])].flatMap(hostsOf).map(refOf),
      }),
      source({ resource: HardwareData, namespace: discovery.namespace }),
      source({
        resource: Namespace,
        keys: ({ metadata }, _, cache) => cache.list(BareMetalHost, metadata.name).flatMap(hostsOf).map(refOf),
        when: (object, before) => trustWord(object) !== trustWord(before),
      }),
    ],
    access: [
      { resource: BareMetalHost, verbs: ["create", "delete"], namespace: discovery.namespace },
      { resource: BareMetalHost, verbs: ["update"], subresource: "status", namespace: discovery.namespace },
      { resource: HardwareData, verbs: ["create", "update"], namespace: discovery.namespace },
    ],
    // One after another, so that the number allowed is kept.
    workers: 1,
    listen(wake) {
      const stop = hosts.onChange((change) => {
        if (change.is === "gone") {
          refusals.delete(change.name);
          paces.delete(change.name);
          registrations.delete(change.name);
        } else {
          if (change.is === "refused") noteRefusal(change);
          wake(refOf(change.host));
        }
      });
      for (const host of hosts.list()) wake(refOf(host));
      return stop;
    },
    // One step a pass: what is written wakes the key again once the cache shows it.
    async reconcile({ name }, context): Promise<Outcome> {
      const host = hosts.get(name);
      if (host === undefined) return DONE;
      const known = knownOf(host, context);
      heed(host, known, context);
      reportRefusals(name, known, context);
      const isReportedLater = reportRegistration(host, known, context) === false;
      const own = known.find(({ metadata }) => metadata.namespace === discovery.namespace && isDiscovered(metadata));
      if (own !== undefined) await noteBoot(own, host.tpm, context);
      const next = planDiscovery(host, observed(name, known, context), discovery);
      switch (next.do) {
        case "nothing":
          return stay(host, next.because, isReportedLater, context);
        case "create":
          return await create(host, next.host, context);
        case "merge":
          return await merge(next, context);
        case "report":
          if (!paceOf(name, context).tryTake()) return { againAfterMs: TOLD_MS };
          return await report(next, context);
        case "describe":
          if (!paceOf(name, context).tryTake()) return { againAfterMs: TOLD_MS };
          await describe(next, context);
          return DONE;
      }
    },
  };

  function stay(
    { mac }: Host,
    because: StepOf<"nothing">["because"],
    isReportedLater: boolean,
    { log }: Context,
  ): Outcome {
    if (because === "full" && !isFullLogged)
      log.warn({ most: discovery.most, mac }, "more machines were seen than may be discovered");
    isFullLogged ||= because === "full";
    if (isReportedLater) return { againAfterMs: KEY_MS };
    return because === "silent" || because === "full" ? { againAfterMs: LOOK_AGAIN_MS } : DONE;
  }

  async function create(
    { name, mac, address }: Host,
    draft: StepOf<"create">["host"],
    { client, clock, events, log }: Context,
  ): Promise<Outcome> {
    pace ??= new TokenBucket(clock, { qps: perSecond, burst: BURST });
    if (!pace.tryTake()) return { againAfterMs: LATER_MS };
    fresh.add(name);
    events.normal(
      await client.create(BareMetalHost, draft).catch((error: unknown) => {
        fresh.delete(name);
        throw error;
      }),
      "Discovered",
      `seen as ${mac}${address === undefined ? "" : ` at ${address}`}`,
    );
    log.info({ host: name, mac }, "a machine was discovered");
    return DONE;
  }

  async function merge({ host, into: kept }: StepOf<"merge">, { client, events, log }: Context): Promise<Outcome> {
    const { name: gone, uid, resourceVersion } = host.metadata;
    const into = `${kept.metadata.namespace}/${kept.metadata.name}`;
    // Announced first: an event of an object that is gone is seldom read.
    events.normal(kept, "Merged", `${gone} was made of another card of the same machine, and is deleted`);
    events.normal(host, "Merged", `deleted: it is a card of ${into}`);
    await client.delete(BareMetalHost, host.metadata, { uid, resourceVersion });
    log.info({ host: gone, into }, "two objects of one machine are one");
    return DONE;
  }

  async function report({ host, status }: StepOf<"report">, { client }: Context): Promise<Outcome> {
    const written = await client.updateStatus(BareMetalHost, { ...host, status });
    // Where the definition is Metal3's own, it leaves out what it does not know.
    if (status.agent !== undefined) keepsAgent = written.status?.agent !== undefined;
    return DONE;
  }

  /** A machine that nobody has approved may report as often as it likes, and something else each time. */
  function paceOf(name: string, { clock }: Context): TokenBucket {
    const known = paces.get(name) ?? new TokenBucket(clock, { qps: 1_000 / TOLD_MS, burst: TOLD_AT_ONCE });
    paces.set(name, known);
    return known;
  }

  /** Those that a BareMetalHost speaks of: by its card, and by the name that discovery gives. */
  function hostsOf(object: BareMetalHost): Host[] {
    const { namespace, name } = object.metadata;
    const named = namespace === discovery.namespace ? [name] : [];
    return [...named, ...bootMacOf(object)].flatMap((each) => hosts.get(each) ?? []);
  }

  function knownOf(host: Host, { cache }: Context): BareMetalHost[] {
    const named = cache.get(BareMetalHost, refOf(host));
    const known = host.macs.flatMap((mac) => cache.byIndex(BareMetalHost, "mac", mac));
    return [...new Set(named === undefined ? known : [...known, named])];
  }

  /** Passes on what the cluster says of the host. */
  function heed(host: Host, known: readonly BareMetalHost[], { cache, events, log }: Context): void {
    const policyOf = (name: string): NamespacePolicy => {
      const namespace = cache.get(Namespace, { name });
      return namespacePolicy(name, namespace && (namespace.metadata.annotations ?? {}));
    };
    const { declaration, rivals } = declarationOf(host, known, { namespace: discovery.namespace, policyOf });
    if (!hosts.declare(host.name, declaration)) return;
    log.info({ host: host.name, ...declaration }, "the cluster says whether a host is trusted");
    const names = rivals.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(" and ");
    for (const rival of rivals)
      events.warning(rival, "DeclaredTwice", `${names} have a card of ${host.name}: neither counts as its declaration`);
    for (const policy of declaration.policies ?? [])
      if (policy.demands === "unknown")
        for (const object of known.filter(({ metadata }) => metadata.namespace === policy.namespace))
          events.warning(object, "UnknownTrust", `${policyName(policy)} is none of ${DEMANDS.join(", ")}`);
  }

  function noteRefusal({ host, because }: Extract<HostChange, { is: "refused" }>): void {
    const noted = refusals.get(host.name) ?? [];
    if (noted.length < MOST_REFUSALS) refusals.set(host.name, [...noted, because]);
  }

  function reportRefusals(name: string, known: readonly BareMetalHost[], { events }: Context): void {
    const noted = refusals.get(name) ?? [];
    refusals.delete(name);
    for (const because of noted) for (const object of known) events.warning(object, "Refused", because);
  }

  /**
   * A declared BareMetalHost has no status of ours: there the event names the key. An agent reports first, and has its key a moment later: false
   * where that is waited for.
   */
  function reportRegistration(host: Host, known: readonly BareMetalHost[], at: Context): boolean | undefined {
    const { name, session, agentKey } = host;
    if (session === undefined || known.length === 0 || registrations.get(name) === session.registeredAt)
      return undefined;
    const isTime = agentKey !== undefined || at.clock.now() - session.registeredAt >= KEY_MS;
    if (isTime) noteRegistration(host, session, known, at);
    return isTime;
  }

  function noteRegistration(
    { name, agentKey }: Host,
    session: NonNullable<Host["session"]>,
    known: readonly BareMetalHost[],
    at: Context,
  ): void {
    registrations.set(name, session.registeredAt);
    const key = agentKey === undefined ? "without a key" : `with the key ${fingerprint(agentKey)}`;
    const { trust, because } = hosts.standing(name);
    for (const object of known)
      at.events.normal(object, "AgentRegistered", `from ${session.address} ${key}; ${trust}: ${because}`);
  }

  function observed(name: string, known: readonly BareMetalHost[], { cache, clock }: Context): Observed {
    return {
      now: clock.now(),
      standing: hosts.standing(name),
      keepsAgent,
      known,
      // Asked for a machine without an object alone: it walks through all that there are.
      get count() {
        const all = cache.list(BareMetalHost, discovery.namespace).filter(({ metadata }) => isDiscovered(metadata));
        for (const { metadata } of all) fresh.delete(metadata.name);
        return all.length + fresh.size;
      },
      described: (each) => cache.get(HardwareData, { namespace: discovery.namespace, name: each })?.spec.hardware,
    };
  }

  async function describe({ name, hardware }: { name: string; hardware: HardwareDetails }, at: Context): Promise<void> {
    const { namespace } = discovery;
    const held = at.cache.get(HardwareData, { namespace, name });
    const spec = { hardware };
    if (held !== undefined) await at.client.update(HardwareData, { ...held, spec });
    else
      await at.client.create(HardwareData, { metadata: { namespace, name, ownerReferences: ownerOf(at, name) }, spec });
  }

  /** With the host goes what is known of it, as in Metal3. */
  function ownerOf({ cache }: Context, name: string): OwnerReference[] {
    const host = cache.get(BareMetalHost, { namespace: discovery.namespace, name });
    return host === undefined ? [] : [ownerReference(BareMetalHost, host)];
  }

  function refOf(host: Host): { namespace: string; name: string } {
    return { namespace: discovery.namespace, name: host.name };
  }
}
