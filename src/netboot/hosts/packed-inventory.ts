import { deflateRawSync, inflateRawSync } from "node:zlib";
import { Fault } from "@slipway/base";
import { Inventory } from "../protocol/messages.ts";

/** What a report takes in the file. Those of machines with hundreds of disks take a tenth of it. */
export const MOST_PACKED_BYTES = 64 * 1024;

/** A report as text; it comes in a body of at most 1 MiB. */
const MOST_TEXT_BYTES = 2 * 1024 * 1024;

/** Reports repeat themselves; the least work finds nearly all of it. */
const LEVEL = 1;

/** A report as it is stored. Throws a `Fault` (`Invalid`) for one that is larger than a machine's can be. */
export function pack(inventory: Inventory, on: string): Uint8Array {
  const packed = deflateRawSync(JSON.stringify(inventory), { level: LEVEL });
  if (packed.length <= MOST_PACKED_BYTES) return packed;
  throw new Fault("Invalid", on, `its inventory takes ${packed.length} bytes, and may take ${MOST_PACKED_BYTES}`);
}

/** What was stored, and how long its text is; undefined: it is no report. Takes no more memory than a report may. */
export function unpack(packed: Uint8Array): { inventory: Inventory; textBytes: number } | undefined {
  try {
    const text = inflateRawSync(packed, { maxOutputLength: MOST_TEXT_BYTES });
    return { inventory: Inventory.parse(JSON.parse(text.toString("utf8"))), textBytes: text.length };
  } catch {
    return undefined;
  }
}
