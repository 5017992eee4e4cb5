import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { createServer } from "node:net";
import { asFault } from "@slipway/base";
import { bootCatalog } from "../../netboot/boot/catalog.ts";
import { compileSubnets } from "../../netboot/dhcp/subnet.ts";
import { formatIpv4 } from "../../netboot/dhcp/wire/ipv4.ts";
import { reachedAt } from "../../netboot/service/reached-at.ts";
import type { NetbootSettings } from "../../netboot/settings.ts";
import type { Check, Finding } from "./finding.ts";

/** A port that netboot listens on. */
export interface Port {
  protocol: "udp" | "tcp";
  port: number;
  what: string;
}

export interface NetworkUnderTest {
  settings: NetbootSettings;
  assets: string;
  /** Addresses of the DHCP servers that answer on this interface. Rejects where it can't be asked. */
  dhcpServers: (device: string) => Promise<string[]>;
  /** Opens the port and closes it again. Rejects with the system's error. */
  tryPort?: (port: Port, address: string) => Promise<void>;
}

/** What a netboot with these settings needs of the machine and the network that it is to run on. Gives no address and boots nothing. */
export function networkChecks(of: NetworkUnderTest): Check[] {
  const { settings } = of;
  return [
    { about: "interface", look: async () => interfaceOf(settings) },
    { about: "subnets", look: async () => subnets(settings) },
    { about: "boot files", look: () => bootFiles(of) },
    { about: "ports", look: () => ports(of) },
    { about: "other DHCP", look: () => otherServers(of) },
    { about: "name servers", look: () => nameServers(settings) },
  ];
}

function interfaceOf(settings: NetbootSettings): Finding[] {
  const { on, address } = reachedAt(settings);
  return [{ about: "interface", is: "well", message: `${on.name}, ${address}` }];
}

function subnets(settings: NetbootSettings): Finding[] {
  const about = "subnets";
  const { dhcp } = settings;
  compileSubnets(dhcp.subnets);
  if (dhcp.mode !== "pool")
    return [{ about, is: "well", message: `DHCP ${dhcp.mode}: no address is given from a pool` }];
  const { on } = reachedAt(settings);
  const own = on.addresses.map(({ address, mask }) => ({ network: (address & mask) >>> 0, mask }));
  const text = own.map(({ network }) => formatIpv4(network)).join(", ");
  const fits = dhcp.subnets.some(({ network }) => own.some((one) => network.startsWith(`${formatIpv4(one.network)}/`)));
  if (fits) return [{ about, is: "well", message: dhcp.subnets.map(({ network }) => network).join(", ") }];
  const message = `${on.name} is in ${text}, and no subnet is`;
  const repair = "correct dhcp.subnets or --subnet; where all machines are behind relays, this is as it should be";
  return [{ about, is: "warning", message, repair }];
}

async function bootFiles({ settings: { boot }, assets }: NetworkUnderTest): Promise<Finding[]> {
  const about = "boot files";
  const catalog = await bootCatalog({ assets, uefi: boot.uefi, ...(boot.files !== undefined && { own: boot.files }) });
  if (catalog.missing.length === 0) return [{ about, is: "well", message: assets }];
  return catalog.missing.map(({ file, effect, remedy }) => ({
    ...{ about, is: "problem", message: `${file} is missing: ${effect}`, repair: remedy },
  }));
}

/** The ports of these settings. */
export function portsOf({ dhcp, tftp, http, syslog, api }: NetbootSettings): Port[] {
  const isOn = dhcp.mode !== "off";
  return [
    ...(isOn ? [{ protocol: "udp", port: 67, what: "DHCP" } as const] : []),
    ...(isOn ? [{ protocol: "udp", port: 4011, what: "PXE" } as const] : []),
    ...(tftp.enabled ? [{ protocol: "udp", port: 69, what: "TFTP" } as const] : []),
    ...(syslog.enabled ? [{ protocol: "udp", port: 514, what: "syslog" } as const] : []),
    { protocol: "tcp", port: http.port, what: "HTTP" },
    { protocol: "tcp", port: http.tlsPort, what: "HTTPS for agents" },
    ...(api === undefined ? [] : [{ protocol: "tcp", port: api.port, what: "API" } as const]),
  ];
}

