import type { Result } from "../protocol/messages.ts";

/** What the end of an order may take in a host's record. */
const MOST_BYTES = 64 * 1024;
const DETAIL = 100;

/** The result as it is kept: where it says too much about its disks, details are cut, then the last disks are left out. */
export function bounded(result: Result): Result {
  const { disks, ...rest } = result;
  if (disks === undefined || sizeOf(result) <= MOST_BYTES) return result;
  const short = disks.map((each) => ({ ...each, detail: each.detail.slice(0, DETAIL) }));
  while (sizeOf({ ...rest, disks: short }) > MOST_BYTES) short.splice(Math.floor(short.length / 2));
  return { ...rest, disks: short };
}

function sizeOf(result: Result): number {
  return Buffer.byteLength(JSON.stringify(result));
}
