import { isFault } from "@slipway/base";
import type { DomainRef, Libvirt, Listed } from "../libvirt/libvirt.ts";
import { readCapabilities } from "../xml/capabilities.ts";
import { readDomain } from "../xml/domain.ts";
import { readNetwork } from "../xml/network.ts";
import { readCapacity, readPoolPath } from "../xml/storage.ts";
import type { FoundDomain, FoundNetwork, FoundPool, FoundVolume, NodeFound } from "./found.ts";
import type { Links } from "./links.ts";
import { markedUuid } from "./wish.ts";

/** Looks at the whole node. What goes away meanwhile is left out. Rejects with a `Fault` when libvirt does not answer. */
export async function look(libvirt: Libvirt, links: Links): Promise<NodeFound> {
  const [capabilities, domains, networks, pools, masters] = await Promise.all([
    libvirt.capabilities(),
    libvirt.domains(),
    libvirt.networks(),
    libvirt.pools(),
    links.masters(),
  ]);
  return {
    host: readCapabilities(capabilities),
    domains: await there(domains, (ref) => lookAtDomain(libvirt, ref)),
    networks: await there(networks, (one) => lookAtNetwork(libvirt, one)),
    pools: await there(pools, (one) => lookAtPool(libvirt, one)),
    links: masters,
  };
}

/** What was read of each, without those that are gone. */
async function there<From, To>(list: readonly From[], read: (from: From) => Promise<To>): Promise<To[]> {
  const found = await Promise.all(
    list.map((one) =>
      read(one).catch((error: unknown) => {
        if (isFault(error, "NotFound")) return undefined;
        throw error;
      }),
    ),
  );
  return found.filter((one) => one !== undefined) as To[];
}

async function lookAtDomain(libvirt: Libvirt, ref: DomainRef): Promise<FoundDomain> {
  const isOn = ref.id >= 0;
  const next = readDomain(await libvirt.domainXml(ref, true));
  return { ref, next, ...(isOn && { live: readDomain(await libvirt.domainXml(ref, false)) }) };
}

async function lookAtNetwork(libvirt: Libvirt, { ref, active }: Listed): Promise<FoundNetwork> {
  return { ...readNetwork(await libvirt.networkXml(ref)), ref, active };
}

/** Volumes are looked up in the agent's own pools alone. */
async function lookAtPool(libvirt: Libvirt, { ref, active }: Listed): Promise<FoundPool> {
  const path = readPoolPath(await libvirt.poolXml(ref));
  const isOwn = path !== undefined && ref.uuid === markedUuid("pool", ref.name, path);
  const volumes = isOwn && active ? await libvirt.volumes(ref) : [];
  const found = await there(
    volumes,
    async (volume): Promise<[string, FoundVolume]> => [
      volume.name,
      { ref: volume, bytes: readCapacity(await libvirt.volumeXml(volume)) },
    ],
  );
  return { ref, active, path, volumes: new Map(found) };
}
