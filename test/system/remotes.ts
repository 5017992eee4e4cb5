import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Addresses with which programs that this process has started have connections of TCP now, by /proc. Empty where there is none. */
export function remotesOfChildren(): string[] {
  const parents = new Map(ids().map((id) => [id, parentOf(id)]));
  const isBelow = (id: number): boolean => {
    const parent = parents.get(id);
    return parent !== undefined && (parent === process.pid || isBelow(parent));
  };
  const sockets = new Set([...parents.keys()].filter(isBelow).flatMap(socketsOf));
  return ["tcp", "tcp6"].flatMap((table) =>
    linesOf(`/proc/self/net/${table}`)
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state !== LISTENS && sockets.has(inode ?? ""))
      .map(([, , remote = ""]) => addressOf(remote.split(":")[0]!)),
  );
}

const LISTENS = "0A";

function ids(): number[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}

function parentOf(id: number): number | undefined {
  const parent = linesOf(`/proc/${id}/status`).find((line) => line.startsWith("PPid:"));
  return parent === undefined ? undefined : Number(parent.slice("PPid:".length));
}

function socketsOf(id: number): string[] {
  try {
    return readdirSync(`/proc/${id}/fd`).flatMap((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${id}/fd/${fd}`))?.[1];
      return inode === undefined ? [] : [inode];
    });
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

/** The kernel writes words of four bytes, the last byte first. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, "hex");
  for (let at = 0; at < bytes.length; at += 4) bytes.subarray(at, at + 4).reverse();
  const isMapped = bytes.length === 16 && bytes.subarray(0, 12).toString("hex") === `${"00".repeat(10)}ffff`;
  const four = bytes.length === 4 ? bytes : isMapped ? bytes.subarray(12) : undefined;
  if (four !== undefined) return [...four].join(".");
  return bytes.toString("hex") === `${"00".repeat(15)}01` ? "::1" : bytes.toString("hex");
}
