import { TOKEN_PREFIX } from "../hosts/hosts.ts";
import { CAPABILITY_PREFIX } from "../http/capability.ts";

const SECRET = new RegExp(`(?:${CAPABILITY_PREFIX}|${TOKEN_PREFIX})[\\w-]{16,}`, "g");

const MOST = 1_024;

/**
 * A line as it is kept and shown: no secret of ours, nothing that could steer a terminal, at most 1,024 characters. What comes in is cut
 * after secrets are found, so that no half of one stays.
 */
export function keptLine(said: string): string {
  const line = said
    .slice(0, 16 * MOST)
    .replace(SECRET, "[redacted]")
    .replace(/\p{C}/gu, " ")
    .trimEnd();
  return line.length <= MOST ? line : `${line.slice(0, MOST - 1)}…`;
}
