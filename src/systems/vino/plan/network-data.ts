/** The network data of a machine, by the user's template or as ViNO's sample has it. Pure. */
import { Fault, tryParseCidr } from "@slipway/base";
import { secretYaml } from "../../../bootstrap/secret-yaml.ts";
import type { Domain, VinoNodeSpec } from "../../../kinds/vino/vino-node.ts";
import { renderTemplate } from "../template/evaluate.ts";
import type { Dict, Value } from "../template/value.ts";
import { type Machine, type NetworkPlan, netmaskOf } from "./specification.ts";

export interface NetworkDataOf {
  machine: Machine;
  domain: Domain;
  networks: readonly NetworkPlan[];
  /** As the node has them. */
  onNode: VinoNodeSpec["networks"];
}

/** In a route: the address of the node's own bridge. */
const OWN_BRIDGE = "$vinobridge";

/** Renders the template, or without one what ViNO's sample gives. Throws a `Fault` (`Invalid`) where it can't be, or gives no YAML. */
export function networkData(of: NetworkDataOf, template: string | undefined, on: string): string {
  if (template === undefined) return JSON.stringify(usual(of), undefined, 2);
  const text = renderTemplate(template, templateData(of) as unknown as Value, on);
  const data = secretYaml(text, `network data by ${on}`);
  if (typeof data !== "object" || data === null || Array.isArray(data))
    throw new Fault("Invalid", on, "it gives no map of links and networks");
  return text;
}

interface Route {
  network: string;
  netmask: string;
  gateway: string;
}

/** The routes of a network, with the node's own bridge where they name it. */
export function routesOf(network: NetworkPlan, onNode: VinoNodeSpec["networks"]): Route[] {
  const bridge = addressOf(onNode.find(({ name }) => name === network.name)?.addresses[0]);
  return (network.source.routes ?? []).map(({ network: to = "", netmask = "", gateway = "" }) => ({
    ...{ network: to, netmask },
    gateway: gateway === OWN_BRIDGE ? bridge : gateway,
  }));
}

const addressOf = (cidr: string | undefined): string => (cidr ?? "").split("/")[0]!;

/** What a template is carried out on, by the names of ViNO's types. */
function templateData({ machine, domain, networks, onNode }: NetworkDataOf) {
  const { set } = machine;
  return {
    Node: {
      Name: set.name,
      Count: set.count ?? 0,
      BMHLabels: { ...set.bmhLabels } as Dict,
      BootInterfaceName: machine.bootInterface ?? "",
      RootDeviceName: set.rootDeviceName ?? "",
      EnableVNC: set.enableVNC ?? false,
      NetworkInterfaces: machine.interfaces.map(interfaceFields),
    },
    Networks: networks.map((network) => ({
      Name: network.name,
      SubNet: network.subnetText,
      Type: network.source.type ?? "",
      DNSServers: [...(network.source.dns_servers ?? [])],
      Routes: routesOf(network, onNode).map((route) => ({
        Network: route.network,
        Netmask: route.netmask,
        Gateway: route.gateway,
      })),
      MACPrefix: network.macPrefix ?? "",
      PhysicalInterface: network.physicalInterface ?? "",
      BridgeName: network.bridge,
      StaticAllocationStart: network.statics.start,
      StaticAllocationStop: network.statics.stop,
      DHCPAllocationStart: network.dhcp?.bounds.start ?? "",
      DHCPAllocationStop: network.dhcp?.bounds.stop ?? "",
      BridgeIP: addressOf(onNode.find(({ name }) => name === network.name)?.addresses[0]),
      BridgeMAC: onNode.find(({ name }) => name === network.name)?.mac ?? "",
    })),
    BMHName: domain.host,
    BuilderDomain: {
      Name: machine.id,
      Role: set.name,
      BootMACAddress: domain.bootMAC ?? "",
      EnableVNC: set.enableVNC ?? false,
      Interfaces: machine.interfaces.map((each) => ({
        ...interfaceFields(each),
        ...addressFields(domain, each.name, networks),
      })),
    },
  };
}

const interfaceFields = ({ name, network, mtu, options }: Machine["interfaces"][number]) => ({
  Name: name,
  Type: "network",
  NetworkName: network,
  MTU: mtu ?? 0,
  Options: { ...options } as Dict,
});

function addressFields(domain: Domain, name: string, networks: readonly NetworkPlan[]) {
  const own = domain.interfaces.find((each) => each.name === name);
  const subnet = networks.find((each) => each.name === own?.network)?.subnet;
  return {
    IPAddress: addressOf(own?.address),
    NetMask: subnet === undefined ? "" : netmaskOf(subnet),
    MACAddress: own?.mac ?? "",
  };
}

/** OpenStack's network data: a link per interface, and its network. */
function usual({ machine, domain, networks, onNode }: NetworkDataOf) {
  const links = machine.interfaces.map((each) => ({
    ...{ id: each.name, name: each.name, type: "phy", ...(each.mtu !== undefined && { mtu: each.mtu }) },
    ethernet_mac_address: domain.interfaces.find(({ name }) => name === each.name)?.mac,
    ...each.options,
  }));
  const shown = machine.interfaces.flatMap((each) => {
    const network = networks.find(({ name }) => name === each.network);
    const own = domain.interfaces.find(({ name }) => name === each.name);
    if (network === undefined || own === undefined) return [];
    const routes = routesOf(network, onNode).map(({ netmask, ...route }) => ({
      ...route,
      ...(netmask !== "" && { netmask }),
    }));
    const family = tryParseCidr(own.address ?? "")?.address.family ?? 4;
    return [
      {
        ...{ id: network.name, type: `ipv${family}`, link: each.name },
        ...{ ip_address: addressOf(own.address), netmask: netmaskOf(network.subnet) },
        ...(network.source.dns_servers?.length && { dns_nameservers: network.source.dns_servers }),
        ...(routes.length > 0 && { routes }),
      },
    ];
  });
  return { links, networks: shown };
}
