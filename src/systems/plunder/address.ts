/** A machine's address from a pool: Cluster API's IPAM contract. The claim goes with the machine, so nothing leaks (N42). */
import { isFault } from "@slipway/base";
import { type Cache, type Client, controllerReference, type Ref } from "@slipway/kube";
import { LABELS } from "../../cluster-api/names.ts";
import { IPAddress } from "../../kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import type { Gate } from "../../machines/wanted-step.ts";

/** A machine's address as its kernel is given it. */
export interface MachineAddress {
  address: string;
  prefix: number;
  gateway: string | undefined;
}

export type Claimed = { is: "none" } | { is: "had"; of: MachineAddress } | { is: "waits"; gate: Gate };

const claimRef = ({ metadata }: PlunderMachine): Required<Ref> => ({
  namespace: metadata.namespace!,
  name: metadata.name,
});

/** The machine's address from its pool; its claim is made where there is none. */
export async function claimedAddress(
  client: Client,
  cache: Cache,
  machine: PlunderMachine,
  cluster: string,
): Promise<Claimed> {
  const pool = machine.spec.addressesFromPool;
  if (pool === undefined || machine.spec.ipAddress) return { is: "none" };
  const ref = claimRef(machine);
  const claim = cache.get(IPAddressClaim, ref) ?? (await make(client, machine, { pool, cluster }));
  const name = claim?.status?.addressRef?.name;
  const address = name === undefined ? undefined : cache.get(IPAddress, { ...ref, name });
  if (address === undefined) {
    const why = claim?.status?.conditions?.find(({ type }) => type === "Ready")?.message;
    const what = `an address of ${pool.kind} ${pool.name} for IPAddressClaim ${ref.name}${why ? ` (${why})` : ""}`;
    return { is: "waits", gate: { reason: "WaitingForAddress", what } };
  }
  const { spec } = address;
  return { is: "had", of: { address: spec.address, prefix: spec.prefix, gateway: spec.gateway } };
}

type Pool = NonNullable<PlunderMachine["spec"]["addressesFromPool"]>;

async function make(client: Client, machine: PlunderMachine, { pool, cluster }: { pool: Pool; cluster: string }) {
  try {
    return await client.create(IPAddressClaim, {
      metadata: {
        ...claimRef(machine),
        labels: { [LABELS.clusterName]: cluster },
        ownerReferences: [controllerReference(PlunderMachine, machine)],
      },
      spec: { poolRef: pool, clusterName: cluster },
    } as never);
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
    return await client.find(IPAddressClaim, claimRef(machine));
  }
}

/** Words of a kernel's command line that give it an IPv4 address: the kernel configures no other. */
export function addressArguments({ address, prefix, gateway = "" }: MachineAddress, hostname: string): string[] {
  const mask = [24, 16, 8, 0].map((shift) => ((2 ** 32 - 2 ** (32 - prefix)) / 2 ** shift) & 255).join(".");
  return [`ip=${address}::${gateway}:${mask}:${hostname}::none`];
}
