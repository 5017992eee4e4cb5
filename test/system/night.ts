/**
 * Many fault seeds, all kinds of histories by turns, so that a run that is cut short has played some of each, and its pace tells when it ends.
 * A history that fails is printed at once, and the others are still played.
 */
import { formatDuration } from "@slipway/base";
import { replayOf } from "./fault-seed.ts";

export interface Night {
  /** Of the first history, from 1. The same number is always the same history of the same kinds. */
  from: number;
  count: number;
  kinds: readonly (readonly [name: string, { life(seed: number): Promise<unknown> }])[];
  /** Milliseconds, monotonic. */
  now: () => number;
  print: (line: string) => void;
}

/** Between two lines of progress. */
const PROGRESS_MS = 30_000;

/** Which history has a number. Pure. */
export function playOf<Kind>(number: number, kinds: readonly Kind[]): { kind: Kind; seed: number } {
  const before = number - 1;
  return { kind: kinds[before % kinds.length]!, seed: 1 + Math.floor(before / kinds.length) };
}

/** Plays them. Resolves with the commands that replay those that failed. */
export async function playNight({ from, count, kinds, now, print }: Night): Promise<string[]> {
  const failed: string[] = [];
  const began = now();
  let told = began;
  const last = from + count - 1;
  for (let number = from; number <= last; number++) {
    const { kind, seed } = playOf(number, kinds);
    const [name, { life }] = kind;
    try {
      await life(seed);
    } catch (cause) {
      const replay = replayOf(seed, name);
      failed.push(replay);
      print(`history ${number} failed; replay it with: ${replay}`);
      print(cause instanceof Error ? cause.stack! : String(cause));
    }
    const at = now();
    const isRound = number === from + kinds.length - 1;
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
