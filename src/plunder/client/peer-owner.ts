import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

/**
 * Whose process is at the other end of a connection on loopback: its user's id, by the kernel's table of connections (proc(5), Linux). Undefined:
 * it is not known. A port on loopback is open to every user of the machine; by this it need not be.
 */
export async function ownerOf({
  remoteAddress,
  remotePort,
  localPort,
  remoteFamily,
}: Pick<Socket, "remoteAddress" | "remotePort" | "localPort" | "remoteFamily">): Promise<number | undefined> {
  if (remoteAddress === undefined || remotePort === undefined || localPort === undefined) return undefined;
  const table = await readFile(remoteFamily === "IPv6" ? "/proc/net/tcp6" : "/proc/net/tcp", "utf8").catch(() => "");
  const [from, to] = [portText(remotePort), portText(localPort)];
  for (const line of table.split("\n").slice(1)) {
    const [, local = "", remote = "", , , , , uid] = line.trim().split(/\s+/);
    if (
      local.endsWith(from) &&
      remote.endsWith(to) &&
      local.startsWith(LOOPBACK[remoteFamily === "IPv6" ? "six" : "four"])
    )
      return Number(uid);
  }
  return undefined;
}

/** 127.0.0.1 and ::1 as the kernel writes them, in the order of a little-endian machine. */
const LOOPBACK = { four: "0100007F:", six: "00000000000000000000000001000000:" } as const;

function portText(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
}