const REPAIRS: Readonly<Record<string, (port: Port) => string>> = {
  EADDRINUSE: ({ protocol, port }) =>
    `end what listens there: ss -lnp${protocol === "udp" ? "u" : "t"} 'sport = :${port}'; a netboot that runs here already has them all`,
  EACCES: () => "run it as root, with CAP_NET_BIND_SERVICE, or with the sockets of systemd (examples/rack)",
  EADDRNOTAVAIL: () => "give the interface its address again: ip addr",
};

async function ports({ settings, tryPort = openPort }: NetworkUnderTest): Promise<Finding[]> {
  const { address } = reachedAt(settings);
  const findings: Finding[] = [];
  for (const port of portsOf(settings)) {
    const about = `port ${port.port}/${port.protocol}`;
    const code = await tryPort(port, address).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
    if (code === undefined) findings.push({ about, is: "well", message: `free for ${port.what}` });
    else {
      const repair = REPAIRS[code]?.(port) ?? "see the system's log";
      findings.push({ about, is: "problem", message: `${port.what} can't listen: ${code}`, repair });
    }
  }
  return findings;
}

async function openPort({ protocol, port }: Port, address: string): Promise<void> {
  if (protocol === "udp") {
    const socket = createSocket("udp4");
    const opened = once(socket, "listening").finally(() => socket.close());
    socket.bind({ port, address, exclusive: true });
    await opened;
  } else {
    const server = createServer();
    const opened = once(server, "listening").finally(() => server.close());
    server.listen(port, address);
    await opened;
  }
}

async function otherServers({ settings, dhcpServers }: NetworkUnderTest): Promise<Finding[]> {
  const about = "other DHCP";
  const { on, address } = reachedAt(settings);
  const { mode } = settings.dhcp;
  let servers: string[];
  try {
    servers = (await dhcpServers(on.name)).filter((server) => server !== address);
  } catch (error) {
    const { message, remedy = "run this check as root" } = asFault(error, about);
    return [{ about, is: "warning", message: `it can't be asked who answers: ${message}`, repair: remedy }];
  }
  const they = servers.join(", ");
  if (mode === "pool" && servers.length > 0) {
    const repair = "stop it, or leave addresses to it: --dhcp proxy, and name its network with --foreign";
    return [{ about, is: "problem", message: `${they} gives addresses, too`, repair }];
  }
  if (mode === "proxy" && servers.length === 0) {
    const repair = "start one, or give addresses here: --dhcp pool --subnet NETWORK --range FIRST-LAST";
    return [{ about, is: "problem", message: "nobody gives addresses, and proxy does not", repair }];
  }
  return [{ about, is: "well", message: servers.length === 0 ? "none answers" : `${they} gives the addresses` }];
}

const DNS_MS = 2_000;

/** Whether the name servers that machines are given answer at all. */
async function nameServers({ dhcp }: NetbootSettings): Promise<Finding[]> {
  const about = "name servers";
  const servers = [...new Set(dhcp.subnets.flatMap(({ nameServers: own = [] }) => own))];
  if (servers.length === 0) return [{ about, is: "well", message: "machines are given none" }];
  return await Promise.all(servers.map((server) => nameServer(`name server ${server}`, server)));
}

/** Answers that say that they know no such name. */
const ANSWERS: ReadonlySet<string | undefined> = new Set(["ENOTFOUND", "ENODATA", "EREFUSED", "ESERVFAIL"]);

async function nameServer(about: string, server: string): Promise<Finding> {
  const resolver = new Resolver({ timeout: DNS_MS, tries: 1 });
  resolver.setServers([server]);
  const code = await resolver.resolveNs(".").then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (code === undefined || ANSWERS.has(code)) return { about, is: "well", message: "answers" };
  const repair = "correct nameServers, or open UDP port 53 on the way; what machines fetch by name fails until then";
  return { about, is: "warning", message: `does not answer (${code})`, repair };
}
