/**
 * The TenantControlPlane that a KamajiControlPlane comes to: only fields that the control plane or its Cluster decide. It is applied by
 * server-side apply, so what is removed from the control plane is removed from the tenant, and what others set, such as defaults of Kamaji's
 * webhook, stays (KCP-6, KCP-9). Pure.
 */
import type { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import type { Network } from "../../kinds/kamaji-control-plane/network.ts";
import { LAST_APPLIED } from "./names.ts";

/** What of a Cluster decides on its control plane. */
export interface ClusterNetwork {
  apiServerPort?: number | undefined;
  services?: { cidrBlocks?: readonly string[] | undefined } | undefined;
  pods?: { cidrBlocks?: readonly string[] | undefined } | undefined;
  serviceDomain?: string | undefined;
}

type Spec = KamajiControlPlane["spec"];
const COMPONENTS = ["apiServer", "controllerManager", "scheduler"] as const;

/** Labels, annotations and spec of the tenant. `version`: the one to run now, which may be on the way to the one that is wanted. */
export function tenantOf(
  { metadata, spec }: Pick<KamajiControlPlane, "metadata" | "spec">,
  network: ClusterNetwork | undefined,
  version: string = spec.version,
): { labels: Record<string, string>; annotations: Record<string, string>; spec: object } {
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations ?? {};
  return {
    labels: { ...metadata.labels },
    annotations,
    spec: withoutUnset({
      dataStore: spec.dataStoreName || undefined,
      dataStoreSchema: spec.dataStoreSchema || undefined,
      dataStoreUsername: spec.dataStoreUsername || undefined,
      dataStoreOverrides: spec.dataStoreOverrides,
      controlPlane: {
        deployment: deploymentOf(spec),
        service: serviceOf(spec.network),
        gateway: gatewayOf(spec.network),
        ingress: ingressOf(spec.network),
      },
      kubernetes: {
        version: versionText(version),
        kubelet: spec.kubelet,
        admissionControllers: spec.admissionControllers,
      },
      networkProfile: profileOf(spec, network),
      addons: addonsOf(spec),
    }) as object,
  };
}

/** The version with its `v`. */
export const versionText = (version: string): string => (version.startsWith("v") ? version : `v${version}`);

/** `host` and port of `name` or `name:port`; an Ingress and a Gateway are reached at 443 unless said. */
export function hostAndPort(hostname: string): { host: string; port: number } {
  const match = /^(.*):(\d{1,5})$/.exec(hostname);
  return match === null ? { host: hostname, port: 443 } : { host: match[1]!, port: Number(match[2]) };
}

function deploymentOf(spec: Spec): object {
  const { deployment = {}, kine } = spec;
  const ofEach = (field: "extraArgs" | "resources" | "probes" | "extraVolumeMounts") =>
    Object.fromEntries(COMPONENTS.map((component) => [component, spec[component]?.[field]]));
  return {
    replicas: spec.replicas,
    registrySettings: {
      registry: spec.registry,
      apiServerImage: spec.apiServer?.containerImageName,
      controllerManagerImage: spec.controllerManager?.containerImageName,
      schedulerImage: spec.scheduler?.containerImageName,
    },
    extraArgs: { ...ofEach("extraArgs"), kine: kine?.extraArgs },
    resources: { ...ofEach("resources"), kine: kine?.resources },
    // Each that is given counts by itself (KCP-5).
    probes: { ...deployment.probes, ...ofEach("probes") },
    additionalVolumeMounts: ofEach("extraVolumeMounts"),
    nodeSelector: deployment.nodeSelector,
    runtimeClassName: deployment.runtimeClassName,
    serviceAccountName: deployment.serviceAccountName,
    strategy: deployment.strategy,
    affinity: deployment.affinity,
    tolerations: deployment.tolerations,
    topologySpreadConstraints: deployment.topologySpreadConstraints,
    additionalInitContainers: deployment.extraInitContainers,
    additionalContainers: deployment.extraContainers,
    additionalVolumes: deployment.extraVolumes,
    additionalMetadata: deployment.additionalMetadata,
    podAdditionalMetadata: deployment.podAdditionalMetadata,
  };
}

function serviceOf({ serviceType, serviceLabels, serviceAnnotations, additionalServicePorts }: Network): object {
  return {
    serviceType,
    additionalMetadata: { labels: serviceLabels, annotations: serviceAnnotations },
    additionalPorts: additionalServicePorts,
  };
}

function gatewayOf({ gateway }: Network): object | undefined {
  if (gateway === undefined) return undefined;
  const { name, namespace, hostname, sectionName, port, extraLabels, extraAnnotations } = gateway;
  return {
    hostname: hostAndPort(hostname).host,
    parentRefs: [{ name, namespace, sectionName, port }],
    additionalMetadata: { labels: extraLabels, annotations: extraAnnotations },
  };
}

function ingressOf({ ingress }: Network): object | undefined {
  if (ingress === undefined) return undefined;
  const { hostname, className, extraLabels, extraAnnotations } = ingress;
  return {
    hostname: hostAndPort(hostname).host,
    ingressClassName: className,
    additionalMetadata: { labels: extraLabels, annotations: extraAnnotations },
  };
}

function profileOf({ network, addons }: Spec, cluster: ClusterNetwork = {}): object {
  const dns = addons?.coreDNS?.dnsServiceIPs?.length ? addons.coreDNS.dnsServiceIPs : network.dnsServiceIPs;
  const hosts = [network.gateway, network.ingress].flatMap((one) => one && hostAndPort(one.hostname).host);
  return {
    address: network.serviceAddress || undefined,
    advertiseAddress: network.advertiseAddress || undefined,
    port: cluster.apiServerPort || undefined,
    certSANs: [...new Set([...(network.certSANs ?? []), ...hosts.filter((host) => host !== undefined)])],
    ...prefixes("serviceCidr", cluster.services?.cidrBlocks),
    ...prefixes("podCidr", cluster.pods?.cidrBlocks),
    clusterDomain: cluster.serviceDomain || undefined,
    dnsServiceIPs: dns,
    loadBalancerClass: network.loadBalancerConfig?.loadBalancerClass,
    loadBalancerSourceRanges: network.loadBalancerConfig?.loadBalancerSourceRanges,
  };
}

/** One prefix in the single field, deprecated but known by every Kamaji; lists came with dual stack, and are no field of those before. */
function prefixes(single: "serviceCidr" | "podCidr", blocks: readonly string[] = []): object {
  return blocks.length === 1 ? { [single]: blocks[0] } : { [`${single}s`]: blocks };
}

/** Present, also if empty, is installed: an empty object stays. */
function addonsOf({ addons }: Spec): object | undefined {
  if (addons === undefined) return undefined;
  const { coreDNS, kubeProxy, konnectivity } = addons;
  const { dnsServiceIPs: _, ...image } = coreDNS ?? {};
  return { ...(coreDNS && { coreDNS: image }), ...(kubeProxy && { kubeProxy }), ...(konnectivity && { konnectivity }) };
}

/** Add-ons are the only empty objects that mean something. */
const MEANS_SOMETHING = new Set(["coreDNS", "kubeProxy", "konnectivity"]);

/** Without what is undefined, and without objects and lists in which nothing is left. */
function withoutUnset(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => withoutUnset(item, "[]"));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).flatMap(([key, of]) => {
    const clean = withoutUnset(of, key);
    return clean === undefined ? [] : [[key, clean] as const];
  });
  return kept.length > 0 || MEANS_SOMETHING.has(name) || name === "[]" ? Object.fromEntries(kept) : undefined;
}
