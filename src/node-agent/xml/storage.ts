/** Definitions of storage for libvirt: a pool that is a folder, and the volumes in it. */
import { element, textElement, write } from "./element.ts";
import { find, readXml } from "./read.ts";

const GIB = 2n ** 30n;

/** A pool of a folder. */
export function poolXml({ name, uuid, path }: { name: string; uuid: string; path: string }): string {
  return write(
    element(
      "pool",
      { type: "dir" },
      textElement("name", name),
      textElement("uuid", uuid),
      element("target", {}, textElement("path", path)),
    ),
  );
}

/** A disk. One that is not sparse has its room from the beginning. */
export function diskVolumeXml({ name, sizeGiB, sparse }: { name: string; sizeGiB: number; sparse: boolean }): string {
  const bytes = String(BigInt(sizeGiB) * GIB);
  return write(
    element(
      "volume",
      {},
      textElement("name", name),
      textElement("capacity", bytes, { unit: "bytes" }),
      textElement("allocation", sparse ? 0 : bytes, { unit: "bytes" }),
      element("target", {}, element("format", { type: "qcow2" })),
    ),
  );
}

/** An image of a CD, of so many bytes. */
export function imageVolumeXml({ name, bytes }: { name: string; bytes: number }): string {
  return write(
    element(
      "volume",
      {},
      textElement("name", name),
      textElement("capacity", bytes, { unit: "bytes" }),
      textElement("allocation", 0, { unit: "bytes" }),
      element("target", {}, element("format", { type: "raw" })),
    ),
  );
}

/** Size of a volume from its description. */
export function readCapacity(xml: string): bigint {
  return BigInt(find(readXml(xml), "capacity")?.text.trim() || 0);
}

/** Folder of a pool from its description; undefined: it is none of a folder. */
export function readPoolPath(xml: string): string | undefined {
  return find(readXml(xml), "target", "path")?.text.trim();
}
