import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import type { Client } from "@slipway/kube";
import type { Datastore } from "../../src/datastores/datastore.ts";
import { checkPlace } from "../../src/datastores/place.ts";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { createAuthority } from "../../src/pki/authority.ts";
import { SimulatedManagement } from "../../src/sim/tenants/management.ts";

/** What a tenant in a cluster finds there: its DataStore, load balancers and kubelets. */
export async function managementCluster(client: Client): Promise<SimulatedManagement> {
  const { certificatePem, keyPem } = await createAuthority({ commonName: "etcd", clock });
  const at = (pem: string) => ({ content: Buffer.from(pem).toString("base64") });
  const pair = { certificate: at(certificatePem), privateKey: at(keyPem) };
  await client.create(DataStore, {
    metadata: { name: "default" },
    spec: {
      driver: "etcd",
      endpoints: ["etcd.example:2379"],
      tlsConfig: { certificateAuthority: pair, clientCertificate: pair },
    },
  });
  return new SimulatedManagement({ client, clock, random, log });
}

/** Stands in for etcd: the simulated Pods keep their objects in memory. */
export const NO_DATABASE: Datastore = {
  driver: "etcd",
  check: async () => {},
  ensure: async (place) => checkPlace("etcd", place),
  remove: async () => [],
  places: async () => [],
  copy: async () => {},
  count: async () => 0,
  close: async () => {},
};
