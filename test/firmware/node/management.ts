/** A management cluster whose control plane runs beside the machines, which become its nodes. */
import type { TestContext } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { Node, Secret } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { LAB } from "../../../src/lab/rack.ts";
import { credentialsOf } from "../../../src/pki/tenant/credentials.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "../../system/tenants-world.ts";

export interface Management {
  client: Client;
  transport: Transport;
  kubeconfig: string;
}

/** Starts one without nodes. `assets`: folder with the programs of a control plane. */
export async function managementCluster(t: TestContext, assets: string): Promise<Management> {
  const world = await tenantsWorld(t, assets, { host: LAB.address });
  await world.apply("management", { addons: { kubeProxy: {} } });
  await world.until("management", (one) => stateOf(one) === "Ready");
  const admin = await world.client.get(Secret, { namespace: NAMESPACE, name: "management-admin-kubeconfig" });
  const kubeconfig = Buffer.from(admin.data!["admin.conf"]!, "base64").toString();
  return { ...wayInto(t, kubeconfig), kubeconfig };
}

/** A client of the cluster that a kubeconfig leads to, for as long as the test. */
export function wayInto(t: TestContext, kubeconfig: string): { client: Client; transport: Transport } {
  const { server, caPem: ca, certificatePem: cert, keyPem: key } = credentialsOf(kubeconfig)!;
  const transport = createHttpTransport({ server, ca, cert, key });
  t.after(() => transport.close());
  return { transport, client: createClient(transport, { clock, random, log }) };
}

/** The internal address of a Node. */
export async function addressOf(client: Client, name: string): Promise<string> {
  const { status } = await client.get(Node, { name });
  const addresses = (status as { addresses?: { type: string; address: string }[] }).addresses ?? [];
  return addresses.find(({ type }) => type === "InternalIP")!.address;
}
