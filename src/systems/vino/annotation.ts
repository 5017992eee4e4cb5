/** ViNO's annotation on a node, for programs that read it: what its VinoNodes say, without passwords. Pure. */
import { tryParseCidr } from "@slipway/base";
import { dump } from "js-yaml";
import type { VinoNode } from "../../kinds/vino/vino-node.ts";
import { netmaskOf } from "./plan/specification.ts";

/** Annotations of an object have 256 KiB together: what is longer than this is left out. */
const LONGEST = 128 * 1024;

/** The text of the annotation, of all VinoNodes of a node; undefined: there is none. */
export function networkValues(nodes: readonly VinoNode[]): string | undefined {
  const own = nodes.filter(({ spec }) => spec.networks.length > 0).toSorted((a, b) => (id(a) < id(b) ? -1 : 1));
  if (own.length === 0) return undefined;
  const networks = own.flatMap(({ spec }) =>
    spec.networks.map(({ name, bridge, mac, addresses, physicalInterface, dhcp, dnsServers }) => ({
      ...{ name, subnet: subnetOf(addresses[0]), bridgeName: bridge },
      ...(physicalInterface !== undefined && { physicalInterface }),
      ...(dnsServers !== undefined && { dns_servers: dnsServers }),
      ...{ bridgeIP: bare(addresses[0]), bridgeMAC: mac },
      ...(dhcp !== undefined && { range: { start: dhcp.start, stop: dhcp.stop } }),
    })),
  );
  const domains = own.flatMap(({ spec }) =>
    spec.domains.map(({ name, role, bootMAC, vnc, interfaces }) => ({
      ...{ name, role },
      ...(bootMAC !== undefined && { bootMACAddress: bootMAC }),
      enableVNC: vnc !== undefined,
      interfaces: interfaces.map((each) => ({
        ...{ name: each.name, network: each.network, type: "network", macAddress: each.mac },
        ...(each.mtu !== undefined && { mtu: each.mtu }),
        ...{ ipAddress: bare(each.address), netMask: maskOf(each.address) },
      })),
    })),
  );
  const configuration = { cpuExclude: own.find(({ spec }) => spec.cpuExclude !== undefined)?.spec.cpuExclude ?? "" };
  const text = dump({ networks, configuration, domains }, { lineWidth: -1 });
  return text.length > LONGEST ? undefined : text;
}

const id = ({ metadata }: VinoNode): string => `${metadata.namespace}/${metadata.name}`;
const bare = (cidr: string | undefined): string => (cidr ?? "").split("/")[0]!;
const subnetOf = (cidr: string | undefined): string => cidr ?? "";

function maskOf(cidr: string | undefined): string {
  const read = tryParseCidr(cidr ?? "");
  return read === undefined ? "" : netmaskOf(read);
}
