/** What a tenant's cluster and its status have of konnectivity. */
import type { Manifest } from "../../bootstrap/kubeadm/join-facts.ts";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane, TenantControlPlaneStatus } from "../../kinds/kamaji/tenant-control-plane.ts";
import { egressName } from "../../tenants/deployment/konnectivity.ts";
import { agentLeftOvers, agentObjects } from "../../tenants/konnectivity/agent.ts";
import { AGENT, AGENT_NAMESPACE, SERVER_USER } from "../../tenants/konnectivity/server.ts";
import type { Observed } from "../../tenants/plane.ts";
import type { TenantPki } from "./tenant-pki.ts";

interface Facts {
  spec: CompleteSpec;
  place: { host: string; tunnelPort?: number };
  pki: TenantPki;
}

/** What the tenant must hold so that agents come to the server, and what it must no longer hold. Nothing where it never had any. */
export function konnectivityContents(
  { status }: TenantControlPlane,
  { spec, place, pki, version }: Facts & { version: string },
): { wanted: Manifest[]; unwanted: Manifest[] } {
  const { konnectivity } = spec.addons ?? {};
  if (konnectivity !== undefined && pki.held.konnectivityKubeconfig !== undefined) {
    const host = spec.networkProfile.advertiseAddress || place.host;
    const port = place.tunnelPort ?? konnectivity.server.port;
    return { wanted: agentObjects({ version, host, port, konnectivity }), unwanted: agentLeftOvers(konnectivity) };
  }
  return { wanted: [], unwanted: status?.addons?.konnectivity?.enabled === true ? agentLeftOvers() : [] };
}

/** `status.addons` with konnectivity as it is; where it is no longer wanted, until it is out of the tenant. */
export function konnectivityStatus(
  { metadata, status }: TenantControlPlane,
  { spec, place, pki: { marks }, observed }: Facts & { observed: Observed },
): Pick<TenantControlPlaneStatus, "addons"> {
  const { konnectivity: held, ...others } = status?.addons ?? {};
  const { konnectivity } = spec.addons ?? {};
  const certificate = marks.konnectivityCertificate;
  const kubeconfig = marks.konnectivityKubeconfig;
  if (konnectivity === undefined || certificate === undefined || kubeconfig === undefined) {
    const isStillThere = held?.enabled === true && observed.readyReplicas === 0;
    return held === undefined ? {} : { addons: isStillThere ? { ...others, konnectivity: held } : others };
  }
  const { name, namespace = "" } = metadata;
  return {
    addons: {
      ...others,
      konnectivity: {
        enabled: true,
        ...{ certificate, kubeconfig },
        service: { name, namespace, port: place.tunnelPort ?? konnectivity.server.port },
        configMap: { name: egressName(name) },
        sa: { name: AGENT, namespace: AGENT_NAMESPACE },
        clusterrolebinding: { name: SERVER_USER },
        ...(observed.tunnelRoute !== undefined && { gateway: observed.tunnelRoute }),
        agent: { name: AGENT, namespace: AGENT_NAMESPACE, mode: konnectivity.agent.mode },
      },
    },
  };
}
