import type { Client } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import { POOL_NAME } from "./manifests.ts";
import type { PoolView } from "./rows.ts";

/** Reads the lab's pool, its Instances, hosts and Nodes as they are now. Rejects with the client's `Fault`, or when `signal` is aborted. */
export async function viewPool(client: Client, signal: AbortSignal): Promise<PoolView> {
  const pool = await client.find(InstancePool, { name: POOL_NAME }, { signal });
  const [instances, hosts, nodes] = await Promise.all([
    client.list(Instance, { signal }),
    client.list(BareMetalHost, { namespace: DISCOVERY_NAMESPACE, signal }),
    client.list(Node, { signal }),
  ]);
  return { pool, instances: instances.items, hosts: hosts.items, nodes: nodes.items };
}
