import { compareElements, type PathElement } from "./path-element.ts";

/** A set of paths as a tree. `member`: the path that leads here is in the set; what lies below is said by `below`. Never changed once handed out. */
export interface FieldSet {
  readonly member: boolean;
  readonly below: ReadonlyMap<PathElement, FieldSet>;
}

export const NO_FIELDS: FieldSet = { member: false, below: new Map() };
/** What stands for a path with nothing below it. */
export const ONE_FIELD: FieldSet = { member: true, below: new Map() };

/** Whether no path is in the set. */
export function isEmptySet(set: FieldSet): boolean {
  return !set.member && set.below.size === 0;
}

/** The set of these paths; the empty path counts for nothing. */
export function setOfPaths(paths: Iterable<readonly PathElement[]>): FieldSet {
  const root = growing();
  for (const path of paths) addPath(root, path);
  return root;
}

/** A set that is being made. Its leaves are shared, so they are replaced before they grow. */
export interface GrowingSet extends FieldSet {
  member: boolean;
  readonly below: Map<PathElement, FieldSet>;
}

/** An empty set to add paths to. */
export function growing(): GrowingSet {
  return { member: false, below: new Map() };
}

/** Adds a path to a set that nobody else has yet; the empty path counts for nothing. */
export function addPath(root: GrowingSet, path: readonly PathElement[]): void {
  if (path.length === 0) return;
  const last = path.length - 1;
  let at = root;
  for (let i = 0; i < last; i++) at = grownChild(at, path[i]!);
  const there = at.below.get(path[last]!);
  if (there === undefined) at.below.set(path[last]!, ONE_FIELD);
  else if (!there.member) grownChild(at, path[last]!).member = true;
}

/** The child at an element, made one that may grow. */
function grownChild(parent: GrowingSet, element: PathElement): GrowingSet {
  const child = parent.below.get(element);
  if (child !== undefined && child !== ONE_FIELD) return child as GrowingSet;
  const made = { member: child !== undefined, below: new Map() };
  parent.below.set(element, made);
  return made;
}

/** All paths of the set, sorted. */
export function* pathsOf(set: FieldSet, prefix: readonly PathElement[] = []): Generator<readonly PathElement[], void> {
  if (set.member && prefix.length > 0) yield prefix;
  for (const element of sortedElements(set)) yield* pathsOf(set.below.get(element)!, [...prefix, element]);
}

/** What leads down from a set's root, in the order in which it is written. */
export function sortedElements({ below }: FieldSet): PathElement[] {
  const elements = [...below.keys()];
  const first = elements[0]?.[0];
  // Elements of one form, as most are, have the order of their texts.
  return elements.every((element) => element[0] === first) ? elements.sort() : elements.sort(compareElements);
}

/** All paths of both. One of them itself, where it holds the other. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  if (isEmptySet(a)) return b;
  if (b.below.size > a.below.size) return union(b, a);
  let below: Map<PathElement, FieldSet> | undefined;
  for (const [element, child] of b.below) {
    const own = a.below.get(element);
    const both = own === undefined ? child : union(own, child);
    if (both === own) continue;
    below ??= new Map(a.below);
    below.set(element, both);
  }
  if (below === undefined && (a.member || !b.member)) return a;
  return { member: a.member || b.member, below: below ?? a.below };
}

/** All sets in one. Costs what they hold together, where one `union` after the other would copy what is there each time. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const root = growing();
  for (const set of sets) grow(root, set);
  return root;
}

function grow(to: GrowingSet, set: FieldSet): void {
  to.member ||= set.member;
  for (const [element, child] of set.below)
    if (child.below.size === 0 && !to.below.has(element)) to.below.set(element, child.member ? ONE_FIELD : growing());
    else grow(grownChild(to, element), child);
}

/** The paths of `a` that are not in `b`; `a` itself, where that is all. A path of `b` takes away itself, not what lies below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return NO_FIELDS;
  if (isEmptySet(b)) return a;
  let isSame = !(a.member && b.member);
  const below = new Map<PathElement, FieldSet>();
  for (const [element, child] of a.below) {
    const other = b.below.get(element);
    if (child === ONE_FIELD && other?.member === true) {
      isSame = false;
      continue;
    }
    const kept = other === undefined ? child : difference(child, other);
    if (kept !== child) isSame = false;
    if (kept === child || !isEmptySet(kept)) below.set(element, kept);
  }
  return isSame ? a : { member: a.member && !b.member, below };
}

/** The paths that are in both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmptySet(a) || isEmptySet(b)) return NO_FIELDS;
  const [less, more] = a.below.size <= b.below.size ? [a, b] : [b, a];
  const below = new Map<PathElement, FieldSet>();
  for (const [element, child] of less.below) {
    const other = more.below.get(element);
    const kept = other === undefined ? NO_FIELDS : intersection(child, other);
    if (!isEmptySet(kept)) below.set(element, kept);
  }
  return { member: a.member && b.member, below };
}

/** Whether both sets have the same paths. */
export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.below.size !== b.below.size) return false;
  for (const [element, child] of a.below) {
    const other = b.below.get(element);
    if (other === undefined || !equalSets(child, other)) return false;
  }
  return true;
}
