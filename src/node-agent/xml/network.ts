/** The definition of a network for libvirt: a bridge of the node with its addresses and, where it is wanted, DHCP. */
import { type Cidr, contains, Fault, formatIp, type Mac, parseCidr, parseIp, tryParseIp } from "@slipway/base";
import { type Element, element, textElement, write } from "./element.ts";
import { find, readXml } from "./read.ts";
import { metadata, type NetworkRecord, networkRecordOf } from "./record.ts";

const DNSMASQ = "http://libvirt.org/schemas/network/dnsmasq/1.0";

export interface NetworkDefinition {
  name: string;
  uuid: string;
  bridge: string;
  mac: Mac;
  /** Of the bridge, each with its prefix. */
  addresses: readonly string[];
  /** At most one of each family: libvirt has no more. */
  dhcp: readonly { start: string; stop: string }[];
  dnsServers: readonly string[];
  bootUrl?: string;
  record: NetworkRecord;
}

/**
 * The definition as libvirt takes it: routed without rules of a firewall (`open`), so that it stays out of the way of the cluster's own
 * network. No DNS is served. Throws a `Fault` (`Invalid`) for what can't be served.
 */
export function networkXml(of: NetworkDefinition): string {
  const addresses = of.addresses.map(parsedAddress);
  const ranges = of.dhcp.map((range) => ({ ...range, at: addressFor(range, addresses) }));
  const options = dnsOptions(of.dnsServers);
  return write(
    element(
      "network",
      options.length > 0 ? { "xmlns:dnsmasq": DNSMASQ } : {},
      textElement("name", of.name),
      textElement("uuid", of.uuid),
      metadata(of.record),
      element("forward", { mode: "open" }),
      element("bridge", { name: of.bridge, stp: "off", delay: 0 }),
      element("mac", { address: of.mac }),
      element("dns", { enable: "no" }),
      ...addresses.map((address) =>
        addressElement(
          address,
          ranges.filter(({ at }) => at === address),
          of.bootUrl,
        ),
      ),
      options.length > 0 &&
        element("dnsmasq:options", {}, ...options.map((value) => element("dnsmasq:option", { value }))),
    ),
  );
}

interface Address extends Cidr {
  text: string;
}

function parsedAddress(text: string): Address {
  try {
    return { ...parseCidr(text), text: formatIp(parseIp(text.split("/")[0]!)) };
  } catch (cause) {
    throw invalid(`${JSON.stringify(text.slice(0, 64))} is no address with a prefix such as 192.168.2.10/20`, cause);
  }
}

function addressFor({ start, stop }: { start: string; stop: string }, addresses: readonly Address[]): Address {
  const [first, last] = [tryParseIp(start), tryParseIp(stop)];
  if (first === undefined || last === undefined) throw invalid(`${start}-${stop} is no range of addresses`);
  const found = addresses.find((address) => contains(address, first) && contains(address, last));
  if (found === undefined) throw invalid(`DHCP's ${start}-${stop} is in no network of the bridge's addresses`);
  return found;
}

function addressElement(
  { text, prefix }: Address,
  ranges: readonly { start: string; stop: string }[],
  bootUrl: string | undefined,
): Element {
  const isV6 = text.includes(":");
  const boot = bootUrl !== undefined && !isV6 ? element("bootp", { file: checkedUrl(bootUrl) }) : undefined;
  return element(
    "ip",
    { family: isV6 ? "ipv6" : "ipv4", address: text, prefix },
    ranges.length > 0 &&
      element("dhcp", {}, ...ranges.map(({ start, stop }) => element("range", { start, end: stop })), boot),
  );
}

/** dnsmasq's own configuration has no quotes for these: what would be more than an address is refused. */
function dnsOptions(servers: readonly string[]): readonly string[] {
  const parsed = servers.map((server) => {
    const address = tryParseIp(server);
    if (address === undefined) throw invalid(`the name server ${JSON.stringify(server.slice(0, 64))} is no address`);
    return formatIp(address);
  });
  const [v4, v6] = [parsed.filter((one) => !one.includes(":")), parsed.filter((one) => one.includes(":"))];
  return [
    ...(v4.length > 0 ? [`dhcp-option=option:dns-server,${v4.join(",")}`] : []),
    ...(v6.length > 0 ? [`dhcp-option=option6:dns-server,${v6.map((one) => `[${one}]`).join(",")}`] : []),
  ];
}

/** libvirt copies it into dnsmasq's configuration, where a comma or a line end would begin something else. */
function checkedUrl(url: string): string {
  if (!/^https?:\/\/[^\s,"'\\#\p{Cc}]{1,255}$/u.test(url) || !URL.canParse(url))
    throw invalid(`${JSON.stringify(url.slice(0, 64))} is no URL that DHCP can name`);
  return url;
}

function invalid(message: string, cause?: unknown): Fault {
  return new Fault("Invalid", "network", message, { cause });
}

export interface NetworkRead {
  name: string;
  uuid: string;
  bridge?: string;
  mac?: Mac;
  /** Undefined: it is not the agent's. */
  record?: NetworkRecord;
}

/** Reads a network's description. Throws a `Fault` (`Invalid`). */
export function readNetwork(xml: string): NetworkRead {
  const root = readXml(xml);
  const record = networkRecordOf(root);
  const bridge = find(root, "bridge")?.attributes.name;
  const mac = find(root, "mac")?.attributes.address;
  return {
    name: find(root, "name")?.text ?? "",
    uuid: find(root, "uuid")?.text ?? "",
    ...(bridge !== undefined && { bridge }),
    ...(mac !== undefined && { mac }),
    ...(record !== undefined && { record }),
  };
}
