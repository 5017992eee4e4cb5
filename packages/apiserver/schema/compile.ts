/**
 * The face of the schema engine: what kube-apiserver does with an object by its kind's structural schema.
 *
 * Pruning, defaulting, validation with ratcheting, and CEL rules, each in its own file beside this one. Also here: the
 * resources that a CustomResourceDefinition serves (`crd.ts`), discovery documents (`discovery.ts`) and OpenAPI documents
 * (`openapi-v2.ts`, `openapi-v3.ts`). Everything is a pure function of schemas and objects: no clock, no I/O, no state.
 */

import { allPasses, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { FieldError, Schema, ServedResource } from "../model/served.ts";
import { compileRules, type Rules } from "./cel/rules.ts";
import { defaultsInPasses } from "./defaults.ts";
import { coerceEmbedded, embeddedErrors } from "./embedded.ts";
import { listErrors } from "./lists.ts";
import { type Node, nodeOf } from "./node.ts";
import { wholeObject } from "./object-meta.ts";
import { prune } from "./prune.ts";
import { scaleErrors } from "./scale-rules.ts";
import { validateInPasses, validateNode } from "./validate.ts";

export interface CompiledSchema {
  /** Brings the metadata of embedded objects into its form, in place. Returns what can't be read as such. */
  coerce(value: unknown): FieldError | undefined;
  /** Drops unknown fields in place. Returns their paths in kube-apiserver's wording: `spec.foo`, `spec.list[0].bar`. */
  prune(value: unknown): string[];
  /** Fills in defaults in place; a null where none is allowed counts as absent. */
  applyDefaults(value: unknown): void;
  /** `applyDefaults` in passes. */
  fill(value: unknown): Passes<void>;
  /** What is wrong with the nulls in a value, where a null counts as a value and not as an absent field. */
  nullErrors(value: unknown): FieldError[];
  /**
   * All that is wrong with `value`. Never throws on JSON. With `old`, unchanged parts are not judged again and transition
   * rules see their old value. Rules that unchanged parts break are listed in `warned`, each once.
   */
  validate(value: unknown, old?: unknown, warned?: string[]): FieldError[];
  /** `validate` in passes over the value. */
  judge(value: unknown, old?: unknown, warned?: string[]): Passes<FieldError[]>;
  /** The schema takes so long to be made ready that even a small object is judged in several turns. */
  readonly isLarge: boolean;
}

/**
 * Makes a schema ready for use. The schema of an object knows apiVersion, kind and metadata even when it doesn't list them.
 *
 * Judging throws `SyntaxError` when a pattern is not a regular expression; rules that don't compile fail every object. A CRD
 * that passed `validateCrd` has neither. `scale`: a custom resource's paths, which must hold what scaling needs.
 */
export function compile(schema: Schema, scale?: ServedResource["scale"]): CompiledSchema {
  const root = nodeOf(schema.type === "object" ? wholeObject(schema) : schema);
  // Programs are made on first use: most kinds of a cluster never see an object.
  let rules: Rules | undefined;
  const judge: CompiledSchema["judge"] = function* (value, old, warned = []) {
    const errors = yield* validateInPasses(root, value, old);
    yield;
    errors.push(...scaleErrors(scale, value));
    embeddedErrors(root, value, "", errors);
    yield;
    const mayHave = old === undefined || !hasListErrors(root, old);
    yield;
    if (mayHave) listErrors(root, value, "", errors);
    if (!root.hasRules) return errors;
    yield;
    if (errors.some(blocksRules)) return [...errors, NOT_CHECKED];
    rules ??= yield* compileRules(root);
    yield;
    yield* rules.check(value, old, errors, warned);
    return errors;
  };
  return {
    coerce: (value) => coerceEmbedded(root, value, ""),
    prune: (value) => prune(root, value),
    applyDefaults: (value) => allPasses(defaultsInPasses(root, value)),
    fill: (value) => defaultsInPasses(root, value),
    nullErrors(value) {
      const errors: FieldError[] = [];
      findNulls(root, value, "", errors);
      return errors;
    },
    validate: (value, old, warned) => allPasses(judge(value, old, warned)),
    judge,
    isLarge: root.size > MANY_STEPS,
  };
}

/** Schemas with more take long enough for others to notice. */
const MANY_STEPS = 4000;

const NOT_CHECKED: FieldError = {
  field: "<nil>",
  reason: "FieldValueInvalid",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

function findNulls(node: Node, value: unknown, path: string, errors: FieldError[]): void {
  if (Array.isArray(value) && node.items !== undefined)
    for (const [i, item] of value.entries()) findNulls(node.items, item, `${path}[${i}]`, errors);
  if (!isRecord(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    const child = node.properties.get(key) ?? (typeof node.additional === "object" ? node.additional : undefined);
    const at = path === "" ? key : `${path}.${key}`;
    if (child === undefined || at === "metadata") continue;
    if (inner !== null) findNulls(child, inner, at, errors);
    else if (child.schema.default === undefined) errors.push(...validateNode(child, null, at));
  }
}

function hasListErrors(root: Node, value: unknown): boolean {
  const errors: FieldError[] = [];
  listErrors(root, value, "", errors);
  return errors.length > 0;
}

const BLOCKING: ReadonlySet<FieldError["reason"]> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/** Rules are written for values of the right shape and size, so they don't run on others. */
function blocksRules(error: FieldError): boolean {
  return BLOCKING.has(error.reason);
}
