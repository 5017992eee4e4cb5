import { addressOf } from "../installation/addresses.ts";
import type { Network } from "../installation/installation.ts";

const LINK = "lan0";
const NO_ADDRESS = "0.0.0.0";

/** The network as OpenStack's `network_data.json`. The card is found by its MAC address; its name stays what the kernel gave. */
export function networkData(network: Network): Record<string, unknown> {
  const links = [{ id: LINK, type: "phy", ethernet_mac_address: network.mac }];
  if (network.method === "dhcp")
    return { links, networks: [{ id: `${LINK}-ipv4`, type: "ipv4_dhcp", link: LINK }], services: [] };
  const { address, mask } = addressOf(network);
  const { gateway, nameServers } = network;
  const routes = gateway === undefined ? [] : [{ network: NO_ADDRESS, netmask: NO_ADDRESS, gateway }];
  return {
    links,
    networks: [{ id: `${LINK}-ipv4`, type: "ipv4", link: LINK, ip_address: address, netmask: mask, routes }],
    services: nameServers.map((server) => ({ type: "dns", address: server })),
  };
}
