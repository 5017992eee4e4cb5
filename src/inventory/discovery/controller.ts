import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { HardwareDetails } from "../../kinds/metal3/hardware.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import { type Context, type Controller, DONE, type Outcome, source } from "../../kube/controller.ts";
import type { OwnerReference } from "../../kube/object.ts";
import { ownerReference } from "../../kube/owners.ts";
import { TokenBucket } from "../../kube/rate-limit.ts";
import type { Host, HostChange } from "../../netboot/hosts/host.ts";
import { type Discovery, isDiscovered, macsOf, type Observed, planDiscovery } from "./plan.ts";

export const SYSTEM = "netboot";

/** The machines that were heard. */
export interface HeardHosts {
  /** By its name, or by any of its cards. */
  get(nameOrMac: string): Host | undefined;
  list(): readonly Host[];
  /** Calls back with every host that changes; returns what ends that. That one was merely heard again need not be told. */
  onChange(listener: (change: HostChange) => void): () => void;
}

export interface DiscoveryOptions extends Discovery {
  hosts: HeardHosts;
  /** BareMetalHosts created a second at most, on average. */
  perSecond: number;
}

const LATER_MS = 1_000;
/** Until it is looked whether a machine without an object is heard again, or there is room for it. */
const LOOK_AGAIN_MS = 30_000;
const BURST = 10;

/** Makes a BareMetalHost and its HardwareData of every machine that was heard and is not declared. Its keys are the names of heard hosts. */
export function discoveryController({ hosts, perSecond, ...discovery }: DiscoveryOptions): Controller {
  let pace: TokenBucket | undefined;
  let isFullTold = false;
  /** Created, and not in the cache yet. */
  const fresh = new Set<string>();
  return {
    name: "discovery",
    system: SYSTEM,
    sources: [
      source({
        resource: BareMetalHost,
        indexes: { mac: macsOf },
        keys: (object) =>
          macsOf(object)
            .flatMap((mac) => hosts.get(mac) ?? [])
            .map(refOf),
      }),
      source({ resource: HardwareData, namespace: discovery.namespace }),
    ],
    access: [
      { resource: BareMetalHost, verbs: ["create"], namespace: discovery.namespace },
      { resource: BareMetalHost, verbs: ["update"], subresource: "status", namespace: discovery.namespace },
      { resource: HardwareData, verbs: ["create", "update"], namespace: discovery.namespace },
    ],
    // One after another, so that the number allowed is kept.
    workers: 1,
    listen(wake) {
      const stop = hosts.onChange((change) => change.is === "changed" && wake(refOf(change.host)));
      for (const host of hosts.list()) wake(refOf(host));
      return stop;
    },
    // One step a pass: what is written wakes the key again once the cache shows it.
    async reconcile({ name }, context): Promise<Outcome> {
      const { client, events, log } = context;
      pace ??= new TokenBucket(context.clock, { qps: perSecond, burst: BURST });
      const host = hosts.get(name);
      if (host === undefined) return DONE;
      const next = planDiscovery(host, observed(host, context), discovery);
      switch (next.do) {
        case "nothing":
          if (next.because === "full" && !isFullTold)
            log.warn({ most: discovery.most, mac: host.mac }, "more machines were heard than may be discovered");
          isFullTold ||= next.because === "full";
          return next.because === "silent" || next.because === "full" ? { againAfterMs: LOOK_AGAIN_MS } : DONE;
        case "create":
          if (!pace.tryTake()) return { againAfterMs: LATER_MS };
          fresh.add(name);
          events.normal(
            await client.create(BareMetalHost, next.host).catch((error: unknown) => {
              fresh.delete(name);
              throw error;
            }),
            "Discovered",
            `heard from ${host.mac}${host.address === undefined ? "" : ` at ${host.address}`}`,
          );
          log.info({ host: name, mac: host.mac }, "a machine was discovered");
          return DONE;
        case "tell":
          await client.updateStatus(BareMetalHost, { ...next.host, status: next.status });
          return DONE;
        case "describe":
          await describe(next, context);
          return DONE;
      }
    },
  };

  function observed(host: Host, { cache, clock }: Context): Observed {
    const named = cache.get(BareMetalHost, refOf(host));
    const known = host.macs.flatMap((mac) => cache.byIndex(BareMetalHost, "mac", mac));
    const discovered = cache.list(BareMetalHost, discovery.namespace).filter(({ metadata }) => isDiscovered(metadata));
    for (const { metadata } of discovered) fresh.delete(metadata.name);
    return {
      now: clock.now(),
      known: named === undefined ? known : [...known, named],
      count: discovered.length + fresh.size,
      described: (name) => cache.get(HardwareData, { namespace: discovery.namespace, name })?.spec.hardware,
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
