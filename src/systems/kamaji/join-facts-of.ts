import type { JoinFacts } from "../../bootstrap/kubeadm/join-facts.ts";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Place } from "../../tenants/runtime.ts";
import type { TenantPki } from "./tenant-pki.ts";

/** What a tenant's cluster is like for the nodes that join it. Pure. */
export function joinFactsOf(
  tenant: TenantControlPlane,
  { networkProfile: network, kubernetes, controlPlane, addons = {} }: CompleteSpec,
  { version, place, pki }: { version: string; place: Place; pki: TenantPki },
): JoinFacts {
  return {
    version,
    clusterName: tenant.metadata.name,
    endpoint: { host: network.advertiseAddress ?? place.host, port: place.port },
    caPem: pki.held.ca["ca.crt"] ?? "",
    serviceCidrs: network.serviceCidrs,
    podCidrs: network.podCidrs,
    clusterDomain: network.clusterDomain,
    dnsServiceIPs: network.dnsServiceIPs,
    registry: controlPlane.deployment.registrySettings.registry,
    kubelet: {
      cgroupDriver: kubernetes.kubelet.cgroupfs ?? "systemd",
      configurationJSONPatches: kubernetes.kubelet.configurationJSONPatches ?? [],
    },
    ...(addons.coreDNS && { coreDNS: addons.coreDNS }),
    ...(addons.kubeProxy && { kubeProxy: addons.kubeProxy }),
  };
}
