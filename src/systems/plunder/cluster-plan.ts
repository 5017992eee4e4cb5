/** Where a PlunderCluster's control plane is reached, and what it waits for. Pure. */
import type { PlunderCluster } from "../../kinds/plunder/plunder-cluster.ts";
import type { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";

export const API_PORT = 6443;

export interface Endpoint {
  host: string;
  port: number;
}

/** The endpoint that is to be written; undefined: there is one already, or none is known. `machines`: of the control plane. `port`: that the Cluster says. */
export function endpointToWrite(
  { spec }: PlunderCluster,
  of: { cluster: Endpoint | undefined; machines: readonly PlunderMachine[]; port: number | undefined },
): Endpoint | undefined {
  const { controlPlaneEndpoint: own } = spec;
  const port = of.port ?? API_PORT;
  if (own?.host) return own.port ? undefined : { host: own.host, port };
  if (of.cluster !== undefined) return of.cluster;
  const [first] = of.machines
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const host = first?.spec.ipAddress || first?.status?.ipAddress;
  return host ? { host, port } : undefined;
}

const keyOf = ({ metadata }: PlunderMachine): string => `${metadata.creationTimestamp} ${metadata.name}`;
