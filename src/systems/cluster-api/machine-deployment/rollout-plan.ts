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
  const sizes = new Map(old.map(({ name, spec }) => [name, spec]));
  const atLeast = Math.max(0, replicas - pace.maxUnavailable);
  // A set that grows in this very step has made nothing yet; one that shrinks counts as shrunk.
  const all = [{ ...current, spec: Math.min(current.spec, currentSpec) }, ...old];
  const pending = sum(all, ({ spec, actual }) => Math.max(0, actual - spec));
  const notYet = Math.max(0, current.spec - current.available);
  let left = sum([current, ...old], ({ spec }) => spec) - pending - atLeast - notYet;
  let spare = sum([current, ...old], ({ available }) => available) - atLeast;
  const take = (set: SetState, atMost: number): void => {
    const size = sizes.get(set.name)!;
    let wanted = size - Math.max(0, Math.min(left, atMost, size));
    if (wanted === size) return;
    // Which Machines go is the set's choice. As long as it has available ones, each that goes counts as one of them.
    if (set.available > 0) {
      if (set.actual - wanted > spare) wanted = Math.min(size, set.actual - Math.max(0, spare));
      spare -= Math.min(set.available, Math.max(0, set.actual - wanted));
    }
    left -= size - wanted;
    sizes.set(set.name, wanted);
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

/**
 * The next step where only users delete Machines. The current set is filled up with what is missing, Machines that are being deleted counted as
 * being there; old sets drop what was deleted, and, where there are too many in all, Machines: the oldest set first.
 */
export function onDelete(facts: Omit<RolloutFacts, "pace">): Sizes {
  const { replicas, current, old } = facts;
  const grown = currentSize({ ...facts, pace: { maxSurge: 0, maxUnavailable: 0 } });
  const sizes = new Map([
    [current.name, grown] as const,
    ...old.map(({ name, spec, actual }) => [name, Math.min(spec, actual)] as const),
  ]);
  let tooMany = [...sizes.values()].reduce((total, size) => total + size, 0) - replicas;
  for (const { name } of old) {
    const fewer = Math.min(sizes.get(name)!, Math.max(0, tooMany));
    tooMany -= fewer;
    sizes.set(name, sizes.get(name)! - fewer);
  }
  const specs = new Map([current, ...old].map(({ name, spec }) => [name, spec]));
  return new Map([...sizes].filter(([name, size]) => size !== specs.get(name)));
}

export interface PausedFacts {
  replicas: number;
  /** Undefined: OnDelete, which knows none. */
  maxSurge: number | undefined;
  /** The set of the current template, where there is one already. */
  current: SetState | undefined;
  /** The others, the oldest first. */
  old: readonly SetState[];
}

/**
 * Sizes of a deployment that is paused, as Cluster API's core has them: the only set with Machines gets them all, a current set that has them all ends the others, and else what
 * replicas and surge leave open is the largest set's. Of sets of one size the newest grows and the oldest shrinks. Under OnDelete several sets stay as they are.
 */
export function whilePaused({ replicas, maxSurge, current, old }: PausedFacts): Sizes {
  const sets = current === undefined ? old : [...old, current];
  const active = sets.filter(({ spec }) => spec > 0);
  const sized = (set: SetState, size: number): Sizes => (set.spec === size ? new Map() : new Map([[set.name, size]]));
  if (active.length <= 1) {
    const only = active[0] ?? sets.at(-1);
    return only === undefined ? new Map() : sized(only, replicas);
  }
  const isSaturated = current?.spec === replicas && current.available === replicas;
  if (replicas === 0 || isSaturated)
    return new Map(active.filter((set) => replicas === 0 || set !== current).map(({ name }) => [name, 0]));
  if (maxSurge === undefined) return new Map();
  const open = replicas + maxSurge - sum(active, ({ spec }) => spec);
  const most = Math.max(...active.map(({ spec }) => spec));
  const largest = active.filter(({ spec }) => spec === most);
  const set = open > 0 ? largest.at(-1)! : largest[0]!;
  return sized(set, Math.max(0, set.spec + open));
}
