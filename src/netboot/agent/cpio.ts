/**
 * An archive as the kernel unpacks it at its start: format `newc` (linux/Documentation/driver-api/early-userspace/buffer-format). The
 * same entries give the same bytes: sorted by name, owned by root, without times, numbered in order.
 */
export type Entry =
  | { is: "folder" }
  | { is: "file"; content: Buffer; executable: boolean }
  | { is: "link"; to: string }
  | { is: "device"; major: number; minor: number };

const MODE = { folder: 0o040755, file: 0o100644, executable: 0o100755, link: 0o120777, device: 0o020600 } as const;

/** Packs entries by path, without a leading `/`. Folders on the way are added. */
export function packCpio(entries: ReadonlyMap<string, Entry>): Buffer {
  const all = new Map(entries);
  for (const path of entries.keys())
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
      if (!all.has(path.slice(0, at))) all.set(path.slice(0, at), { is: "folder" });
  const sorted = [...all].sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.concat([
    ...sorted.flatMap(([path, entry], i) => pack(path, entry, i + 1)),
    ...pack("TRAILER!!!", { is: "end" }, 0),
  ]);
}

function pack(path: string, entry: Entry | { is: "end" }, inode: number): Buffer[] {
  const content = contentOf(entry);
  const name = Buffer.from(`${path}\0`);
  const device = entry.is === "device" ? [entry.major, entry.minor] : [0, 0];
  const links = entry.is === "folder" ? 2 : 1;
  const fields = [inode, modeOf(entry), 0, 0, links, 0, content.length, 0, 0, ...device, name.length, 0];
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, "0")).join("")}`);
  return [header, name, padding(header.length + name.length), content, padding(content.length)];
}

function contentOf(entry: Entry | { is: "end" }): Buffer {
  if (entry.is === "file") return entry.content;
  return Buffer.from(entry.is === "link" ? entry.to : "");
}

function modeOf(entry: Entry | { is: "end" }): number {
  if (entry.is === "end") return 0;
  return entry.is === "file" && entry.executable ? MODE.executable : MODE[entry.is];
}

const padding = (length: number): Buffer => Buffer.alloc((4 - (length % 4)) % 4);
