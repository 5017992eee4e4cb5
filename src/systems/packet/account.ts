/** Which account serves an object: the MachineProvider it names, else a Secret with an API key and the PacketCluster's project. */
import { Fault } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import type { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import type { PacketMachine, PacketMachineStatus } from "../../kinds/packet/packet-machine.ts";
import type { AccountSource } from "../../machines/accounts.ts";
import { accountOf, type OwnAccount, type Reader } from "../providers/accounts.ts";
import { API_KEY, DEFAULT_NAMESPACE, DEFAULT_SECRET } from "./names.ts";

/** What says which account it is. Kept in a machine's status: the PacketCluster may be gone before the machine is. */
export type AccountName = NonNullable<PacketMachineStatus["account"]>;

/** The account of a PacketCluster. */
export function clusterAccount({ metadata, spec }: PacketCluster): AccountName {
  if (spec.providerRef !== undefined) return { provider: spec.providerRef.name };
  const secret = spec.credentialsRef && `${metadata.namespace}/${spec.credentialsRef.name}`;
  return { project: spec.projectID, ...(secret !== undefined && { secret }) };
}

/** The account of a machine: what it was ordered with, else its own, else that of its PacketCluster. Undefined: nothing says. */
export function machineAccount(machine: PacketMachine, cluster: PacketCluster | undefined): AccountName | undefined {
  if (machine.status?.account !== undefined) return machine.status.account;
  if (machine.spec.providerRef !== undefined) return { provider: machine.spec.providerRef.name };
  return cluster && clusterAccount(cluster);
}

/** Where an account's type and credentials are read. */
export function accountSource(
  { provider, secret, project = "" }: AccountName,
  client: Reader,
  own: OwnAccount,
): AccountSource {
  if (provider !== undefined) return accountOf({ providerRef: { name: provider } }, client, own);
  const named = secret?.split("/");
  const places = named
    ? [{ namespace: named[0]!, name: named[1]! }]
    : [
        { namespace: own.namespace, name: DEFAULT_SECRET },
        { namespace: own.namespace, name: own.secret },
        { namespace: DEFAULT_NAMESPACE, name: DEFAULT_SECRET },
      ];
  return {
    name: `Secret/${secret ?? `${own.namespace}/${DEFAULT_SECRET}`} of project ${project}`,
    async read() {
      const token = await apiKey(client, places);
      own.onSecret?.(token);
      return { type: "equinix", endpoint: undefined, ca: undefined, token, project, planMapping: {}, metroMapping: {} };
    },
  };
}

/** The original's key, or the one that Slipway's other systems use, in the first of these Secrets that has one. */
async function apiKey(client: Reader, places: readonly { namespace: string; name: string }[]): Promise<string> {
  for (const ref of places) {
    const data = (await client.find(Secret, ref))?.data;
    const text = data?.[API_KEY] ?? data?.METAL_AUTH_TOKEN;
    const key = Buffer.from(text ?? "", "base64")
      .toString("utf8")
      .trim();
    if (key !== "") return key;
  }
  const names = places.map(({ namespace, name }) => `${namespace}/${name}`);
  throw new Fault("MissingInput", `Secret/${names[0]}`, `no API key in ${API_KEY} there`, {
    remedy: `create one of the Secrets ${names.join(", ")} with the key ${API_KEY}, or name a MachineProvider in spec.providerRef`,
  });
}
