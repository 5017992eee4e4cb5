import type { DhcpEvent, DhcpListener } from "../dhcp/event.ts";
import type { Via } from "../dhcp/leases/lease.ts";
import { platformOf } from "../dhcp/options/client-architecture.ts";
import { formatIpv4 } from "../dhcp/wire/ipv4.ts";
import type { Hosts, Sighting } from "../hosts/hosts.ts";
import { LINK } from "../hosts/records.ts";

export interface Hearing {
  hosts: Pick<Hosts, "seen" | "get">;
  /** A line about what the machine did. */
  note(mac: string, line: string): void;
}

/**
 * Makes hosts of the machines that ask DHCP for something to boot. What runs an operating system and merely wants an address is no
 * host, unless it is one already.
 */
export function hearing({ hosts, note }: Hearing): DhcpListener {
  return (event) => {
    // If another machine holds the address, the intended machine is unknown.
    if (event.is === "inUse") return;
    const { client } = event;
    const { mac } = client;
    if (mac === undefined) return;
    const boots = client.loader !== undefined || client.ipxe !== undefined;
    if (!boots && hosts.get(mac) === undefined) return;
    if (event.is === "seen") {
      // An operating system does not say what machine it runs on.
      hosts.seen({
        ...{ mac, source: sourceOf(event.via) },
        ...(boots && machineOf(client.architecture, client.ipxe !== undefined)),
      });
      return;
    }
    if (event.is === "bound") hosts.seen({ mac, address: formatIpv4(event.address) });
    note(mac, textOf(event));
  };
}

/** Whom a machine shares its room for records with: our own link, or the port of its relay. */
function sourceOf(via: Via | undefined): string {
  return via === undefined ? LINK : `relay:${formatIpv4(via.giaddr)}/${via.circuit ?? ""}`;
}

/** iPXE for BIOS says 0 whatever it runs on; firmware that loads by HTTP is UEFI all the same. */
function machineOf(architecture: number, isIpxe: boolean): Pick<Sighting, "architecture" | "firmware"> {
  const platform = platformOf(architecture);
  if (platform === "bios") return { architecture: "x86_64", firmware: "bios" };
  if (platform === "x64") return { architecture: "x86_64", firmware: "uefi" };
  if (platform === "arm64") return { architecture: "aarch64", firmware: "uefi" };
  return isIpxe ? { firmware: "uefi" } : {};
}

function textOf(event: Exclude<DhcpEvent, { is: "seen" | "inUse" }>): string {
  switch (event.is) {
    case "bound":
      return `${formatIpv4(event.address)} is given until ${new Date(event.expiresAt).toISOString()}`;
    case "released":
      return `${formatIpv4(event.address)} is given back`;
    case "declined":
      return `${formatIpv4(event.address)} is in use already, the machine says`;
    case "elsewhere":
      return `it takes what another DHCP server, ${formatIpv4(event.server)}, offers`;
    case "refused":
      return `${formatIpv4(event.address)} is refused: ${event.because}`;
    case "noAddress":
      return `no address in ${event.subnet}: ${event.because}`;
  }
}
