/**
 * Many fault seeds, all kinds of histories by turns, so that a run that is cut short has played some of each, and its pace tells when it ends. In a
 * round each kind has as many histories as it says: a night gives them about the same time, not the same number.
 * A history that fails is printed at once, and the others are still played.
 */
import { formatDuration } from "@slipway/base";
import { replayOf } from "./fault-seed.ts";

export interface Night {
  /** Of the first history, from 1. The same number is always the same history of the same kinds. */
  from: number;
  count: number;
  kinds: readonly (readonly [name: string, { life(seed: number): Promise<unknown>; perRound: number }])[];
  /** Milliseconds, monotonic. */
  now: () => number;
  print: (line: string) => void;
}

/** Between two lines of progress. */
const PROGRESS_MS = 30_000;

/** One round: a kind and its number among the kind's histories of the round, for each. Those of a kind lie as far apart as they can. */
export function roundOf<Kind>(kinds: readonly Kind[], perRound: (kind: Kind) => number): { kind: Kind; nth: number }[] {
  const round = kinds.flatMap((kind) =>
    Array.from({ length: perRound(kind) }, (_, nth) => ({ kind, nth, at: (nth + 0.5) / perRound(kind) })),
  );
  return round.sort((a, b) => a.at - b.at).map(({ kind, nth }) => ({ kind, nth }));
}

/** Plays them. Resolves with the commands that replay those that failed. */
export async function playNight({ from, count, kinds, now, print }: Night): Promise<string[]> {
  const round = roundOf(kinds, ([, { perRound }]) => perRound);
  const failed: string[] = [];
  const began = now();
  let told = began;
  const last = from + count - 1;
  for (let number = from; number <= last; number++) {
    const rounds = Math.floor((number - 1) / round.length);
    const { kind, nth } = round[(number - 1) % round.length]!;
    const [name, { life, perRound }] = kind;
    const seed = 1 + rounds * perRound + nth;
    try {
      await life(seed);
    } catch (cause) {
      const replay = replayOf(seed, name);
      failed.push(replay);
      print(`history ${number} failed; replay it with: ${replay}`);
      print(cause instanceof Error ? cause.stack! : String(cause));
    }
    const at = now();
    const isRound = number === from + round.length - 1;
    if (number !== last && !isRound && at - told < PROGRESS_MS) continue;
    told = at;
    print(progress({ number, last, done: number - from + 1, tookMs: at - began, failed: failed.length }));
  }
  return failed;
}

function progress({ number, last, done, tookMs, failed }: Readonly<Record<string, number>>): string {
  const left = (tookMs! / done!) * (last! - number!);
  const [took, rest] = [tookMs!, left].map((ms) => formatDuration(Math.round(ms / 1000) * 1000));
  const goOn = number === last ? "" : `, about ${rest} left; FROM=${number! + 1} goes on from here`;
  return `${number} of ${last}: ${failed} failed, took ${took}${goOn}`;
}
