/** Names that users and load balancers choose, looked up beside the controller's workers: a name server that does not answer holds up nobody else (B24). */
import { type Clock, Fault } from "@slipway/base";
import type { Lookup } from "./advertised.ts";

/** So long a worker waits. */
const WAIT_MS = 1_000;
/** The system's own look-ups take a thread each, of the four that the whole process has. */
const MOST_AT_ONCE = 2;
const AGAIN_MS = 5_000;

type Found = PromiseSettledResult<readonly string[]>;

/** The same look-up, few at once and each waited for a second. Rejects with `Unavailable` then; what is found later is the answer to the next call. */
export function besideWorkers(find: Lookup, clock: Pick<Clock, "after">): Lookup {
  const underway = new Map<string, Promise<Found>>();
  const found = new Map<string, Found>();
  const turns: (() => void)[] = [];
  let free = MOST_AT_ONCE;

  const look = async (name: string): Promise<Found> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => void turns.push(resolve));
    const [result] = await Promise.allSettled([find(name)]);
    const next = turns.shift();
    if (next === undefined) free++;
    else next();
    underway.delete(name);
    found.set(name, result!);
    return result!;
  };

  return async (name) => {
    const before = found.get(name);
    found.delete(name);
    if (before !== undefined) return addressesOf(before);
    const running = underway.get(name) ?? look(name);
    underway.set(name, running);
    const { promise: over, resolve } = Promise.withResolvers<undefined>();
    const timer = clock.after(WAIT_MS, () => resolve(undefined));
    const result = await Promise.race([running, over]);
    timer.cancel();
    if (result === undefined)
      throw new Fault("Unavailable", name, "its name server has not answered yet", { retryAfterMs: AGAIN_MS });
    found.delete(name);
    return addressesOf(result);
  };
}

function addressesOf(result: Found): readonly string[] {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
