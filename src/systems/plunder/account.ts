/** What gives a PlunderMachine's host: a MachineProvider, or a netboot outside of this operator that Secret `plunder` beside the machine names. */
import { Fault } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import type { PlunderCluster } from "../../kinds/plunder/plunder-cluster.ts";
import type { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import type { Account, AccountSource } from "../../machines/accounts.ts";
import type { Fleet } from "../../machines/fleet.ts";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import { readClientFile } from "../../plunder/client/client-file.ts";
import { accountOf, type OwnAccount, type Reader } from "../providers/accounts.ts";
import { DEFAULT_PROVIDER, PLUNDER, SECRET_PROVIDER } from "./names.ts";

const NO_MAPPINGS = { token: "", project: "", planMapping: {}, metroMapping: {} };

/** All hosts that are offered, whatever their hardware: as the original took whatever was switched on. */
const ALL_HOSTS: Account = {
  ...{ type: "inventory", endpoint: undefined, ca: undefined, ...NO_MAPPINGS },
  inventory: { namespaces: [DISCOVERY_NAMESPACE], plans: {}, setAsideAfter: 2 },
};

/** As the original's users have it. */
const FILE_KEY = "plunderclient.yaml";

/** The provider: what gave the host, or was asked for it last without a clear answer, else what the machine says, its PlunderCluster, Secret `plunder` where there is one, or the default. */
export async function providerOf(
  { spec, status, metadata }: PlunderMachine,
  cluster: PlunderCluster | undefined,
  client: Reader,
): Promise<string> {
  const isBound = Boolean(status?.instanceID) || status?.purchase?.state === "Pending";
  const named = (isBound ? status?.provider : undefined) ?? spec.providerRef?.name ?? cluster?.spec.providerRef?.name;
  if (named !== undefined) return named;
  const { namespace = "" } = metadata;
  return (await client.find(Secret, { namespace, name: PLUNDER })) === undefined ? DEFAULT_PROVIDER : SECRET_PROVIDER;
}

/** Where it is described. */
export function providerSource(
  name: string,
  { metadata: { namespace = "" } }: Pick<PlunderMachine, "metadata">,
  client: Reader,
  own: OwnAccount,
): AccountSource {
  if (name === SECRET_PROVIDER) return netbootSource(namespace, client, own);
  const source = accountOf({ providerRef: { name } }, client, own);
  if (name !== DEFAULT_PROVIDER) return source;
  return {
    name: source.name,
    read: async () => ((await client.find(MachineProvider, { name })) === undefined ? ALL_HOSTS : await source.read()),
  };
}

/** The account of the netboot that serves the machines of a namespace. */
export const netbootAccount = (namespace: string): string => `Secret/${namespace}/${PLUNDER}`;

function netbootSource(namespace: string, client: Reader, own: OwnAccount): AccountSource {
  const on = netbootAccount(namespace);
  const missing = (what: string, remedy: string): Fault => new Fault("MissingInput", on, what, { remedy });
  return {
    name: on,
    async read() {
      const secret = await client.find(Secret, { namespace, name: PLUNDER });
      if (secret === undefined)
        throw missing("the Secret does not exist", "create it anew from the netboot's client file");
      const text = Buffer.from(secret.data?.[FILE_KEY] ?? "", "base64").toString("utf8");
      if (text.trim() === "")
        throw missing(
          `the Secret has no key ${FILE_KEY}`,
          `kubectl create secret generic ${PLUNDER} --from-file=${FILE_KEY}=FILE`,
        );
      const { address, port, credentials } = readClientFile(text, `${on}, ${FILE_KEY}`);
      if (credentials === undefined)
        throw missing(
          "it names a netboot, and has no client certificate",
          "have one issued by slipway plunder client --issue on the machine of the netboot",
        );
      const { certificatePem, keyPem, authorityPem } = credentials;
      own.onSecret?.(keyPem);
      const host = address.includes(":") && !address.startsWith("[") ? `[${address}]` : address;
      return {
        ...{ type: "plunder", endpoint: `https://${host}:${port}`, ca: authorityPem, ...NO_MAPPINGS },
        client: { certificatePem, keyPem },
      };
    },
  };
}

/** Throws `Invalid` for a provider that rents its machines out: PlunderMachines are hosts of your own. */
export function refuseClouds({ driver }: Fleet, name: string): void {
  if (driver.type === "inventory" || driver.type === "plunder") return;
  throw new Fault("Invalid", `MachineProvider/${name}`, `a PlunderMachine's host can't come from ${driver.type}`, {
    remedy: "name a MachineProvider of the type inventory in spec.providerRef, or use PacketMachines",
  });
}
