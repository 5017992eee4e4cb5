import {
  capped,
  ENDLESS,
  type Operand,
  PER_CHARACTER,
  type Size,
  scaled,
  sizeOf,
  UNKNOWN,
  union,
  writtenNumber,
} from "./sizes.ts";
import { BYTES, STRING, sameType, typeName } from "./types.ts";

/** A call of one overload, as far as its estimate goes by it. */
export interface EstimatedCall {
  readonly fn: string;
  /** Of the overload. */
  readonly id: string;
  readonly target: Operand | undefined;
  readonly args: readonly Operand[];
}

/** What a call costs with its arguments, and how large its result is, where that is known. */
export interface CallEstimate {
  readonly cost: number;
  readonly size?: Size | undefined;
}

/** Work of a pattern per character of it. */
const PER_PATTERN_CHARACTER = 0.25;
/** Calls of Kubernetes' libraries that cost the same whatever they are given. */
const FIXED = new Set(
  "masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery".split(
    " ",
  ),
);
const ONCE = new Set(["cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"]);

/** The cost of one overload. `costs`: of the arguments. */
export function callEstimate(call: EstimatedCall, costs: readonly number[]): CallEstimate {
  const own = ofLists(call) ?? ofKubernetes(call);
  const sum = costs.reduce((a, b) => a + b, 0);
  if (own !== undefined) return { cost: capped(own.cost + sum), size: own.size };
  return ofLanguage(call, costs, sum);
}

const read = (size: Size, factor = PER_CHARACTER): number => scaled(size.max, factor);

function ofLists({ id, target, args }: EstimatedCall): CallEstimate | undefined {
  const list = (factor: number, size: Size): CallEstimate => ({ cost: capped(scaled(size.max, factor) + 11), size });
  const squared = ({ min, max }: Size): Size => ({ min: capped(min * min), max: capped(max * max) });
  if (id.endsWith("_sort") || id.endsWith("_sortByAssociatedKeys")) {
    const factor = /^list_(string|bytes)_/.test(id) ? 2 + PER_CHARACTER : 2;
    return list(factor, squared((args[0] ?? target!).size));
  }
  switch (id) {
    case "list_slice": {
      const end = writtenNumber(args[1]!) ?? target!.size.max;
      const length = end - (writtenNumber(args[0]!) ?? 0);
      // Lengths have no sign upstream: one below zero is the greatest.
      return list(1, sizeOf(length < 0 ? ENDLESS : length));
    }
    case "lists_range":
      return list(1, sizeOf(writtenNumber(args[0]!) ?? ENDLESS));
    case "list_reverse":
      return list(1, target!.size);
    case "list_flatten":
      return list(1, target!.size);
    case "list_flatten_int":
      return list(writtenNumber(args[0]!) ?? ENDLESS, target!.size);
    case "list_distinct":
      return list(2, squared(target!.size));
    case "list_sets_contains_list":
    case "list_sets_intersects_list":
    case "list_sets_equivalent_list": {
      const factor = id === "list_sets_equivalent_list" ? 2 : 1;
      return { cost: capped(scaled(capped(args[0]!.size.max * args[1]!.size.max), factor) + 1) };
    }
    default:
      return undefined;
  }
}

function ofKubernetes({ fn, id, target, args }: EstimatedCall): CallEstimate | undefined {
  if (FIXED.has(fn) || id === "cidr_ip") return { cost: 1 };
  const [first, second] = args;
  if (ONCE.has(fn) || fn === "ip") return { cost: read(first!.size) };
  switch (fn) {
    case "isSorted":
    case "sum":
    case "max":
    case "min":
    case "indexOf":
    case "lastIndexOf":
      return { cost: lookedThrough(target!) };
    case "url":
      return { cost: read(first!.size), size: first!.size };
    case "lowerAscii":
    case "upperAscii":
    case "substring":
    case "trim":
      return { cost: read(target!.size), size: target!.size };
    case "replace":
      return {
        cost: read(target!.size, 2 * PER_CHARACTER),
        size: replacedSize(target!.size, first!.size, second!.size),
      };
    case "split":
      return { cost: read(target!.size, 2 * PER_CHARACTER), size: { min: 0, max: mostParts(target!, second) } };
    case "join": {
      const max = longestJoined(target!, first);
      return { cost: scaled(max, PER_CHARACTER), size: { min: 0, max } };
    }
    case "find":
    case "findAll":
      return {
        cost: capped(scaled(capped(target!.size.max + 1), PER_CHARACTER) * read(first!.size, PER_PATTERN_CHARACTER)),
        size: { min: 0, max: target!.size.max },
      };
    case "ip.isCanonical":
      return { cost: read(first!.size, 2 * PER_CHARACTER) };
    case "containsIP":
      return { cost: capped(4 + parsing(id, first!)) };
    case "containsCIDR":
      return { cost: capped(7 + parsing(id, first!)) };
    case "validate":
      return { cost: scaled(read(first!.size), 128 * PER_PATTERN_CHARACTER) };
    case "_==_":
      return ofEquality(first!, second!);
    default:
      return undefined;
  }
}

