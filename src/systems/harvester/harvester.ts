import type { Accounts } from "../../machines/accounts.ts";
import type { Patience } from "../../machines/patience.ts";
import type { OwnAccount } from "../providers/accounts.ts";
import type { Boots } from "./boots.ts";
import type { JoinInputs } from "./join-facts.ts";

/** What the controllers of this system share: accounts at providers, the cluster's facts, and prepared boots. */
export interface Harvester {
  accounts: Accounts;
  addon: OwnAccount;
  inputs: JoinInputs;
  boots: Boots;
  patience: Patience;
  /** Between looks at machines on their way. */
  pollMs: number;
}
