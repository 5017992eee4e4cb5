import { basename } from "node:path";
import { Fault } from "../../base/fault.ts";
import type { UserOrder } from "../agent/order.ts";
import type { Disk, Inventory, OrderBody } from "../agent/protocol.ts";
import { declaredFiles } from "../files/disk.ts";
import { memoryFiles } from "../files/memory.ts";
import { type FileSource, firstOf } from "../files/source.ts";
import type { Hosts } from "../hosts/hosts.ts";
import type { PrivateFiles } from "../http/private-files.ts";

export interface OrderPorts {
  hosts: Hosts;
  files: PrivateFiles;
  /** Where agents reach this server. */
  url: string;
}

type Write = Extract<UserOrder, { order: "write" }>;
type Format = Extract<OrderBody, { order: "write" }>["format"];

const IMAGE = "image";
/** Installers and key sticks are smaller. */
const SMALLEST_BYTES = 4 * 2 ** 30;

/**
 * Has a host do what a user wants: chooses the disk, offers the image and the first-boot data to just this host for just this order. Resolves
 * with the order's id. Rejects with a `Fault`: `NotFound`, `Conflict` while it does something else, `Invalid` for what it can't do.
 */
export async function giveOrder(host: string, wanted: UserOrder, { hosts, files, url }: OrderPorts): Promise<string> {
  if (wanted.order !== "write") return hosts.give(host, wanted).id;
  const inventory = hosts.get(host)?.inventory;
  if (inventory === undefined)
    throw new Fault("Conflict", host, "it has not told its disks", { remedy: "wait until its agent has registered" });
  const disk = wanted.disk ?? diskOf(inventory, host);
  const format = formatOf(wanted);
  const isLocal = !/^https?:\/\//.test(wanted.image);
  const offered = offeredFor(wanted, isLocal);
  return hosts.give(host, (id): OrderBody => {
    const path = files.offer(host, id, offered);
    const { data, label = "cidata", checksum } = wanted;
    const [type, value] = checksum?.split(":") ?? [];
    return {
      order: "write",
      disk,
      format,
      url: isLocal ? url + path(IMAGE) : wanted.image,
      ...(value !== undefined && { checksum: { type: type as "md5" | "sha256" | "sha512", value } }),
      ...(data !== undefined && {
        data: { label, files: Object.keys(data).map((name) => ({ path: name, url: url + path(`data/${name}`) })) },
      }),
    };
  }).id;
}

function offeredFor({ image, data }: Write, isLocal: boolean): FileSource {
  const texts = Object.entries<string>(data ?? {}).map(([name, text]) => [`data/${name}`, Buffer.from(text)] as const);
  return firstOf(memoryFiles(Object.fromEntries(texts)), declaredFiles(isLocal ? { [IMAGE]: image } : {}));
}

function formatOf({ image, format }: Write): Format {
  const ending = /\.(gz|zst|xz|qcow2)$/.exec(basename(image.split("?")[0]!))?.[1] as Write["format"];
  const is = format ?? ending ?? "raw";
  if (is !== "qcow2") return is;
  throw new Fault("Invalid", image, "is qcow2, which no agent writes", {
    remedy: "convert it: qemu-img convert -O raw",
  });
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
