import type { Account } from "../../bmc-service/accounts.ts";

/** Who may order one machine. */
export interface MachineUser {
  machine: string;
  username: string;
  password: string;
}

/** The accounts of the service: each orders the machines whose Secrets have its name and password, and sees no other. Pure. */
export function accountsFor(users: readonly MachineUser[]): readonly Account[] {
  const accounts = new Map<string, Account & { machines: string[] }>();
  for (const { machine, username, password } of users) {
    const key = JSON.stringify([username, password]);
    const account = accounts.get(key) ?? { username, password, role: "Operator", machines: [] };
    account.machines.push(machine);
    accounts.set(key, account);
  }
  return [...accounts.values()];
}
