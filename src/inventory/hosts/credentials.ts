/** Which version of a BMC's Secret was tried, and which was good (`status.triedCredentials`, `status.goodCredentials`). */
import type { Facts } from "./facts.ts";
import { told } from "./moves.ts";
import type { Fields } from "./step.ts";

/** The Secret that was tried, in this version. */
export function tried({ host }: Pick<Facts, "host">, version: string): Fields {
  return { triedCredentials: credentials(host, version) };
}

/** The Secret that the BMC has taken, in this version. */
export function good({ host }: Pick<Facts, "host">, version: string): Fields {
  return { goodCredentials: credentials(host, version), triedCredentials: credentials(host, version) };
}

/** The BMC has taken another version than the status names; undefined: it has not. */
export function renewed(at: Facts): Fields | undefined {
  const { bmc, host } = at;
  if (bmc?.is !== "answers" || host.status?.goodCredentials?.credentialsVersion === bmc.credentials) return undefined;
  return told(at, good(at, bmc.credentials));
}

function credentials({ metadata: { namespace }, spec }: Facts["host"], credentialsVersion: string) {
  return { credentials: { name: spec.bmc?.credentialsName, namespace }, credentialsVersion };
}
