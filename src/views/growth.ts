import { parseTime } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { isReady, summaryOf } from "./standing.ts";

/** How many of today's objects there were, and how many were Ready, at each moment at which one of the numbers grew. */
export interface Growth {
  /** Seconds since 1970, ascending. */
  times: readonly number[];
  made: readonly number[];
  ready: readonly number[];
}

/** More points than this are thinned out. */
const MOST = 500;

/** Counts objects by when they were made and when they became Ready. Pure. */
export function growthOf(objects: readonly KubeObject[]): Growth {
  const moments = objects
    .flatMap((object) => [
      { at: parseTime(object.metadata.creationTimestamp), made: 1, ready: 0 },
      { at: isReady(object) ? parseTime(summaryOf(object)?.lastTransitionTime) : undefined, made: 0, ready: 1 },
    ])
    .filter((moment): moment is { at: number; made: number; ready: number } => moment.at !== undefined)
    .sort((a, b) => a.at - b.at);
  const [times, made, ready]: [number[], number[], number[]] = [[], [], []];
  const every = Math.max(1, Math.ceil(moments.length / MOST));
  let [some, good] = [0, 0];
  for (const [index, moment] of moments.entries()) {
    some += moment.made;
    good += moment.ready;
    const seconds = Math.floor(moment.at / 1000);
    if (times.at(-1) === seconds) {
      made[made.length - 1] = some;
      ready[ready.length - 1] = good;
    } else if (index % every === 0 || index === moments.length - 1) {
      times.push(seconds);
      made.push(some);
      ready.push(good);
    }
  }
  return { times, made, ready };
}
