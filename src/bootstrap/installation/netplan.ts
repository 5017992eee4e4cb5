import type { Network } from "./installation.ts";

/** The card's name in the configuration, and in the installed system where `rename` is said. */
const CARD = "lan0";

/**
 * The network in netplan's words (version 2). The default route is written as a prefix, which every renderer of cloud-init knows.
 * `rename`: give the card this name; cloud-init's renderers for Debian's and Red Hat's own files find it no other way.
 */
export function netplan(network: Network, { rename }: { rename: boolean }): object {
  const { mac } = network;
  const card = { match: { macaddress: mac }, ...(rename ? { "set-name": CARD } : {}) };
  if (network.method === "dhcp") return { version: 2, ethernets: { [CARD]: { ...card, dhcp4: true } } };
  const { address, gateway, nameServers } = network;
  return {
    version: 2,
    ethernets: {
      [CARD]: {
        ...card,
        dhcp4: false,
        addresses: [address],
        routes: gateway === undefined ? undefined : [{ to: "0.0.0.0/0", via: gateway }],
        nameservers: nameServers.length === 0 ? undefined : { addresses: nameServers },
      },
    },
  };
}
