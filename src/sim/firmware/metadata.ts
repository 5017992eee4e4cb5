import { Fault, type Http, json, plain } from "@slipway/base";
import type { Hardware, NetBoot } from "../hardware.ts";

export const METADATA_HOST = "metadata.platformequinix.com";

/**
 * The network as one machine sees it once its own kernel runs: the provider's metadata service answers with this
 * machine's data, everything else goes out through its ports and fails while they have no address.
 */
export function machineNetwork(hardware: Hardware, boot: NetBoot, http: Http): Http {
  return async (request) => {
    if (!hardware.reachable()) {
      throw new Fault("Unavailable", hardware.hostname, "the network is unreachable: no port has an address");
    }
    const url = URL.parse(request.url);
    if (url?.hostname !== METADATA_HOST) return http(request);
    switch (url.pathname) {
      case "/userdata":
        return plain(200, boot.userData);
      case "/metadata":
        return json(200, metadataOf(hardware));
      default:
        return plain(404, "not found");
    }
  };
}

function metadataOf({ id, hostname, plan, nics, publicIp, privateIp }: Hardware): object {
  const address = (value: string, isPublic: boolean): object => ({
    address: value,
    address_family: 4,
    public: isPublic,
    management: true,
  });
  return {
    id,
    hostname,
    plan,
    network: {
      interfaces: nics.map(({ name, mac }) => ({ name, mac, bond: "bond0" })),
      addresses: [address(publicIp, true), address(privateIp, false)],
    },
  };
}
