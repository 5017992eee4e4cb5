/** Whether the agent stops, from what is unknown now and what it was stopped for. Pure. */
import { createHash } from "node:crypto";
import type { NodeFound } from "../node/found.ts";
import type { NodeWish } from "../node/wish.ts";
import { ownDomains, type Unknown, unknownDomains } from "./unknown.ts";

/** Kept in a file: what the agent is stopped for. */
export interface StopRecord {
  /** Confirms this stop, and no other one. */
  code: string;
  since: number;
  /** UUIDs of the machines. */
  uuids: readonly string[];
  /** Those of them whose VinoNode was there in an earlier state. */
  earlier: readonly string[];
  /** Somebody has said that these machines may be changed and removed. */
  confirmed: boolean;
}

/** The agent changes nothing. */
export interface Stop {
  code: string;
  /** Machines, and why they are unknown. */
  reason: string;
}

export interface Verdict {
  /** Undefined: go on. */
  stop: Stop | undefined;
  /** To be kept; undefined: nothing. */
  record: StopRecord | undefined;
}

/**
 * The verdict. A stop ends with its confirmation, or when all of its machines are accounted for again. Those of a VinoNode that was in an earlier state
 * are so when they are wanted: not because it has been changed often enough since.
 */
export function verdictOf(
  { found, wish }: { found: NodeFound; wish: NodeWish },
  before: StopRecord | undefined,
  now: number,
): Verdict {
  const unknown = unknownDomains(found, wish);
  if (before !== undefined && (before.confirmed || wish.confirmations.has(before.code))) {
    const others = unknown.filter(({ uuid }) => !before.uuids.includes(uuid));
    const left = unknown.length > others.length;
    if (others.length === 0) return { stop: undefined, record: left ? { ...before, confirmed: true } : undefined };
    return stopFor(unknown, undefined, now);
  }
  const held = before === undefined ? [] : stillHeld(before, { found, wish }, unknown);
  const all = [...unknown, ...held];
  return all.length === 0 ? { stop: undefined, record: undefined } : stopFor(all, before, now);
}

/** What it was stopped for, is known by now, and nobody wants. */
function stillHeld(
  { earlier }: StopRecord,
  { found, wish }: { found: NodeFound; wish: NodeWish },
  unknown: readonly Unknown[],
): readonly Unknown[] {
  return ownDomains(found, wish)
    .filter(({ ref: { uuid } }) => earlier.includes(uuid))
    .filter(({ ref: { uuid } }) => !unknown.some((one) => one.uuid === uuid))
    .filter(({ ref: { uuid } }) => !wish.domains.some((one) => one.uuid === uuid))
    .map(({ ref: { name, uuid } }) => ({ name, uuid, why: "its VinoNode was in an earlier state", isEarlier: true }));
}

const MOST_NAMED = 3;

/** Fewer machines keep the code, more get another one: nobody confirms what they have not seen. */
function stopFor(unknown: readonly Unknown[], before: StopRecord | undefined, now: number): Verdict {
  const isOld =
    before !== undefined &&
    unknown.every(({ uuid, isEarlier }) => (isEarlier ? before.earlier : before.uuids).includes(uuid));
  const record = isOld ? before : newRecord(unknown, now);
  const named = unknown.slice(0, MOST_NAMED).map(({ name, why }) => `${name} (${why})`);
  const more = unknown.length > MOST_NAMED ? ` and ${unknown.length - MOST_NAMED} more` : "";
  const reason = `this cluster does not account for virtual machines on the node: ${named.join(", ")}${more}`;
  return { stop: { code: record.code, reason }, record };
}

function newRecord(unknown: readonly Unknown[], since: number): StopRecord {
  const uuids = unknown.map(({ uuid }) => uuid).sort();
  const earlier = unknown.flatMap(({ uuid, isEarlier }) => (isEarlier ? [uuid] : []));
  const code = createHash("sha256")
    .update(JSON.stringify([since, uuids]))
    .digest("hex")
    .slice(0, 8);
  return { code, since, uuids, earlier, confirmed: false };
}
