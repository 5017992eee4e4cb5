import type { Accounts } from "../../machines/accounts.ts";
import type { OwnAccount } from "../providers/accounts.ts";
import type { Boots } from "./boots.ts";
import type { JoinTokenSource } from "./join-facts.ts";
import type { Patience } from "./patience.ts";

/** What the controllers of this system share: accounts at providers, the cluster's facts, and prepared boots. */
export interface Harvester {
  accounts: Accounts;
  addon: OwnAccount;
  joinToken: JoinTokenSource;
  boots: Boots;
  patience: Patience;
  /** Between looks at machines on their way. */
  pollMs: number;
}
