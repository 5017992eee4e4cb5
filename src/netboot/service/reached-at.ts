import { type Interface, interfaceNamed, onlyInterface } from "../dhcp/interface.ts";
import { formatIpv4 } from "../dhcp/wire/ipv4.ts";
import type { NetbootSettings } from "../settings.ts";

/** Where a netboot is reached. */
export interface ReachedAt {
  on: Interface;
  address: string;
  /** For machines: `http://10.20.0.1:8080`. */
  url: string;
  /** For the agent on them: `https://10.20.0.1:8443`. */
  agentUrl: string;
}

/** Where these settings have it served. Throws a `Fault` when this machine has no such interface, or several and none is named. */
export function reachedAt({ interface: name, http }: Pick<NetbootSettings, "interface" | "http">): ReachedAt {
  const on = name === undefined ? onlyInterface() : interfaceNamed(name);
  const address = formatIpv4(on.addresses[0]!.address);
  return { on, address, url: `http://${address}:${http.port}`, agentUrl: `https://${address}:${http.tlsPort}` };
}