/** Cost of looking at every element of a list, or at a text. */
function lookedThrough({ type, size, itemSize }: Operand): number {
  if (type.kind !== "list") return read(size);
  const reads = type.of[0] === STRING || type.of[0] === BYTES;
  return capped(size.max * (reads ? 1 + read(itemSize) : 1));
}

/** Into how many parts a text may be split. */
function mostParts(text: Operand, limit: Operand | undefined): number {
  const most = limit === undefined ? undefined : writtenNumber(limit);
  if (most === undefined) return text.size.max;
  return most < 0 ? ENDLESS : most;
}

function longestJoined({ size, itemSize }: Operand, separator: Operand | undefined): number {
  const between = separator === undefined ? 0 : separator.size.max * Math.max(size.max - 1, 0);
  return capped(size.max * itemSize.max + between);
}

/** Cost of parsing an address that is given as a text. */
function parsing(id: string, address: Operand): number {
  return id.endsWith("_string") ? read(address.size) : 0;
}

function ofEquality(a: Operand, b: Operand): CallEstimate | undefined {
  if (!sameType(a.type, b.type)) return undefined;
  switch (typeName(a.type)) {
    case "net.IP":
    case "net.CIDR":
    case "kubernetes.Quantity":
    case "kubernetes.Semver":
      return { cost: 1 };
    case "kubernetes.NamedFormat":
      return { cost: scaled(64, PER_CHARACTER) };
    case "kubernetes.URL":
      return { cost: b.isSized ? read(b.size) : 1 };
    default:
      return undefined;
  }
}

/** How long a text may be in which some is replaced. */
function replacedSize(text: Size, from: Size, to: Size): Size {
  let count = 0;
  let kept = 0;
  if (from.min === 0) {
    count = capped(text.max + 1);
    kept = text.max;
  } else if (to.max <= from.min) kept = text.max;
  else count = Math.ceil(text.max / from.min);
  return { min: 0, max: capped(capped(count * to.max) + kept) };
}

function ofLanguage({ id, target, args }: EstimatedCall, costs: readonly number[], sum: number): CallEstimate {
  const [first = { size: UNKNOWN }, second = { size: UNKNOWN }, third = { size: UNKNOWN }] = args;
  const { min, max } = first.size;
  switch (id) {
    case "string_format":
      return { cost: capped(read(target!.size) + sum) };
    case "string_to_bytes":
      return { cost: capped(read(first.size) + sum), size: { min, max: capped(max * 4) } };
    case "bytes_to_string":
      return { cost: capped(read(first.size) + sum), size: { min: Math.floor(min / 4), max } };
    case "strings_quote":
      return { cost: capped(read(first.size) + sum), size: { min: min + 2, max: capped(max * 2 + 2) } };
    case "starts_with_string":
    case "ends_with_string":
      return { cost: capped(read(first.size) + sum) };
    case "in_list":
      return { cost: capped(second.size.max + sum) };
    case "matches_string":
    case "contains_string": {
      if (target === undefined) break;
      const text = scaled(capped(target.size.max + (id === "matches_string" ? 1 : 0)), PER_CHARACTER);
      const part = read(first.size, id === "matches_string" ? PER_PATTERN_CHARACTER : PER_CHARACTER);
      return { cost: capped(capped(text * part) + sum) };
    }
    case "logical_or":
    case "logical_and":
      return { cost: capped(sum) };
    case "conditional":
      return {
        cost: capped(costs[0]! + Math.max(costs[1]!, costs[2]!)),
        size: union(second.size, third.size),
      };
    case "add_list":
    case "add_string":
    case "add_bytes": {
      const size = { min: min + second.size.min, max: capped(max + second.size.max) };
      return { cost: capped((id === "add_list" ? 1 : read(size)) + sum), size };
    }
    case "equals":
    case "not_equals":
    case "less_string":
    case "less_equals_string":
    case "greater_string":
    case "greater_equals_string":
    case "less_bytes":
    case "less_equals_bytes":
    case "greater_bytes":
    case "greater_equals_bytes":
      return { cost: capped(scaled(Math.min(max, second.size.max), PER_CHARACTER) + sum) };
  }
  return { cost: capped(1 + sum) };
}
