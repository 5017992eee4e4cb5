import type { StatusRecord } from "@slipway/kube";
import type { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import type { Accounts } from "../../machines/accounts.ts";
import type { Patience } from "../../machines/patience.ts";
import type { OwnAccount } from "../providers/accounts.ts";
import type { MachineBoots } from "./boots.ts";

/** How projects announce addresses for KUBE_VIP. */
export interface BgpSettings {
  asn: number;
  password: string | undefined;
}

/** What the controllers of this system share. */
export interface Packet {
  accounts: Accounts;
  own: OwnAccount;
  boots: MachineBoots;
  patience: Patience;
  bgp: BgpSettings;
  /** Between looks at machines on their way. */
  pollMs: number;
}

/** What a PacketCluster's reconcile writes to its status. */
export type ClusterRecord = StatusRecord<PacketCluster>;
