import type { AccountSource, Accounts } from "../../machines/accounts.ts";
import type { Check } from "./finding.ts";

/** Whether an account's credentials are there, and whether the provider takes them: its machines are listed once, and nothing is bought. */
export function accountCheck(accounts: Pick<Accounts, "fleet">, source: AccountSource): Check {
  const about = source.name;
  return {
    about,
    async look() {
      const { type } = await source.read();
      const { driver } = await accounts.fleet(source);
      const machines = await driver.list();
      return [{ about, is: "well", message: `${type} takes the credentials; ${machines.length} machines are there` }];
    },
  };
}
