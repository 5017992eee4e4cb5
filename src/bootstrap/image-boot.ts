/** The boot of a machine whose image comes from the network, and fetches its bootstrap data from the boot service as cloud-init does. */
import { parseTime } from "@slipway/base";
import type { Context, KubeObject, Resource } from "@slipway/kube";
import type { BootRecord } from "./boot-record.ts";
import type { BootStore } from "./boot-store.ts";
import { bootIdOf, bootUrls, mintCapability } from "./boot-url.ts";
import { imageScript, type NetworkBoot } from "./image-script.ts";

export interface ImageBootSettings {
  /** Base URL of the boot service as machines reach it. */
  url: string;
  store: BootStore;
}

/** How long a boot may be fetched: a host may be wiped and started several times until it works. */
const BOOT_MS = 6 * 60 * 60_000;

/** A boot as it is ordered. `publish` makes it ready to be fetched. */
export interface ImageBoot {
  id: string;
  at: number;
  scriptUrl: string;
  /** Where cloud-init finds the bootstrap data, with its final slash. */
  seedUrl: string;
  userData: "";
  publish(): Promise<void>;
  forHost?(mac: string): Promise<void>;
}

/** The boot of an object's machine. The one that `held` names is used again while it lasts. */
export async function imageBoot<T extends KubeObject>(
  { client, clock, random }: Pick<Context, "client" | "clock" | "random">,
  { store, url }: ImageBootSettings,
  of: {
    resource: Resource<T>;
    object: T;
    held: { id: string; at: string } | undefined;
    /** `onDisk`: an installed system. Its installer writes down where it finds its data. */
    image: NetworkBoot | "onDisk";
    data: string;
    hostname: string;
    /** The instance's id is the MAC address that the host boots from, and nothing is served before that is known. Default: the object's uid. */
    byMac?: boolean;
  },
): Promise<ImageBoot> {
  const { resource, object, held, image, data, hostname, byMac = false } = of;
  const { uid } = object.metadata;
  const now = clock.now();
  const record = held === undefined ? undefined : await store.read(client, uid);
  const isHeld =
    record !== undefined && !record.closed && record.expiresAt > now && bootIdOf(record.capability) === held?.id;
  const capability = isHeld ? record.capability : mintCapability(random);
  const urls = bootUrls(url, uid, capability);
  const seedUrl = urls["meta-data"].replace(/meta-data$/, "");
  const next: BootRecord = {
    capability,
    expiresAt: now + BOOT_MS,
    script: image === "onDisk" ? "" : imageScript(image, seedUrl),
    config: data,
    ...(!byMac && { metaData: metaData(uid, hostname) }),
  };
  const publish = (more: Partial<BootRecord> = {}) => store.publish(client, { resource, object }, { ...next, ...more });
  return {
    id: bootIdOf(capability),
    at: (isHeld ? parseTime(held?.at) : undefined) ?? now,
    scriptUrl: urls.ipxe,
    seedUrl,
    userData: "",
    publish,
    ...(byMac && { forHost: (mac) => publish({ metaData: metaData(mac, hostname) }) }),
  };
}

/** What cloud-init calls the machine. Its instance id is what the Node's providerID is made of. */
function metaData(id: string, hostname: string): string {
  // YAML may read digits and colons as a number.
  return `instance-id: ${id.includes(":") ? `"${id}"` : id}\nlocal-hostname: ${hostname}\n`;
}
