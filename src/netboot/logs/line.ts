import { BOOT_VALUE_PREFIX } from "../hosts/asked-boots.ts";
import { TOKEN_PREFIX } from "../hosts/hosts.ts";
import { CAPABILITY_PREFIX } from "../http/boot-capability.ts";

const SECRET = new RegExp(`(?:${CAPABILITY_PREFIX}|${TOKEN_PREFIX}|${BOOT_VALUE_PREFIX})[\\w-]{16,}`, "g");

const MOST = 1_024;

/** More of a line is not looked at. */
const MOST_SAID = 16 * MOST;

/**
 * A line as it is kept and shown: no secret of ours, nothing that could steer a terminal, at most 1,024 characters. What comes in is cut
 * after secrets are found, so that no half of one stays.
 */
export function keptLine(said: string): string {
  const line = said.slice(0, MOST_SAID).replace(SECRET, "[redacted]").replace(/\p{C}/gu, " ").trimEnd();
  const kept = line.length <= MOST ? line : `${line.slice(0, MOST - 1)}…`;
  // Copied: a part of a text would hold on to the whole.
  return Buffer.from(kept, "utf16le").toString("utf16le");
}
