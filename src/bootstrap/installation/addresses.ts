import { formatIp, netmask, parseCidr } from "@slipway/base";
import type { Network } from "./installation.ts";

/** Address and mask apart, as installers take them: `10.0.0.5/24` → `10.0.0.5`, `255.255.255.0`. */
export function addressOf(network: Extract<Network, { method: "static" }>): { address: string; mask: string } {
  const { address, prefix } = parseCidr(network.address);
  return { address: formatIp(address), mask: netmask(prefix) };
}
