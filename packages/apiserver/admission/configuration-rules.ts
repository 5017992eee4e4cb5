import { sameJson } from "@slipway/base";
import { isRecord } from "../json/value.ts";
import { duplicate, invalid, notSupported, required, tooMany } from "../model/field-error.ts";
import type { Body, FieldError } from "../model/served.ts";
import { subdomainRule } from "../rules/metadata.ts";
import { validateLabelKey, validateLabelSelector } from "../rules/name-rules.ts";
import { addressErrors } from "../webhook/client-config-rules.ts";
import { REVIEWS, reviewVersionErrors } from "../webhook/review-version-rules.ts";
import type { Hook, MatchCondition, Rule } from "./configuration.ts";
import { conditionError } from "./match-conditions.ts";

type Given = Partial<Hook>;

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const HARMLESS = ["None", "NoneOnDryRun"];
const SIDE_EFFECTS = ["None", "NoneOnDryRun", "Some", "Unknown"];
const MAX_CONDITIONS = 64;
/** What is wrong with a configuration of admission webhooks. What an older version was stored with and newer ones may not have is left alone on update. */
export function configurationErrors(configuration: Body, old?: Body): FieldError[] {
  const hooks = hooksIn(configuration);
  const before = old === undefined ? undefined : hooksIn(old);
  const had = (rule: (hook: Given) => boolean): boolean => before?.some((hook) => !rule(hook)) ?? false;
  const sideEffects = had((hook) => HARMLESS.includes(hook.sideEffects ?? "None")) ? SIDE_EFFECTS : HARMLESS;
  const anyReview = had((hook) => REVIEWS.some((v) => hook.admissionReviewVersions?.includes(v)));
  const conditions = (list: readonly Given[] | undefined) => list?.map((hook) => hook.matchConditions ?? []);
  const sameConditions = before !== undefined && sameJson(conditions(hooks), conditions(before));
  const names = new Set<string>();
  return hooks.flatMap((hook, i) => {
    const at = `webhooks[${i}]`;
    const errors = [...hookErrors(hook, at, sideEffects), ...addressOf(hook, `${at}.clientConfig`)];
    if (!sameConditions) errors.push(...conditionErrors(hook.matchConditions ?? [], `${at}.matchConditions`));
    const versions = hook.admissionReviewVersions ?? [];
    const ifNone = `must specify one of ${REVIEWS.join(", ")}`;
    errors.push(...reviewVersionErrors(versions, `${at}.admissionReviewVersions`, ifNone, anyReview));
    if (hook.name && names.has(hook.name)) errors.push(duplicate(`${at}.name`, hook.name));
    names.add(hook.name ?? "");
    return errors;
  });
}

/** The webhooks as they are given; a null says as much as nothing. */
function hooksIn({ webhooks }: Body): Given[] {
  const given = <T>(part: T): T =>
    isRecord(part)
      ? (Object.fromEntries(Object.entries(part).flatMap(([k, v]) => (v === null ? [] : [[k, given(v)]]))) as T)
      : part;
  return Array.isArray(webhooks) ? webhooks.map(given) : [];
}

function hookErrors(hook: Given, at: string, sideEffects: readonly string[]): FieldError[] {
  const errors = [...nameErrors(hook.name ?? "", `${at}.name`)];
  for (const [i, rule] of (hook.rules ?? []).entries()) errors.push(...ruleErrors(rule, `${at}.rules[${i}]`));
  const oneOf = (field: keyof Hook, supported: readonly string[]): void => {
    const value = hook[field];
    if (value !== undefined && !supported.includes(value as string))
      errors.push(notSupported(`${at}.${field}`, value, supported));
  };
  oneOf("failurePolicy", ["Fail", "Ignore"]);
  oneOf("matchPolicy", ["Equivalent", "Exact"]);
  if (hook.sideEffects === undefined)
    errors.push(required(`${at}.sideEffects`, `must specify one of ${sideEffects.join(", ")}`));
  oneOf("sideEffects", sideEffects);
  const seconds = hook.timeoutSeconds ?? 10;
  if (seconds < 1 || seconds > 30)
    errors.push(invalid(`${at}.timeoutSeconds`, seconds, "the timeout value must be between 1 and 30 seconds"));
  for (const field of ["namespaceSelector", "objectSelector"] as const)
    errors.push(...validateLabelSelector(hook[field], `${at}.${field}`));
  oneOf("reinvocationPolicy", ["IfNeeded", "Never"]);
  return errors;
}

