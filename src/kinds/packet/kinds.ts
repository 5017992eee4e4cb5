/** The kinds of Cluster API's provider for Packet, each with its versions. */
import type { Kind } from "../kind.ts";
import { PacketCluster } from "./packet-cluster.ts";
import { PacketClusterTemplate } from "./packet-cluster-template.ts";
import { PacketMachine } from "./packet-machine.ts";
import { PacketMachineTemplate } from "./packet-machine-template.ts";

export const PACKET_KINDS: readonly (readonly Kind[])[] = [
  [PacketCluster],
  [PacketMachine],
  [PacketMachineTemplate],
  [PacketClusterTemplate],
];
