import { createHash } from "node:crypto";

/**
 * The public half of an agent's key, as age writes it (age-encryption.org/v1, X25519). The agent makes the key in memory at each boot;
 * what is encrypted to it can be read by that boot of that machine only.
 */
export const AGENT_KEY = /^age1[02-9ac-hj-np-z]{58}$/;

/** What people compare: `3f2a-…`, 24 hexadecimal digits of the SHA-256 of the key's text. The machine shows the same on its screen. */
export function fingerprint(agentKey: string): string {
  const digits = createHash("sha256").update(agentKey).digest("hex").slice(0, 24);
  return digits.match(/.{4}/g)!.join("-");
}
