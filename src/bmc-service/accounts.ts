import { createHash, timingSafeEqual } from "node:crypto";

/** The predefined roles of Redfish (DSP0266, roles), and what each may. */
export const ROLES = {
  Administrator: ["Login", "ConfigureManager", "ConfigureUsers", "ConfigureComponents", "ConfigureSelf"],
  Operator: ["Login", "ConfigureComponents", "ConfigureSelf"],
  ReadOnly: ["Login", "ConfigureSelf"],
} as const;

export type Role = keyof typeof ROLES;

export interface Account {
  username: string;
  password: string;
  role: Role;
  /** Ids of the machines that it sees and may order. Unset: all. */
  machines?: readonly string[];
}

/** Whether two are one account: whoever shows its name and password. */
export function isSameAccount(a: Account, b: Account): boolean {
  return isSame(a.username, b.username) && isSame(a.password, b.password);
}

/** The account with this name and password. Takes the same time for a wrong name as for a wrong password. */
export function accountOf(accounts: readonly Account[], username: string, password: string): Account | undefined {
  let found: Account | undefined;
  for (const account of accounts) {
    const [name, secret] = [isSame(account.username, username), isSame(account.password, password)];
    if (name && secret) found = account;
  }
  return found;
}

/** Whether two texts are the same, in a time that does not say how much of them is. */
export function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
