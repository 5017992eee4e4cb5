import { canonicalJson } from "../json/canonical.ts";
import { sameInPasses } from "../json/passes.ts";
import { allPasses, Pace, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import { invalid, notSupported, required, tooLong, tooMany, typeInvalid } from "../model/field-error.ts";
import { FieldErrors } from "../model/field-errors.ts";
/**
 * The schema part of validation: types, bounds, formats, combinations, in the order and the words of the validator that
 * kube-apiserver uses for custom resources (kube-openapi `validate.SchemaValidator`). Uniqueness of list items (`lists.ts`) and CEL rules
 * (`cel/rules.ts`) come after it.
 *
 * Ratcheting: on an update, a value that equals its predecessor is not judged again, so an object that was stored under
 * weaker rules can still be changed elsewhere.
 */
import type { FieldError } from "../model/served.ts";
import { oldField, predecessors } from "./lists.ts";
import type { Node } from "./node.ts";
import { numberErrors } from "./validate-number.ts";

/** What is wrong with a value, and how many checks it came through: of alternatives, the one with most is reported. */
interface Verdict {
  errors: FieldErrors;
  passed: number;
  /** Where the walk is. What goes on to a value in another comes back to it. */
  path: string;
  /** Of the whole walk. */
  pace: Pace;
}

/** What is wrong with `value`, which stands at `path`. */
export function validateNode(node: Node, value: unknown, path = ""): FieldError[] {
  const verdict = newVerdict(path, new Pace());
  allPasses(ratcheted(node, value, undefined, verdict));
  return [...verdict.errors];
}

/** What is wrong with a whole value, in passes over it and over the alternatives of its schema. `old` is the value it replaces, where there is one. */
export function* validateInPasses(root: Node, value: unknown, old: unknown): Passes<FieldError[]> {
  const verdict = newVerdict("", new Pace());
  yield* ratcheted(root, value, old, verdict);
  return [...verdict.errors];
}

const newVerdict = (path: string, pace: Pace): Verdict => ({ errors: new FieldErrors(), passed: 0, path, pace });

function* ratcheted(node: Node, value: unknown, old: unknown, verdict: Verdict): Passes<void> {
  if (old !== undefined && (value === old || (yield* sameInPasses(value, old, verdict.pace)))) return;
  if (verdict.pace.isOver(stepsOf(node, value))) yield;
  // Most values are neither lists nor objects, and a generator for each would cost more than the checks.
  if (typeof value === "object" || node.isCombined) yield* judge(node, value, old, verdict);
  else judgeScalar(node, value, verdict);
}

/** What making a pattern ready costs, in steps of a walk, beside those for each of its letters. */
const STEPS_A_PATTERN = 10;

/** A pattern looks at so many letters of a text in a step. */
const LETTERS_A_STEP = 16;

/** What it takes to look at a value without those in it. A pattern is made ready at its first use, which may be this one. */
function stepsOf({ schema: { pattern } }: Node, value: unknown): number {
  if (pattern === undefined || typeof value !== "string") return 1;
  return STEPS_A_PATTERN + pattern.length + value.length / LETTERS_A_STEP;
}

/** Adds to a verdict, which is that of all that is judged together: one for each value would cost more than the checks. */
function* judge(node: Node, value: unknown, old: unknown, verdict: Verdict): Passes<void> {
  if (!ofType(node, value, verdict)) return;
  if (node.isCombined) yield* combined(node, value, old, verdict);
  // The checks that apply to the value count, those of enums and of combinations always.
  verdict.passed += 3;
  if (Array.isArray(value)) {
    yield* ofList(node, value, old, verdict);
    verdict.passed += 2;
  } else ofScalar(node, value, verdict);
  add(verdict, enumError(node, value, verdict.path));
  if (isRecord(value)) {
    yield* ofObject(node, value, old, verdict);
    verdict.passed++;
  }
}

/** `judge`, of what is neither a list nor an object, by a node that combines nothing. */
function judgeScalar(node: Node, value: unknown, verdict: Verdict): void {
  if (!ofType(node, value, verdict)) return;
  verdict.passed += 3;
  ofScalar(node, value, verdict);
  add(verdict, enumError(node, value, verdict.path));
}

function add(verdict: Verdict, error: FieldError | undefined): void {
  if (error !== undefined) verdict.errors.add(error);
}

/** Judges the type. False for a null, which has nothing more to be judged. */
function ofType(node: Node, value: unknown, verdict: Verdict): boolean {
  const { path } = verdict;
  const mismatch = typeError(node, value, path);
  add(verdict, mismatch);
  if (value === null) {
    if (mismatch === undefined) verdict.passed++;
    add(verdict, enumError(node, value, path));
    return false;
  }
  if (node.types.length > 0 || node.formatName !== undefined) verdict.passed += mismatch === undefined ? 2 : 1;
  return true;
}

function ofScalar(node: Node, value: unknown, verdict: Verdict): void {
  const { path } = verdict;
  if (typeof value === "string") {
    add(verdict, stringError(node, value, path));
    verdict.passed++;
    if (node.format === undefined) return;
    if (!node.format(value))
      add(verdict, typeInvalid(path, value, `${typeText(path, node.formatName!)}: ${quoted(value)}`));
    verdict.passed++;
  } else if (typeof value === "number") {
    for (const error of numberErrors(node.schema, value, path)) add(verdict, error);
    verdict.passed += 2;
  }
}

function merge(into: Verdict, { errors, passed }: Verdict): void {
  for (const error of errors) into.errors.add(error);
  into.passed += passed;
}

const typeText = (path: string, type: string): string => `${path} in body must be of type ${type}`;

const quoted = (text: string): string => JSON.stringify(text);

/** A value whose type the schema does not allow. A schema with a format of texts takes lists, as upstream does. */
function typeError(node: Node, value: unknown, path: string): FieldError | undefined {
  const { types, formatName, nullable } = node;
  const wrong = (wanted: string, is: string): FieldError =>
    typeInvalid(path, is, `${typeText(path, wanted)}: ${quoted(is)}`);
  if (value === null) return types.length > 0 && !nullable ? wrong(types.join(","), "null") : undefined;
  if (types.length === 0 && formatName === undefined) return undefined;
  const type = typeOf(value);
  const fits = types.includes(type) || (type === "integer" && types.includes("number"));
  const isNumeric = types.includes("number") || types.includes("integer");
  const formatless = typeof value === "string" || Array.isArray(value);
  if (formatName !== undefined && !isNumeric && formatless) return undefined;
  if (formatName !== undefined && !formatless && !fits) return wrong(formatName, formatOf(type));
  return fits ? undefined : wrong(types.join(","), type);
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function formatOf(type: string): string {
  return type === "integer" ? "int64" : type === "number" ? "float64" : "";
}

function enumError(node: Node, value: unknown, path: string): FieldError | undefined {
  // A null in an enum allows none, as upstream.
  if (node.allows === undefined || (value !== null && node.allows(value))) return undefined;
  return notSupported(path, value, node.schema.enum ?? []);
}

function stringError(node: Node, value: string, path: string): FieldError | undefined {
  const { minLength, maxLength, pattern } = node.schema;
  if (maxLength !== undefined && value.length > maxLength && runes(value) > maxLength) return tooLong(path, maxLength);
  if (minLength !== undefined && runes(value) < minLength)
    return invalid(path, value, `${path} in body should be at least ${minLength} chars long`);
  if (node.pattern !== undefined && !node.pattern.test(value))
    return invalid(path, value, `${path} in body should match '${pattern}'`);
  return undefined;
}

function runes(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function* ofList(node: Node, list: readonly unknown[], old: unknown, verdict: Verdict): Passes<void> {
  const { minItems, maxItems, uniqueItems } = node.schema;
  const { path } = verdict;
  if (node.items !== undefined) {
    const before = predecessors(node, old);
    for (const [i, item] of list.entries()) {
      if (verdict.errors.isFull) break;
      verdict.path = `${path}[${i}]`;
      yield* ratcheted(node.items, item, before(item), verdict);
    }
    verdict.path = path;
  }
  if (minItems !== undefined && list.length < minItems)
    verdict.errors.add(invalid(path, list.length, `${path} in body should have at least ${minItems} items`));
  if (maxItems !== undefined && list.length > maxItems) verdict.errors.add(tooMany(path, list.length, maxItems));
  if (uniqueItems === true && new Set(list.map(canonicalJson)).size < list.length)
    verdict.errors.add(invalid(path, "", `${path} in body shouldn't contain duplicates`));
}

function* ofObject(node: Node, value: Record<string, unknown>, old: unknown, verdict: Verdict): Passes<void> {
  const { minProperties, maxProperties } = node.schema;
  const { path } = verdict;
  const at = path === "" ? "" : `${path}.`;
  if (minProperties !== undefined || maxProperties !== undefined) {
    const count = Object.keys(value).length;
    if (minProperties !== undefined && count < minProperties)
      verdict.errors.add(invalid(path, count, `${path} in body should have at least ${minProperties} properties`));
    if (maxProperties !== undefined && count > maxProperties) verdict.errors.add(tooMany(path, count, maxProperties));
  }
  for (const key in value) {
    if (verdict.errors.isFull) break;
    const declared = node.properties.get(key);
    const child = declared ?? (typeof node.additional === "object" ? node.additional : undefined);
    if (child === undefined) continue;
    // Without a path above, that of a map's value begins with a dot, as upstream: errors of defaults read so.
    verdict.path = declared === undefined ? `${path}.${key}` : at + key;
    yield* ratcheted(child, value[key], oldField(old, key), verdict);
  }
  verdict.path = path;
  for (const name of node.required) if (!Object.hasOwn(value, name)) verdict.errors.add(required(at + name));
}

/** anyOf, oneOf, allOf, not. Their own errors have no place; those of the closest alternative are reported too. */
function* combined(node: Node, value: unknown, old: unknown, verdict: Verdict): Passes<void> {
  const { path } = verdict;
  const say = (text: string): void => verdict.errors.add(invalid("", "", `${JSON.stringify(path)} must ${text}`));
  const attempt = function* (candidate: Node): Passes<Verdict> {
    const own = newVerdict(path, verdict.pace);
    if (own.pace.isOver(stepsOf(candidate, value))) yield;
    yield* judge(candidate, value, old, own);
    return own;
  };
  if (node.anyOf.length > 0) {
    const outcomes: Verdict[] = [];
    for (const part of node.anyOf) if (outcomes.push(yield* attempt(part)) && isValid(outcomes.at(-1)!)) break;
    const valid = outcomes.find(isValid);
    if (valid === undefined) say("validate at least one schema (anyOf)");
    merge(verdict, valid ?? closest(outcomes));
  }
  if (node.oneOf.length > 0) {
    const outcomes: Verdict[] = [];
    for (const part of node.oneOf) outcomes.push(yield* attempt(part));
    const valid = outcomes.filter(isValid);
    if (valid.length === 1) merge(verdict, valid[0]!);
    else {
      const found = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
      say(`validate one and only one schema (oneOf). ${found}`);
      const after = outcomes.slice(outcomes.findLastIndex(isValid) + 1);
      if (valid.length === 0) merge(verdict, closest(after));
    }
  }
  if (node.allOf.length > 0) {
    const outcomes: Verdict[] = [];
    for (const part of node.allOf) outcomes.push(yield* attempt(part));
    for (const outcome of outcomes) merge(verdict, outcome);
    const valid = outcomes.filter(isValid).length;
    if (valid < outcomes.length) say(`validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`);
  }
  if (node.not !== undefined && isValid(yield* attempt(node.not))) say("not validate the schema (not)");
}

const isValid = ({ errors }: Verdict): boolean => errors.isEmpty;

/** The first of those that came furthest. */
function closest(outcomes: readonly Verdict[]): Verdict {
  return outcomes.reduce((best, next) => (next.passed > best.passed ? next : best));
}
