import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock, Timer } from "./clock.ts";

const LOOK_MS = 2_000;
/** The part of a core below which a process counts as at rest. */
const AT_REST = 0.1;

/** A rest of so long is tidied up after: at its beginning, and once what is kept for a minute or so after a burst is forgotten. */
const COLLECT_MS = [20_000, 120_000];

/** Up to so much, a thorough collection (several passes, code that is not used is dropped, pages are emptied) takes a tenth of a second or two. Bytes. */
const THOROUGH = 200 * 2 ** 20;

/** What is watched and set: the process's CPU time so far in milliseconds, V8's saver, and a collection of all that nobody uses. */
export interface MemoryUse {
  cpuMs(): number;
  save(on: boolean): void;
  collect(): void;
}

/**
 * V8 keeps the room that a burst of work needed, for the next one: it takes an idle server for a busy one. Its memory saver gives it back,
 * and makes work dearer by a quarter. So the saver is on while the process rests. V8 reads this flag at each collection, so it
 * may change at any time. It collects when there is much that is new: who rests makes little, so what became free meanwhile is collected from here.
 */
export function saveMemoryAtRest(clock: Clock, use: MemoryUse = thisProcess): { close(): void } {
  let [saves, cpu, at] = [false, use.cpuMs(), clock.monotonic()];
  let restedMs = 0;
  let timer: Timer;
  const look = (): void => {
    const [cpuNow, now] = [use.cpuMs(), clock.monotonic()];
    const rests = cpuNow - cpu < AT_REST * (now - at);
    const before = restedMs;
    restedMs = rests ? restedMs + now - at : 0;
    [cpu, at] = [cpuNow, now];
    if (rests !== saves) use.save(rests);
    saves = rests;
    if (COLLECT_MS.some((ms) => before < ms && restedMs >= ms)) {
      use.collect();
      // Tidying up is no work: it would end the rest, and be done again after the next 20 s.
      [cpu, at] = [use.cpuMs(), clock.monotonic()];
    }
    timer = clock.after(LOOK_MS, look);
  };
  timer = clock.after(LOOK_MS, look);
  return { close: () => timer.cancel() };
}

/** This process's. */
export const thisProcess: MemoryUse = {
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  save: (on) => setFlagsFromString(on ? "--memory-saver-mode" : "--no-memory-saver-mode"),
  collect() {
    // Only a context that is made while the flag stands has the function.
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as (how: object) => void;
    setFlagsFromString("--no-expose-gc");
    // Not process.memoryUsage(), which throws where no /proc is mounted.
    const flavor = getHeapStatistics().used_heap_size <= THOROUGH ? "last-resort" : "regular";
    collect({ type: "major", execution: "sync", flavor });
  },
};
