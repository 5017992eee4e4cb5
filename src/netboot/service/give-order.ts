import { basename } from "node:path";
import { Fault } from "@slipway/base";
import { memoryFiles } from "../files/memory.ts";
import { type FileSource, firstOf } from "../files/source.ts";
import type { Hosts } from "../hosts/hosts.ts";
import type { PrivateFiles } from "../http/private-files.ts";
import { checkAgentKey, sealedFiles } from "../http/sealed-files.ts";
import type { Checksum } from "../images/checksum.ts";
import type { Images, ReadyImage } from "../images/images.ts";
import type { Disk, Inventory, OrderBody } from "../protocol/messages.ts";
import type { UserOrder } from "../protocol/order.ts";

export interface OrderPorts {
  hosts: Hosts;
  files: PrivateFiles;
  images: Images;
  /** Where agents reach this server. */
  url: string;
}

type Write = Extract<UserOrder, { order: "write" }>;

const IMAGE = "image";
/** Installers and key sticks are smaller. */
const SMALLEST_BYTES = 4 * 2 ** 30;

/**
 * Has a host do what a user ordered: chooses the disk, offers the image and the first-boot data to just this host for just this order; the data,
 * and an image that is secret, only encrypted to the key of its agent. Resolves with the order's id, which is `id` where one is given: asked for
 * twice, it is done once. Rejects with a `Fault`: `NotFound`,
 * `Conflict` while it does something else or has no key, `Invalid` for what it can't do.
 */
export async function giveOrder(
  host: string,
  wanted: UserOrder,
  { hosts, files, images, url }: OrderPorts,
  id?: string,
): Promise<string> {
  hosts.demandTrust(host, wanted);
  if (wanted.order !== "write") return hosts.give(host, wanted, id).id;
  const inventory = hosts.get(host)?.inventory;
  if (inventory === undefined)
    throw new Fault("Conflict", host, "it has not reported its disks", {
      remedy: "wait until its agent has registered",
    });
  const disk = wanted.disk ?? diskOf(inventory, host);
  const { data, label = "cidata", secret = false } = wanted;
  if (secret) refuseRemote(wanted.image);
  // Asked again when a file is opened: the machine may have started anew until then, with another key.
  const key = (): string | undefined => hosts.get(host)?.agentKey;
  const seal = (plain: FileSource): FileSource => sealedFiles(plain, key);
  if (secret || data !== undefined) await checkAgentKey(key());
  const image = await imageOf(wanted, images);
  const { checksum, format } = image;
  const texts = Object.entries<string>(data ?? {}).map(([name, text]) => [`data/${name}`, Buffer.from(text)] as const);
  const texted = seal(memoryFiles(Object.fromEntries(texts)));
  const body = (order: string): OrderBody => {
    const imaged = image.is === "local" ? [secret ? seal(image.files) : image.files] : [];
    const path = files.offer(host, order, firstOf(texted, ...imaged));
    return {
      order: "write",
      disk,
      format,
      url: image.is === "local" ? url + path(IMAGE) : image.url,
      ...(secret && { sealed: true }),
      ...(checksum !== undefined && { checksum }),
      ...(data !== undefined && {
        data: {
          label,
          files: Object.keys(data).map((name) => ({ path: name, url: url + path(`data/${name}`), sealed: true })),
        },
      }),
    };
  };
  return hosts.give(host, body, id).id;
}

/** What lies elsewhere is fetched by the host, and as it lies there. */
function refuseRemote(image: string): void {
  if (/^https?:\/\//.test(image))
    throw new Fault("Invalid", "secret image", "an image that is fetched from an URL is not encrypted by this server", {
      remedy: "fetch it, and give it as a file of the machine that netboot runs on",
    });
}

/** An image that need not be converted is fetched by the host alone: this server may not even reach it. */
async function imageOf({ image, format, checksum: reported }: Write, images: Images): Promise<ReadyImage> {
  const [type, value] = reported?.split(":") ?? [];
  const checksum = value === undefined ? undefined : { type: type as Checksum["type"], value };
  if (!/^https?:\/\//.test(image)) {
    const found = await images.imageAt(image, checksum);
    return format === undefined || format === "qcow2" ? found : { ...found, format };
  }
  const is = format ?? (/\.(gz|zst|xz|raw)$/.exec(basename(image.split("?")[0]!))?.[1] as Write["format"]);
  if (is === undefined || is === "qcow2") return images.imageFor(image, checksum);
  return { is: "remote", url: image, format: is, ...(checksum && { checksum }) };
}

/** The smallest that a system fits on, as its stable name where it has one. */
function diskOf({ disks }: Inventory, host: string): string {
  const fitting = disks.filter(({ readOnly, bytes }) => !readOnly && bytes >= SMALLEST_BYTES);
  const usable = fitting.length > 0 ? fitting : disks.filter(({ readOnly }) => !readOnly);
  const smallest = usable.reduce<Disk | undefined>((a, b) => (a === undefined || b.bytes < a.bytes ? b : a), undefined);
  if (smallest === undefined) throw new Fault("Invalid", host, "it has no disk that can be written");
  const [stable] = smallest.byId;
  return stable ?? smallest.name;
}
