import { Fault } from "@slipway/base";
import { parseBmcAddress } from "./address.ts";
import { IPMITOOL, ipmiRefused, ipmiSession } from "./ipmi.ts";
import type { StreamProgram } from "./run-program.ts";
import type { BmcTarget } from "./target.ts";

/** ipmitool's escape at the beginning of a line: it gives the session back, and the machine sees nothing of it. */
const END_SESSION = "~.";

/** Whether a BMC at this address has a console that `serialOverLan` reads. */
export function hasSerialOverLan(address: string): boolean {
  try {
    return parseBmcAddress(address).protocol === "ipmi";
  } catch {
    return false;
  }
}

/**
 * Reads the machine's serial console through its BMC (IPMI 2.0, serial over LAN) until the signal is aborted; nothing is ever typed there. A BMC has one
 * such session: while another program has it, this rejects with a `Fault` that quotes ipmitool, as for everything else that goes wrong.
 */
export async function serialOverLan(
  { address, credentials }: Pick<BmcTarget, "address" | "credentials">,
  stream: StreamProgram,
  push: (bytes: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  const where = parseBmcAddress(address);
  if (where.protocol !== "ipmi") throw new Fault("Unsupported", address, "only IPMI has serial over LAN");
  const { args, env } = ipmiSession(where, credentials);
  const words = ["sol", "activate"];
  const run = { program: IPMITOOL, args: [...args, ...words], env, farewell: END_SESSION, signal };
  const { code, stderr } = await stream(run, push);
  if (signal.aborted) return;
  if (code !== 0) throw ipmiRefused(`ipmi://${where.host}`, words, stderr);
  throw new Fault("Unavailable", `ipmi://${where.host}`, "the BMC ended the console's session", {
    remedy: "open the page anew",
  });
}
