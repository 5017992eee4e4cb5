import type { Random } from "@slipway/base";
import type { StatusRecord } from "@slipway/kube";
import type { ImageBootSettings } from "../../bootstrap/image-boot.ts";
import type { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import type { Accounts } from "../../machines/accounts.ts";
import type { Patience } from "../../machines/patience.ts";
import type { WorkloadClusters } from "../../workload/workload-clusters.ts";
import type { OwnAccount } from "../providers/accounts.ts";
import type { FetchedData } from "./fetched-data.ts";

/** What the controllers of this system share. */
export interface Plunder {
  accounts: Accounts;
  own: OwnAccount;
  boots: ImageBootSettings;
  workloads: WorkloadClusters;
  random: Random;
  onSecret: (value: string) => void;
  patience: Patience;
  fetched: FetchedData;
  /** Between looks at machines on their way. */
  pollMs: number;
}

export type MachineRecord = StatusRecord<PlunderMachine>;
