import { refusal } from "./refusal.ts";

/** Variables whose values GRUB forms itself: addresses, names of its own, no text of a DHCP server. */
const LOADER_VARIABLES: ReadonlySet<string> = new Set([
  "net_default_mac",
  "net_default_ip",
  "grub_cpu",
  "grub_platform",
  // "y" under Secure Boot.
  "lockdown",
]);

/** The address of a card's hardware, where DHCP has given the card an address. */
const CARD_VARIABLE = /^net_efinet\d_dhcp_mac$/;

/** A variable of GRUB's, or one that the same script sets: expanded on the machine. */
export interface Reference {
  variable: string;
}

/** One word of a command: literal text, references, or both in a row. */
export type Value = string | Reference | readonly (string | Reference)[];

/**
 * One word of GRUB's language. Text stands in single quotes, in which nothing but the quote itself is special; a reference in double
 * ones, which keep its value together and its stars and backslashes as they are. `own`: names that the script sets.
 */
export function quoted(where: string, value: Value, own: ReadonlySet<string>): string {
  const parts = typeof value === "string" || "variable" in value ? [value] : value;
  const text = parts.map((part) => (typeof part === "string" ? literal(where, part) : expansion(part, own))).join("");
  if (text === "") throw refusal(where, text, "is empty");
  return text;
}

/** Printable ASCII: a line's end would be lost on the way, and GRUB's reading of other characters depends on its terminal. */
function literal(where: string, text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) throw refusal(where, text, "contains control or non-ASCII characters");
  return text === "" ? "" : `'${text.replaceAll("'", "'\\''")}'`;
}

function expansion({ variable }: Reference, own: ReadonlySet<string>): string {
  if (!LOADER_VARIABLES.has(variable) && !CARD_VARIABLE.test(variable) && !own.has(variable))
    throw refusal("reference", variable, "is neither set by this script nor a variable whose value GRUB forms itself");
  return `"\${${variable}}"`;
}
