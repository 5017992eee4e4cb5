import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { Fault } from "@slipway/base";

/** Of a file as it is fetched, in hex. */
export interface Checksum {
  type: "md5" | "sha256" | "sha512";
  value: string;
}

/** Throws a `Fault` (`Invalid`) when the digest that was found is another. */
export function compare(wanted: Checksum, found: string, name: string): void {
  if (found !== wanted.value.toLowerCase())
    throw new Fault("Invalid", name, `its ${wanted.type} is ${found}, not ${wanted.value}`, {
      remedy: "correct the checksum, or find out who changed the image",
    });
}

/** The digest of a file, in hex. */
export async function digestOf(path: string, type: Checksum["type"], signal: AbortSignal): Promise<string> {
  const hash = createHash(type);
  for await (const part of createReadStream(path, { signal, highWaterMark: 1024 * 1024 })) hash.update(part as Buffer);
  return hash.digest("hex");
}
