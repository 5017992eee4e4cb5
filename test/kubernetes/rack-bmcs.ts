/** The rack that stands in for a user's own machines, declared as a person would. */
import type { Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { STAND_IN_LOGIN, STAND_IN_SERVERS, standInBmc } from "../../src/systems/netboot/stand-in.ts";
import { until } from "./live.ts";

const BMC_LOGIN = "bmc";

/** The hosts get their BMCs, so that they are switched on for their wipes. Resolves once all are offered. */
export async function declareBmcs(client: Client): Promise<void> {
  const metadata = { namespace: DISCOVERY_NAMESPACE, name: BMC_LOGIN };
  await client.create(Secret, { metadata, stringData: { ...STAND_IN_LOGIN } });
  const hosts = async () =>
    (await client.list(BareMetalHost)).items.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
  await until("all hosts are seen", async () => (await hosts()).length === STAND_IN_SERVERS.length, 60_000);
  for (const [
    at,
    {
      metadata: { name },
    },
  ] of (await hosts()).entries()) {
    const body = { spec: { bmc: { address: standInBmc(at), credentialsName: BMC_LOGIN }, online: true } };
    await client.patch(BareMetalHost, { namespace: DISCOVERY_NAMESPACE, name }, { type: "merge", body });
  }
  const isOffered = ({ status }: BareMetalHost): boolean => status?.provisioning?.state === "available";
  await until("all hosts are offered", async () => (await hosts()).every(isOffered), 60_000);
}
