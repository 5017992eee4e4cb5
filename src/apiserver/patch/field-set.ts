import { compareElements, type PathElement } from "./path-element.ts";

/** A set of paths as a tree. `member`: the path that leads here is in the set; what lies below is said by `below`. Never changed once handed out. */
export interface FieldSet {
  readonly member: boolean;
  readonly below: ReadonlyMap<PathElement, FieldSet>;
}

export const NO_FIELDS: FieldSet = { member: false, below: new Map() };
/** What stands for a path with nothing below it. */
export const ONE_FIELD: FieldSet = { member: true, below: new Map() };

export function isEmptySet(set: FieldSet): boolean {
  return !set.member && set.below.size === 0;
}

/** The set of these paths; the empty path counts for nothing. */
export function setOfPaths(paths: Iterable<readonly PathElement[]>): FieldSet {
  const root: Growing = { member: false, below: new Map() };
  for (const path of paths) {
    let at = root;
    for (const element of path) {
      const next = at.below.get(element) ?? { member: false, below: new Map() };
      at.below.set(element, next);
      at = next;
    }
    if (path.length > 0) at.member = true;
  }
  return root;
}

interface Growing {
  member: boolean;
  below: Map<PathElement, Growing>;
}

/** All paths of the set, sorted. */
export function pathsOf(set: FieldSet, prefix: readonly PathElement[] = []): PathElement[][] {
  const own = set.member && prefix.length > 0 ? [[...prefix]] : [];
  const below = [...set.below].sort(([a], [b]) => compareElements(a, b));
  return [...own, ...below.flatMap(([element, child]) => pathsOf(child, [...prefix, element]))];
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(a)) return b;
  if (isEmptySet(b)) return a;
  const below = new Map(a.below);
  for (const [element, child] of b.below) below.set(element, union(below.get(element) ?? NO_FIELDS, child));
  return { member: a.member || b.member, below };
}

/** The paths of `a` that are not in `b`. A path of `b` takes away itself, not what lies below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (inA, inB) => inA && !inB);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (inA, inB) => inA && inB);
}

function combine(a: FieldSet, b: FieldSet, keep: (inA: boolean, inB: boolean) => boolean): FieldSet {
  const below = new Map<PathElement, FieldSet>();
  for (const [element, child] of a.below) {
    const kept = combine(child, b.below.get(element) ?? NO_FIELDS, keep);
    if (!isEmptySet(kept)) below.set(element, kept);
  }
  return { member: keep(a.member, b.member), below };
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.below.size !== b.below.size) return false;
  for (const [element, child] of a.below) {
    const other = b.below.get(element);
    if (other === undefined || !equalSets(child, other)) return false;
  }
  return true;
}

/** The same set with one more member. */
export function withMember(set: FieldSet, element: PathElement): FieldSet {
  const below = new Map(set.below);
  below.set(element, union(below.get(element) ?? NO_FIELDS, ONE_FIELD));
  return { member: set.member, below };
}
