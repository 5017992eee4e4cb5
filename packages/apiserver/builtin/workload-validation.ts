import { sameJson } from "@slipway/base";
import type { Passes } from "../json/turns.ts";
import { forbidden, immutable, invalid, required } from "../model/field-error.ts";
import { at, membersAt, objectsAt } from "../model/read.ts";
import type { Body, FieldError } from "../model/served.ts";
import { selects, validateLabelSelector, validateLabels } from "../rules/name-rules.ts";
import { atMost100Percent, nonNegative, numberOrPercent, oneOfField } from "../rules/value-rules.ts";
import { validatePodSpec } from "./pod-validation.ts";

type Fields = Record<string, unknown>;

/** Deployments, in the order of upstream's `ValidateDeploymentSpec`. */
export function* validateDeployment(object: Body, old?: Body): Passes<FieldError[]> {
  const spec = membersAt(object, "spec");
  const deadline = spec.progressDeadlineSeconds;
  const tooSoon = typeof deadline === "number" && deadline <= Number(spec.minReadySeconds ?? 0);
  return [
    ...nonNegative(spec, "spec", ["replicas"]),
    ...(yield* validateSelected(spec, { maker: "deployment", controller: "ReplicaSet" })),
    ...validateRollout(membersAt(spec, "strategy")),
    ...nonNegative(spec, "spec", ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"]),
    ...(tooSoon ? [invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")] : []),
    ...validateFixedSelector(object, old),
    ...validateCounts(object, "updatedReplicas", ["unavailableReplicas", "terminatingReplicas", "collisionCount"]),
  ];
}

/** ReplicaSets. */
export function* validateReplicaSet(object: Body, old?: Body): Passes<FieldError[]> {
  const spec = membersAt(object, "spec");
  return [
    ...nonNegative(spec, "spec", ["replicas", "minReadySeconds"]),
    ...(yield* validateSelected(spec, { maker: "deployment", controller: "ReplicaSet" })),
    ...validateFixedSelector(object, old),
    ...validateCounts(object, "fullyLabeledReplicas", ["terminatingReplicas"]),
  ];
}

/** ReplicationControllers, whose selector is a plain map. */
export function* validateReplicationController(object: Body): Passes<FieldError[]> {
  const spec = membersAt(object, "spec");
  const selector = membersAt(spec, "selector");
  return [
    ...nonNegative(spec, "spec", ["minReadySeconds"]),
    ...(Object.keys(selector).length === 0 ? [required("spec.selector")] : []),
    ...nonNegative(spec, "spec", ["replicas"]),
    ...(spec.template === undefined || spec.template === null
      ? [required("spec.template")]
      : [
          ...validateMatch({ matchLabels: selector }, spec),
          ...(yield* validateTemplate(spec)),
          ...validateLasting(spec, "ReplicationController"),
        ]),
    ...validateCounts(object, "fullyLabeledReplicas", []),
  ];
}

/** DaemonSets. An absent selector is only reported by what it fails to match. */
export function* validateDaemonSet(object: Body, old?: Body): Passes<FieldError[]> {
  const spec = membersAt(object, "spec");
  const errors = validateLabelSelector(spec.selector, "spec.selector");
  return [
    ...validateFixedSelector(object, old),
    ...errors,
    ...(errors.length > 0 || isEmpty(spec.selector) ? [] : validateMatch(spec.selector, spec)),
    ...(isPresent(spec.selector) && isEmpty(spec.selector)
      ? [invalid("spec.selector", spec.selector, "empty selector is invalid for daemonset")]
      : []),
    ...(yield* validateTemplate(spec)),
    ...validateLasting(spec, "DaemonSet"),
    ...nonNegative(spec, "spec", ["minReadySeconds"]),
    ...validateDaemonRollout(membersAt(spec, "updateStrategy")),
    ...nonNegative(spec, "spec", ["revisionHistoryLimit"]),
  ];
}

const STATEFUL_CHANGES = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

/** Rules for StatefulSets; with `old`, what may change of one. */
export function* validateStatefulSet(object: Body, old?: Body): Passes<FieldError[]> {
  const spec = membersAt(object, "spec");
  const policy = spec.podManagementPolicy;
  const strategy = membersAt(spec, "updateStrategy");
  const fixed = (of: Fields) => Object.entries(of).filter(([name]) => !STATEFUL_CHANGES.includes(name));
  const changed =
    old !== undefined && !sameJson(Object.fromEntries(fixed(spec)), Object.fromEntries(fixed(membersAt(old, "spec"))));
  return [
    ...(policy === "OrderedReady" || policy === "Parallel"
      ? []
      : [invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")]),
    ...(strategy.type === "RollingUpdate" || strategy.type === "OnDelete"
      ? []
      : [invalid("spec.updateStrategy", inGo(strategy), "must be 'RollingUpdate' or 'OnDelete'")]),
    ...nonNegative(spec, "spec", ["replicas", "minReadySeconds"]),
    ...(yield* validateSelected(spec, { maker: "statefulset", controller: undefined })),
    ...validateLasting(spec, "StatefulSet"),
    ...(changed
      ? [
          forbidden(
            "spec",
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
          ),
        ]
      : []),
    ...validateSetCounts(object),
  ];
}

interface Names {
  /** Who an empty selector is invalid for. */
  maker: string;
  /** Who judges that the template's Pods last; undefined: somebody else does. */
  controller: string | undefined;
}

/** A selector that is there and selects something, and a template that it selects. */
function* validateSelected(spec: Fields, { maker, controller }: Names): Passes<FieldError[]> {
  const { selector } = spec;
  const errors = isPresent(selector) ? validateLabelSelector(selector, "spec.selector") : [required("spec.selector")];
  if (isPresent(selector) && errors.length > 0)
    return [...errors, invalid("spec.selector", selector, "invalid label selector")];
  if (isPresent(selector) && isEmpty(selector))
    errors.push(invalid("spec.selector", selector, `empty selector is invalid for ${maker}`));
  return [
    ...errors,
    ...(isPresent(selector) && isEmpty(selector) ? [] : validateMatch(selector, spec)),
    ...(yield* validateTemplate(spec)),
    ...(controller === undefined ? [] : validateLasting(spec, controller)),
  ];
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isEmpty(selector: unknown): boolean {
  if (!isPresent(selector)) return false;
  return (
    Object.keys(membersAt(selector, "matchLabels")).length === 0 && objectsAt(selector, "matchExpressions").length === 0
  );
}

/** An absent selector matches nothing. */
function validateMatch(selector: unknown, spec: Fields): FieldError[] {
  const labels = membersAt(spec, "template.metadata.labels");
  if (isEmpty(selector) || selects(selector, labels)) return [];
  const shown = at(spec, "template.metadata.labels") ?? null;
  return [invalid("spec.template.metadata.labels", shown, "`selector` does not match template `labels`")];
}

/** A template: its labels and what runs. `path`: where the spec that holds it is. */
export function* validateTemplate(spec: unknown, path = "spec"): Passes<FieldError[]> {
  return [
    ...validateLabels(membersAt(spec, "template.metadata.labels"), `${path}.template.labels`),
    ...(yield* validatePodSpec(at(spec, "template.spec"), `${path}.template.spec`)),
  ];
}

/** Pods of these kinds run until somebody ends them. */
function validateLasting(spec: Fields, kind: string): FieldError[] {
  const policy = at(spec, "template.spec.restartPolicy");
  const errors = oneOfField(policy, "spec.template.spec.restartPolicy", ["Always"]);
  if (at(spec, "template.spec.activeDeadlineSeconds") === undefined) return errors;
  const why = `activeDeadlineSeconds in ${kind} is not Supported`;
  return [...errors, forbidden("spec.template.spec.activeDeadlineSeconds", why)];
}

function validateFixedSelector(object: Body, old: Body | undefined): FieldError[] {
  const selector = at(object, "spec.selector");
  if (old === undefined || sameJson(selector ?? null, at(old, "spec.selector") ?? null)) return [];
  return [immutable("spec.selector", selector ?? null)];
}

function validateRollout(strategy: Fields): FieldError[] {
  const path = "spec.strategy.rollingUpdate";
  if (strategy.type === "Recreate")
    return isPresent(strategy.rollingUpdate)
      ? [forbidden(path, "may not be specified when strategy `type` is 'Recreate'")]
      : [];
  if (strategy.type !== "RollingUpdate")
    return oneOfField(strategy.type, "spec.strategy", ["Recreate", "RollingUpdate"]).map((error) => ({
      ...error,
      message: error.message.replace(JSON.stringify(strategy.type), JSON.stringify(inGo(strategy))),
    }));
  const { maxUnavailable, maxSurge } = membersAt(strategy, "rollingUpdate");
  return [
    ...numberOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...numberOrPercent(maxSurge, `${path}.maxSurge`),
    ...(amount(maxUnavailable) === 0 && amount(maxSurge) === 0
      ? [invalid(`${path}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0")]
      : []),
    ...atMost100Percent(maxUnavailable, `${path}.maxUnavailable`),
  ];
}

function validateDaemonRollout(strategy: Fields): FieldError[] {
  const path = "spec.updateStrategy.rollingUpdate";
  if (strategy.type === "OnDelete") return [];
  if (strategy.type !== "RollingUpdate")
    return oneOfField(strategy.type, "spec.updateStrategy", ["RollingUpdate", "OnDelete"]).map((error) => ({
      ...error,
      message: error.message.replace(JSON.stringify(strategy.type), JSON.stringify(inGo(strategy))),
    }));
  const { maxUnavailable, maxSurge } = membersAt(strategy, "rollingUpdate");
  const [away, more] = [amount(maxUnavailable) !== 0, amount(maxSurge) !== 0];
  return [
    ...numberOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...numberOrPercent(maxSurge, `${path}.maxSurge`),
    ...atMost100Percent(maxUnavailable, `${path}.maxUnavailable`),
    ...atMost100Percent(maxSurge, `${path}.maxSurge`),
    ...(away && more ? [invalid(`${path}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero")] : []),
    ...(away || more ? [] : [required(`${path}.maxUnavailable`, "cannot be 0 when maxSurge is 0")]),
  ];
}

/** The number, or that before the percent sign; what is neither counts for nothing. */
function amount(value: unknown): number {
  return typeof value === "number" ? value : Number(/^([0-9]+)%$/.exec(String(value))?.[1] ?? 0);
}

/** A strategy as Go's encoder shows the internal type. */
function inGo(strategy: Fields): unknown {
  return { Type: strategy.type, RollingUpdate: strategy.rollingUpdate ?? null };
}

/** The counts of a status; of all Pods some are new (or have all labels), some ready, some of those available. */
function validateCounts(object: Body, some: string, more: readonly string[]): FieldError[] {
  const status = membersAt(object, "status");
  const count = (name: string) => Number(status[name] ?? 0);
  const tooMany = (name: string, of: string) =>
    count(name) > count(of)
      ? [invalid(`status.${name}`, count(name), `cannot be greater than ${of === "replicas" ? "status.replicas" : of}`)]
      : [];
  return [
    ...nonNegative(status, "status", [
      "observedGeneration",
      "replicas",
      some,
      "readyReplicas",
      "availableReplicas",
      ...more,
    ]),
    ...tooMany(some, "replicas"),
    ...tooMany("readyReplicas", "replicas"),
    ...tooMany("availableReplicas", "replicas"),
    ...tooMany("availableReplicas", "readyReplicas"),
  ];
}

function validateSetCounts(object: Body): FieldError[] {
  const status = membersAt(object, "status");
  const parts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
  const all = Number(status.replicas ?? 0);
  return [
    ...nonNegative(status, "status", ["replicas", ...parts, "observedGeneration", "collisionCount"]),
    ...parts
      .filter((name) => Number(status[name] ?? 0) > all)
      .map((name) => invalid(`status.${name}`, Number(status[name] ?? 0), "cannot be greater than status.replicas")),
  ];
}
