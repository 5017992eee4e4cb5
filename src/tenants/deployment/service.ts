import { tryParseIp } from "@slipway/base";
import type { Service } from "@slipway/kube/core";
import type { Place, Placeless } from "../runtime.ts";
import { type Manifest, metadataOf, selectorOf, type Wanted } from "./wanted.ts";

/** The Service before a tenant's Pods. It is there before them: they are given its address. */
export function serviceOf({ tenant, spec }: Pick<Wanted, "tenant" | "spec">): Manifest<Service> {
  const { service } = spec.controlPlane;
  const { serviceType: type } = service;
  const { address = "", allowAddressAsExternalIP, loadBalancerClass, loadBalancerSourceRanges } = spec.networkProfile;
  const isBalanced = type === "LoadBalancer";
  const hasAddress = tryParseIp(address) !== undefined;
  const allocates = service.allocateLoadBalancerNodePorts ?? true;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(tenant, "service", { additional: service.additionalMetadata }),
    spec: {
      type,
      selector: selectorOf(tenant),
      // A port that a load balancer no longer needs is not given back unless 0 is written.
      ports: portsOf(spec).map((port) => (isBalanced && !allocates ? { ...port, nodePort: 0 } : port)),
      ...(isBalanced && {
        allocateLoadBalancerNodePorts: allocates,
        ...(hasAddress && { loadBalancerIP: address }),
        ...(loadBalancerClass !== undefined && { loadBalancerClass }),
        ...(loadBalancerSourceRanges?.length && { loadBalancerSourceRanges }),
      }),
      ...(!isBalanced && allowAddressAsExternalIP && hasAddress && { externalIPs: [address] }),
    },
  };
}

type Port = NonNullable<NonNullable<Service["spec"]>["ports"]>[number];

function portsOf({ networkProfile: { port }, controlPlane: { service }, addons }: Wanted["spec"]): Port[] {
  const konnectivity = addons?.konnectivity?.server.port;
  const own = { name: "kube-apiserver", protocol: "TCP", port, targetPort: port };
  return [
    service.serviceType === "NodePort" ? { ...own, nodePort: port } : own,
    ...(konnectivity === undefined
      ? []
      : [{ name: "konnectivity-server", protocol: "TCP", port: konnectivity, targetPort: konnectivity }]),
    ...(service.additionalPorts ?? []).map((more) => ({ ...more })),
  ];
}

/** Where a tenant's API server is reached by its Service, as it is now; `found` is undefined until the Service is there. Pure. */
export function placeOf({ spec }: Pick<Wanted, "spec">, found: Service | undefined): Place | Placeless {
  const { address, port } = spec.networkProfile;
  const type = spec.controlPlane.service.serviceType;
  const at = (host: string): Place => ({ host, port, local: "127.0.0.1" });
  if (address) return at(address);
  const name = `Service ${found?.metadata.name ?? "to be created"}`;
  if (type === "NodePort")
    return { waitsFor: "spec.networkProfile.address: a Service of type NodePort has none, set that of a node" };
  if (type === "ClusterIP") {
    const ip = found?.spec?.clusterIP;
    if (ip === "None") return { waitsFor: `${name} to have a cluster IP: it is headless, delete it` };
    return ip ? at(ip) : { waitsFor: `${name} to get a cluster IP` };
  }
  const given = found?.status?.loadBalancer?.ingress ?? [];
  const host = given.find(({ ip }) => ip)?.ip ?? given.find(({ hostname }) => hostname)?.hostname;
  return host ? at(host) : { waitsFor: `${name} to get an address from a load balancer` };
}
