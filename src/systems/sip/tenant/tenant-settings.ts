/** What a hosted control plane of the sub-cluster is run with. Pure. */
import { formatIp, tryParseIp } from "@slipway/base";
import type { SIPCluster, TenantSettings } from "../../../kinds/sip/sip-cluster.ts";
import type { OidcClient } from "../services/auth/oidc-settings.ts";

const DNS_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/**
 * Undefined: nothing. An API server trusts one provider: the first that is deployed (`deployed`). While none can be, such as when a Secret is
 * missing, the former one stays: other flags would start the API server anew.
 */
export function tenantSettings(
  { spec, status }: SIPCluster,
  deployed: OidcClient | undefined,
): TenantSettings | undefined {
  const { loadBalancerControlPlane = [], auth = [] } = spec.services;
  const oidc = deployed ?? (auth.length > 0 ? status?.tenant?.oidc : undefined);
  const names = loadBalancerControlPlane.flatMap(({ clusterIP }) => nameInCertificate(clusterIP ?? "") ?? []);
  const certSANs = [...new Set(names)].toSorted();
  const groupBindings = auth.flatMap(({ groupBindings = [] }) => groupBindings);
  if (certSANs.length === 0 && oidc === undefined) return undefined;
  return {
    ...(certSANs.length > 0 && { certSANs }),
    ...(oidc !== undefined && { oidc: { ...oidc } }),
    ...(oidc !== undefined && groupBindings.length > 0 && { groupBindings }),
  };
}

function nameInCertificate(text: string): string | undefined {
  const ip = tryParseIp(text);
  if (ip !== undefined) return formatIp(ip);
  return text.length <= 253 && DNS_NAME.test(text) ? text : undefined;
}

export interface Backend {
  name: string;
  address: string;
  port: number;
}

/** Where the API of a hosted control plane is, by its status; undefined: nowhere yet, or at a name. */
export function backendOf(name: string, endpoint: string | undefined): Backend | undefined {
  const match = /^\[?([^\]]+?)\]?:(\d+)$/.exec(endpoint ?? "");
  const address = match === null ? undefined : tryParseIp(match[1]!);
  return address === undefined ? undefined : { name, address: formatIp(address), port: Number(match![2]) };
}
