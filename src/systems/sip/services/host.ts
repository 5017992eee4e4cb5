import type { HostBmc } from "../hosts/host-facts.ts";

/** A host of the cluster, as its services know it. */
export interface ServiceHost {
  name: string;
  namespace: string;
  role: string;
  /** Its name; with its namespace where another host of the cluster has the same. */
  unique: string;
  /** By the id of a network. */
  addresses: Readonly<Record<string, string>>;
  bmc?: HostBmc | undefined;
}

/** Hosts in an order of their own, each with a name that no other has. It may stand in configurations, as a DNS name and as a file's. */
export function serviceHosts(hosts: readonly Omit<ServiceHost, "unique">[]): ServiceHost[] {
  const counts = new Map<string, number>();
  for (const { name } of hosts) counts.set(name, (counts.get(name) ?? 0) + 1);
  const given = new Set<string>();
  const inOrder = hosts.toSorted((a, b) => (`${a.name} ${a.namespace}` < `${b.name} ${b.namespace}` ? -1 : 1));
  return inOrder.map((host) => {
    let unique = counts.get(host.name) === 1 ? host.name : `${host.name}.${host.namespace}`;
    while (given.has(unique)) unique += ".2";
    given.add(unique);
    return { ...host, unique };
  });
}