function nameErrors(name: string, at: string): FieldError[] {
  if (name === "") return [required(at)];
  const wrong = subdomainRule(name);
  if (wrong !== undefined) return [invalid(at, name, wrong)];
  return name.split(".").length < 3
    ? [invalid(at, name, "should be a domain with at least three segments separated by dots")]
    : [];
}

function addressOf({ clientConfig = {} }: Given, at: string): FieldError[] {
  return (clientConfig.url === undefined) === (clientConfig.service === undefined)
    ? [required(at, "exactly one of url or service is required")]
    : addressErrors(clientConfig, at);
}

function ruleErrors(rule: Partial<Rule>, at: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope = "*" } = rule;
  const errors: FieldError[] = [];
  const list = (field: string, values: readonly string[], others: string): void => {
    if (values.length === 0) errors.push(required(`${at}.${field}`));
    if (values.length > 1 && values.includes("*"))
      errors.push(invalid(`${at}.${field}`, values, `if '*' is present, must not specify other ${others}`));
  };
  list("operations", operations, "operations");
  for (const [i, operation] of operations.entries())
    if (!OPERATIONS.includes(operation)) errors.push(notSupported(`${at}.operations[${i}]`, operation, OPERATIONS));
  list("apiGroups", apiGroups, "API groups");
  list("apiVersions", apiVersions, "API versions");
  for (const [i, version] of apiVersions.entries())
    if (version === "") errors.push(required(`${at}.apiVersions[${i}]`));
  errors.push(...resourceErrors(resources, `${at}.resources`));
  const scopes = ["*", "Cluster", "Namespaced"];
  if (!scopes.includes(scope)) errors.push(notSupported(`${at}.scope`, scope, scopes));
  return errors;
}

function resourceErrors(resources: readonly string[], at: string): FieldError[] {
  if (resources.length === 0) return [required(at)];
  const errors = overlapErrors(resources, at);
  if (resources.length > 1 && resources.includes("*/*"))
    errors.push(invalid(at, resources, "if '*/*' is present, must not specify other resources"));
  // As upstream: only the last resource without a subresource counts.
  const last = resources.filter((text) => text !== "" && !text.includes("/")).at(-1);
  if (resources.includes("*") && last !== undefined && last !== "*")
    errors.push(invalid(at, resources, "if '*' is present, must not specify other resources without subresources"));
  return errors;
}

/** Of resources that one before takes in already. */
function overlapErrors(resources: readonly string[], at: string): FieldError[] {
  const errors: FieldError[] = [];
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  for (const [i, text] of resources.entries()) {
    if (text === "") errors.push(required(`${at}[${i}]`));
    const slash = text.indexOf("/");
    if (slash < 0) continue;
    const [resource, sub] = [text.slice(0, slash), text.slice(slash + 1)];
    if (wholeResources.has(resource))
      errors.push(invalid(`${at}[${i}]`, text, `if '${resource}/*' is present, must not specify ${text}`));
    if (wholeSubresources.has(sub))
      errors.push(invalid(`${at}[${i}]`, text, `if '*/${sub}' is present, must not specify ${text}`));
    if (sub === "*") wholeResources.add(resource);
    if (resource === "*") wholeSubresources.add(sub);
  }
  return errors;
}

function conditionErrors(conditions: readonly Partial<MatchCondition>[], at: string): FieldError[] {
  const errors: FieldError[] = [];
  if (conditions.length > MAX_CONDITIONS) errors.push(tooMany(at, conditions.length, MAX_CONDITIONS));
  const names = new Set<string>();
  for (const [i, { name = "", expression = "" }] of conditions.entries()) {
    errors.push(...expressionErrors(expression.trim(), `${at}[${i}].expression`));
    if (name === "") errors.push(required(`${at}[${i}].name`));
    else errors.push(...validateLabelKey(name, `${at}[${i}].name`));
    if (name !== "" && names.has(name)) errors.push(duplicate(`${at}[${i}].name`, name));
    names.add(name);
  }
  return errors;
}

function expressionErrors(expression: string, at: string): FieldError[] {
  if (expression === "") return [required(at)];
  const wrong = conditionError(expression);
  return wrong === undefined ? [] : [invalid(at, expression, wrong)];
}
