import { createHash } from "node:crypto";
import type { NetworkDefinition } from "../xml/network.ts";

/** A checksum of a network's definition. The MAC address is not in it: it stays what it was first. */
export function checksumOfNetwork({ mac: _, ...rest }: Omit<NetworkDefinition, "record">): string {
  return createHash("sha256").update(JSON.stringify(rest)).digest("hex").slice(0, 32);
}
