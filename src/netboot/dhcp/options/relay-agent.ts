import type { Ipv4 } from "../wire/ipv4.ts";
import * as addresses from "./addresses.ts";
import * as subOptions from "./sub-options.ts";

/**
 * Option 82, relay agent information (RFC 3046), as far as the server reads it. It is echoed as it came, bytes unchanged.
 * `linkSelection` (RFC 3527) names the client's subnet where `giaddr` can't; `serverOverride` (RFC 5107) is the address that
 * the relay wants to be taken for the server.
 */
export interface RelayAgent {
  circuit?: Uint8Array;
  remote?: Uint8Array;
  linkSelection?: Ipv4;
  serverOverride?: Ipv4;
}

const CODE = { circuit: 1, remote: 2, linkSelection: 5, serverOverride: 11 } as const;

/** Unknown sub-options are skipped. Throws `Malformed` when one reaches beyond the option, or an address has not four bytes. */
export function decode(bytes: Uint8Array): RelayAgent {
  const found = subOptions.decode(bytes, "option 82", "plain");
  const circuit = found.get(CODE.circuit);
  const remote = found.get(CODE.remote);
  const link = found.get(CODE.linkSelection);
  const server = found.get(CODE.serverOverride);
  return {
    ...(circuit && { circuit }),
    ...(remote && { remote }),
    ...(link && { linkSelection: addresses.decodeOne(link) }),
    ...(server && { serverOverride: addresses.decodeOne(server) }),
  };
}
