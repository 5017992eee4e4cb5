/** How many Machines each set of a deployment is to have next. Pure. */
import type { Pace } from "./portions.ts";

/** A set as it is. */
export interface SetState {
  name: string;
  /** What is asked of it. */
  spec: number;
  /** Machines that exist, those that are being deleted included. */
  actual: number;
  available: number;
}

export interface RolloutFacts {
  /** What the deployment asks for. */
  replicas: number;
  pace: Pace;
  /** The set of the current template; one that is to be made has nothing. */
  current: SetState;
  /** The others, the oldest first. */
  old: readonly SetState[];
}

/** What is to be asked of the sets, by name: those that change. */
export type Sizes = ReadonlyMap<string, number>;

const sum = (sets: readonly SetState[], of: (set: SetState) => number): number =>
  sets.reduce((total, set) => total + of(set), 0);

/** The next step of a RollingUpdate: the current set grows as far as the surge allows, the old ones shrink as far as availability does. */
export function rollingUpdate(facts: RolloutFacts): Sizes {
  const { current, old } = facts;
  const grown = currentSize(facts);
  const specs = new Map([current, ...old].map(({ name, spec }) => [name, spec]));
  const sizes = [[current.name, grown] as const, ...shrink(facts, grown)].filter(
    ([name, size]) => size !== specs.get(name),
  );
  if (sizes.length > 0) return new Map(sizes);
  const stuck = stuckSet(facts);
  return stuck === undefined ? new Map() : new Map([[stuck.name, stuck.spec - 1]]);
}

function currentSize({ replicas, pace, current, old }: RolloutFacts): number {
  if (current.spec >= replicas) return replicas;
  const total = sum([current, ...old], ({ spec, actual }) => Math.max(spec, actual));
  const room = replicas + pace.maxSurge - total;
  return room <= 0 ? current.spec : Math.min(replicas, current.spec + room);
}

function shrink({ replicas, pace, current, old }: RolloutFacts, currentSpec: number): Map<string, number> {
  const all = [{ ...current, spec: currentSpec }, ...old];
  const atLeast = Math.max(0, replicas - pace.maxUnavailable);
  const pending = sum(all, ({ spec, actual }) => Math.max(0, actual - spec));
  const notYet = Math.max(0, currentSpec - current.available);
  const bySpec = sum(all, ({ spec }) => spec) - pending - atLeast - notYet;
  // A set that shrinks may pick a Machine that is available.
  const byAvailable = sum(all, ({ available, spec }) => Math.min(available, spec)) - atLeast;
  let left = Math.min(bySpec, byAvailable);
  const sizes = new Map(old.map(({ name, spec }) => [name, spec]));
  const take = (set: SetState, atMost: number): void => {
    const count = Math.max(0, Math.min(left, atMost, sizes.get(set.name)!));
    left -= count;
    sizes.set(set.name, sizes.get(set.name)! - count);
  };
  for (const set of old) take(set, set.spec - set.available);
  for (const set of old) take(set, set.spec);
  return sizes;
}

/** Nothing moves, nothing is under way, and an old set has a Machine that will not become available: it goes. */
function stuckSet({ current, old }: RolloutFacts): SetState | undefined {
  const isSettled = [current, ...old].every(({ spec, actual }) => spec === actual) && current.available >= current.spec;
  return isSettled ? old.find(({ spec, available }) => spec > available) : undefined;
}

/** The next step where only users delete Machines: old sets keep what they have, the current one has the rest. */
export function onDelete({ replicas, current, old }: Omit<RolloutFacts, "pace">): Sizes {
  const sizes = new Map<string, number>();
  let left = sum(old, ({ spec, actual }) => Math.min(spec, actual));
  for (const { name, spec, actual } of old) {
    const kept = Math.min(spec, actual);
    const fewer = Math.min(kept, Math.max(0, left - replicas));
    left -= fewer;
    sizes.set(name, kept - fewer);
  }
  sizes.set(current.name, Math.max(0, replicas - left));
  const specs = new Map([current, ...old].map(({ name, spec }) => [name, spec]));
  return new Map([...sizes].filter(([name, size]) => size !== specs.get(name)));
}

/** Sizes of a deployment that stands still: what changes of the whole is shared out by the sets' sizes, the newest first. `sets`: the oldest first. */
export function proportional(replicas: number, maxSurge: number, sets: readonly SetState[]): Sizes {
  const active = sets.filter(({ spec }) => spec > 0);
  if (active.length <= 1) {
    const only = active[0] ?? sets.at(-1);
    return only === undefined || only.spec === replicas ? new Map() : new Map([[only.name, replicas]]);
  }
  const total = sum(active, ({ spec }) => spec);
  const difference = replicas + (replicas > 0 ? maxSurge : 0) - total;
  // A surge that was used is kept, and one that was not is not begun.
  const wanted = total > replicas ? difference : Math.min(difference, replicas - total);
  const shares = new Map(active.map(({ name, spec }) => [name, spec + Math.trunc((wanted * spec) / total)]));
  let rest = total + wanted - [...shares.values()].reduce((a, b) => a + b, 0);
  for (const { name } of active.toReversed()) {
    if (rest === 0) break;
    const size = shares.get(name)!;
    const step = rest > 0 ? rest : Math.max(rest, -size);
    shares.set(name, size + step);
    rest -= step;
  }
  return new Map([...shares].filter(([name, size]) => size !== sets.find((set) => set.name === name)!.spec));
}
