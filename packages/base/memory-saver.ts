import { setFlagsFromString } from "node:v8";
import type { Clock, Timer } from "./clock.ts";

const LOOK_MS = 2_000;
/** The part of a core below which a process counts as at rest. */
const AT_REST = 0.1;

/** What is watched and set: the process's CPU time so far in milliseconds, and V8's saver. */
export interface MemoryUse {
  cpuMs(): number;
  save(on: boolean): void;
}

/**
 * V8 keeps the room that a burst of work needed, for the next one: it takes an idle server for a busy one. Its memory saver gives it back,
 * and makes work dearer by a quarter. So the saver is on while the process rests. V8 reads this flag at each collection, so it
 * may change at any time.
 */
export function saveMemoryAtRest(clock: Clock, use: MemoryUse = thisProcess): { close(): void } {
  let [saves, cpu, at] = [false, use.cpuMs(), clock.monotonic()];
  let timer: Timer;
  const look = (): void => {
    const [cpuNow, now] = [use.cpuMs(), clock.monotonic()];
    const rests = cpuNow - cpu < AT_REST * (now - at);
    [cpu, at] = [cpuNow, now];
    if (rests !== saves) use.save(rests);
    saves = rests;
    timer = clock.after(LOOK_MS, look);
  };
  timer = clock.after(LOOK_MS, look);
  return { close: () => timer.cancel() };
}

const thisProcess: MemoryUse = {
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  save: (on) => setFlagsFromString(on ? "--memory-saver-mode" : "--no-memory-saver-mode"),
};
