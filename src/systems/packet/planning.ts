import { machineOwner } from "../../cluster-api/owners.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import { TRIAL_BOOT } from "../../machines/purchase.ts";
import type { Planning } from "../planning.ts";
import { accountSource, machineAccount } from "./account.ts";
import { orderOf, placementsOf, specConcerns } from "./claim.ts";
import { clusterNameOf, wantedOf } from "./surroundings.ts";

/** The machine of a PacketMachine. */
const packetMachine: Planning = {
  kind: PacketMachine,
  async effects(object, around, own) {
    const machine = object as PacketMachine;
    const { namespace = "" } = machine.metadata;
    const ref = machineOwner(machine);
    const owner = ref && (await around.find(Machine, ref));
    const name = clusterNameOf(machine, owner);
    const cluster = name === undefined ? undefined : await around.find(Cluster, { namespace, name });
    const infrastructure = cluster?.spec.infrastructureRef;
    const packetCluster =
      infrastructure?.kind === PacketCluster.kind
        ? await around.find(PacketCluster, { namespace, name: infrastructure.name })
        : undefined;
    const account = machineAccount(machine, packetCluster);
    if (account === undefined)
      return {
        unknown: `Cluster ${name ?? "(of no name)"} has no PacketCluster, and spec.providerRef names no account`,
      };
    const wanted = { machine, ...wantedOf(machine, { owner, cluster, packetCluster }) };
    const projectId = account.project || undefined;
    // Others start what their provider installs.
    const boot = machine.spec.os === "custom_ipxe" ? TRIAL_BOOT : { scriptUrl: "", userData: "" };
    return {
      machine: {
        account: accountSource(account, around, own),
        placements: placementsOf(wanted),
        spot: machine.spec.spot && (machine.spec.spot.maxPrice ? { maxPrice: machine.spec.spot.maxPrice } : {}),
        order: (placement) => orderOf(wanted, { placement, boot, projectId }),
        concerns: specConcerns(wanted),
      },
    };
  },
};

export const planning: readonly Planning[] = [packetMachine];
