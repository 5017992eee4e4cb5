/** What became of objects: the states of their conditions one after the other, and in which order they came and went. Pure. */
import type { Condition, KubeObject } from "@slipway/kube";

/** One object's life. Moments are resource versions: one count for all objects of an API. */
export interface Life {
  kind: string;
  name: string;
  /** States of each condition, in their order: `True Available`. */
  conditions: Map<string, string[]>;
  made: number;
  deleting: number | undefined;
  gone: number | undefined;
}

export type History = Map<string, Life>;

type Open = KubeObject & { status?: { conditions?: readonly Condition[] } };

/** Notes what a watch reports of an object. */
export function note(history: History, kind: string, type: string, object: Open): void {
  const { uid, name, resourceVersion, deletionTimestamp } = object.metadata;
  const at = Number(resourceVersion);
  const life = history.get(uid) ?? {
    kind,
    name,
    conditions: new Map(),
    made: at,
    deleting: undefined,
    gone: undefined,
  };
  history.set(uid, life);
  if (type === "DELETED") life.gone = at;
  if (deletionTimestamp !== undefined) life.deleting ??= at;
  for (const { type: condition, status, reason } of object.status?.conditions ?? []) {
    const states = life.conditions.get(condition) ?? [];
    life.conditions.set(condition, states);
    const state = `${status} ${reason}`;
    if (states.at(-1) !== state) states.push(state);
  }
}

/** A state that a condition may pass through or leave out, or a condition that is not compared at all. */
export interface Explained {
  kind: string;
  condition: string;
  /** Undefined: the whole condition. */
  state?: RegExp;
  why: string;
}

/** For each kind and condition the different courses that objects took, without what is explained: `Machine Ready` → courses. */
export function coursesOf(
  histories: readonly History[],
  kinds: readonly string[],
  ledger: readonly Explained[],
): Map<string, string[]> {
  const courses = new Map<string, Set<string>>();
  for (const { kind, conditions } of histories.flatMap((history) => [...history.values()])) {
    if (!kinds.includes(kind)) continue;
    for (const [condition, states] of conditions) {
      const explained = ledger.filter((one) => one.kind === kind && one.condition === condition);
      if (explained.some(({ state }) => state === undefined)) continue;
      const kept = states.filter((state) => !explained.some((one) => one.state!.test(state)));
      const course = kept.filter((state, at) => state !== kept[at - 1]).join(" → ");
      const key = `${kind} ${condition}`;
      courses.set(key, (courses.get(key) ?? new Set()).add(course));
    }
  }
  return new Map([...courses].map(([key, set]) => [key, [...set].toSorted()] as const).toSorted());
}

/** What no object of the one core's went through as one of the other's did: a kind and condition each, with the courses of both. */
export function differencesOf(
  { light, upstream }: { light: readonly History[]; upstream: readonly History[] },
  kinds: readonly string[],
  ledger: readonly Explained[],
): string[] {
  const [ours, theirs] = [light, upstream].map((lives) => coursesOf(lives, kinds, ledger));
  return [...new Set([...ours!.keys(), ...theirs!.keys()])].flatMap((key) => {
    const [here, there] = [ours!.get(key) ?? [], theirs!.get(key) ?? []];
    const isShared = here.some((course) => there.includes(course));
    return isShared
      ? []
      : [`${key}\n  light: ${here.join("\n         ")}\n  upstream: ${there.join("\n            ")}`];
  });
}

/** Kinds in the order in which the first object of each was made, and in which the last of each was gone. */
export function orderOf(history: History, kinds: readonly string[]): Record<"made" | "gone", string[]> {
  const moments = (kind: string, of: (life: Life) => number | undefined): number[] =>
    [...history.values()].filter((life) => life.kind === kind).map((life) => of(life) ?? Number.POSITIVE_INFINITY);
  const by = (of: (kind: string) => number): string[] => kinds.toSorted((a, b) => of(a) - of(b));
  return {
    made: by((kind) => Math.min(...moments(kind, ({ made }) => made))),
    gone: by((kind) => Math.max(...moments(kind, ({ gone }) => gone))),
  };
}

/** Names of the kinds whose objects were asked to go before those of the kind that is named first were gone. */
export const askedBeforeGone = (history: History, first: string): string[] => {
  const lives = [...history.values()];
  const gone = Math.max(
    ...lives.filter(({ kind }) => kind === first).map((life) => life.gone ?? Number.POSITIVE_INFINITY),
  );
  return [...new Set(lives.filter(({ deleting }) => (deleting ?? gone) < gone).map(({ kind }) => kind))].toSorted();
};
