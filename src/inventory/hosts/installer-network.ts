/**
 * The network of a host that an installer sets up, from its `networkData` (OpenStack's `network_data.json`). Images get that as it is;
 * installers are given one card with IPv4. Pure.
 */
import { netmask } from "@slipway/base";
import { z } from "zod";
import { checked, Network, type Problem, refusal } from "../../bootstrap/installation/installation.ts";
import { secretYaml } from "../../bootstrap/secret-yaml.ts";

const SOURCE = "spec.networkData";
const ANY = "0.0.0.0";
/** Links that are cards by themselves. */
const CARDS: readonly string[] = [
  "phy",
  "ethernet",
  "vif",
  "ovs",
  "bridge",
  "tap",
  "vhostuser",
  "hw_veb",
  "hyperv",
  "dvs",
];

const service = z.object({ type: z.string(), address: z.string() });
/** Further keys are for images. */
const NetworkData = z.object({
  links: z.array(z.object({ id: z.string(), type: z.string(), ethernet_mac_address: z.string() })),
  networks: z.array(
    z.object({
      link: z.string(),
      type: z.string(),
      ip_address: z.string().default(""),
      netmask: z.string().default(""),
      gateway: z.string().exactOptional(),
      routes: z
        .array(z.object({ network: z.string(), netmask: z.string().default(""), gateway: z.string() }))
        .default([]),
      services: z.array(service).default([]),
    }),
  ),
  services: z.array(service).default([]),
});
type NetworkData = z.output<typeof NetworkData>;

/**
 * The one card of `text`, with DHCP or its static address. Without a text: the card that the host boots from, with DHCP.
 * Throws `Fault` (`Invalid`) that names what only images can be given.
 */
export function installerNetwork(text: string | undefined, bootMac: string): Network {
  const data = text === undefined ? undefined : secretYaml(text, SOURCE);
  if (data === undefined) return checked(Network, { mac: bootMac, method: "dhcp" }, SOURCE);
  const read = checked<NetworkData>(NetworkData, data, SOURCE);
  const problems = problemsOf(read);
  if (problems.length > 0) throw refusal(SOURCE, problems);
  return checked(Network, networkOf(read), SOURCE);
}

function problemsOf({ links, networks }: NetworkData): Problem[] {
  const one = "installers are given one card with one network";
  const [link, network] = [links[0], networks[0]];
  if (link === undefined || links.length > 1) return [{ path: "links", message: one }];
  if (network === undefined || networks.length > 1) return [{ path: "networks", message: one }];
  const wrong = (isWrong: boolean, path: string, message: string): Problem[] => (isWrong ? [{ path, message }] : []);
  return [
    ...wrong(!CARDS.includes(link.type), "links.0.type", "installers are given cards, no bonds and no VLANs"),
    ...wrong(network.link !== link.id, "networks.0.link", "is not the id of the link"),
    ...wrong(!/^ipv4(_dhcp)?$/.test(network.type), "networks.0.type", "installers are given ipv4 or ipv4_dhcp"),
    ...network.routes.flatMap((route, at) =>
      wrong(!isDefault(route), `networks.0.routes.${at}`, "installers are given the default route only"),
    ),
  ];
}

function networkOf({ links, networks, services }: NetworkData): unknown {
  const mac = links[0]!.ethernet_mac_address;
  const network = networks[0]!;
  if (network.type === "ipv4_dhcp") return { mac, method: "dhcp" };
  const gateway = network.routes[0]?.gateway ?? network.gateway;
  const servers = [...network.services, ...services].filter(({ type }) => type === "dns").map(({ address }) => address);
  return {
    mac,
    method: "static",
    address: network.ip_address.includes("/")
      ? network.ip_address
      : `${network.ip_address}/${prefixOf(network.netmask)}`,
    ...(gateway === undefined ? {} : { gateway }),
    nameServers: [...new Set(servers)],
  };
}

/** OpenStack writes mask and network apart, others in one. */
function isDefault({ network, netmask: mask }: { network: string; netmask: string }): boolean {
  return network === `${ANY}/0` || (network === ANY && (mask === ANY || mask === "0"));
}

/** `255.255.255.0` and `24` are 24. What is no mask stays, and is refused as part of the address. */
function prefixOf(mask: string): string {
  const lengths = Array.from({ length: 33 }, (_, length) => length);
  const length = lengths.find((each) => netmask(each) === mask);
  return length === undefined ? mask : String(length);
}
