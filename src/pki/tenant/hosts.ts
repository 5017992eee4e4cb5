import { addIp, formatIp, networkOf, parseCidr } from "@slipway/base";

export interface ApiServerFacts {
  name: string;
  namespace: string;
  /** `cluster.local` and the like. */
  clusterDomain: string;
  serviceCidrs: readonly string[];
  /** Names and addresses by which clients come from outside: the endpoint's, a load balancer's, those that the user adds. */
  others: readonly string[];
}

/**
 * Every name and address that a tenant's API server is called by, without repetition: as a Service inside the tenant, as the Service in the
 * management cluster, on its own host, and from outside. Throws `RangeError` for what is no CIDR.
 */
export function apiServerHosts({ name, namespace, clusterDomain, serviceCidrs, others }: ApiServerFacts): string[] {
  const inside = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"];
  const service = `${name}.${namespace}.svc`;
  return [
    ...new Set([
      ...inside,
      `kubernetes.default.svc.${clusterDomain}`,
      "localhost",
      "127.0.0.1",
      name,
      `${name}.${namespace}`,
      service,
      // The management cluster's domain, which is not the tenant's.
      `${service}.cluster.local`,
      ...serviceCidrs.map(firstAddress),
      ...others,
    ]),
  ];
}

/** The address of the Service `kubernetes`. */
function firstAddress(cidr: string): string {
  return formatIp(addIp(networkOf(parseCidr(cidr)).address, 1n));
}
