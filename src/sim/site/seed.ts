import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { ConfigMap, Namespace, Service } from "@slipway/kube/core";
import { create } from "./capi-machine.ts";
import { FLEET_LOCAL } from "./node-object.ts";

const VIP = { name: "vip", namespace: "harvester-system" };
const VIP_SERVICES = ["ingress-expose", "rke2-traefik"].map((name) => ({ name, namespace: "kube-system" }));

/** The objects that only a seeded cluster has, whatever its release. */
export const seededObjects = [
  { resource: ConfigMap, ...VIP },
  ...VIP_SERVICES.map((place) => ({ resource: Service, ...place })),
];

/** What is written of the cluster itself, before any machine joins. */
export interface SeedOptions {
  /** The address that joining machines get. */
  vip: string;
  /** Harvester release, `v1.8.1`. From 1.9 on the VIP's Service is `rke2-traefik`. */
  version: string;
  /** How the VIP got its address. */
  vipMode: "static" | "dhcp";
}

/** Writes the namespaces, the `vip` ConfigMap and the Service of the VIP. Objects that exist are left alone. */
export async function seedSite(client: Client, { vip, version, vipMode }: SeedOptions): Promise<void> {
  for (const name of ["kube-system", "harvester-system", FLEET_LOCAL]) {
    await create(client, Namespace, { metadata: { name } });
  }
  await create(client, ConfigMap, {
    metadata: { ...VIP },
    data: {
      enabled: "true",
      serviceType: "LoadBalancer",
      ip: vip,
      mode: vipMode,
      hwAddress: vipMode === "dhcp" ? "02:00:00:00:00:0f" : "",
      loadBalancerIP: vipMode === "dhcp" ? "0.0.0.0" : vip,
    },
  });
  const minor = /^v1\.(\d+)/.exec(version)?.[1];
  if (minor === undefined)
    throw new Fault("Invalid", "simulated site", `${version} is not a Harvester release like v1.8.1`);
  const traefik = Number(minor) >= 9;
  const ref = VIP_SERVICES[traefik ? 1 : 0]!;
  const annotations: Record<string, string> = traefik
    ? {
        "kube-vip.io/loadbalancerIPs": vipMode === "dhcp" ? "0.0.0.0" : vip,
        ...(vipMode === "dhcp" ? { "kube-vip.io/requestedIP": vip } : {}),
      }
    : {};
  await create(client, Service, {
    metadata: { ...ref, annotations },
    spec: {
      type: "LoadBalancer",
      selector: { "app.kubernetes.io/name": traefik ? "rke2-traefik" : "rke2-ingress-nginx" },
      ports: [
        { name: "https", port: 443, targetPort: 443, protocol: "TCP" },
        { name: "http", port: 80, targetPort: 80, protocol: "TCP" },
      ],
    },
  });
  const held = await client.get(Service, ref);
  if (held.status?.loadBalancer?.ingress?.length) return;
  const status = { loadBalancer: { ingress: [{ ip: vip }] } };
  await client.patch(Service, ref, { type: "merge", body: { status } }, { subresource: "status" });
}
