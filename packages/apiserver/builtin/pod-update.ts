import { sameJson } from "@slipway/base";
import { canonicalJson } from "../json/canonical.ts";
import { forbidden, invalid } from "../model/field-error.ts";
import { at, membersAt, numberAt, objectsAt, textAt } from "../model/read.ts";
import type { Body, FieldError } from "../model/served.ts";

type Fields = Record<string, unknown>;

const ALLOWED =
  "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** What a Pod's spec may become once it is there (`ValidatePodUpdate`): other images, a sooner deadline, more tolerations. */
export function validatePodUpdate(object: Body, old: Body): FieldError[] {
  const [spec, before] = [membersAt(object, "spec"), membersAt(old, "spec")];
  for (const list of ["containers", "initContainers"])
    if (objectsAt(spec, list).length !== objectsAt(before, list).length)
      return [forbidden(`spec.${list}`, "pod updates may not add or remove containers")];
  const errors = [
    ...validateDeadline(spec.activeDeadlineSeconds, before.activeDeadlineSeconds),
    ...validateAdditions(objectsAt(spec, "tolerations"), objectsAt(before, "tolerations")),
  ];
  // A binding chooses the Node; nobody changes it.
  const isBinding = textAt(before, "nodeName") === "" && at(object, "spec.nodeName") !== at(old, "spec.nodeName");
  const scheduled = isBinding && isScheduled(object) && !isScheduled(old);
  const free = freeFields(spec, before, scheduled);
  if (sameJson(fixedPart(spec, free), fixedPart(before, free))) return errors;
  return [...errors, forbidden("spec", `pod updates may not change fields other than ${ALLOWED}`)];
}

function isScheduled(pod: Body): boolean {
  return objectsAt(pod, "status.conditions").some((c) => c.type === "PodScheduled" && c.status === "True");
}

function validateDeadline(now: unknown, was: unknown): FieldError[] {
  const field = "spec.activeDeadlineSeconds";
  if (typeof was !== "number") return [];
  if (typeof now !== "number") return [invalid(field, null, "must not update from a positive integer to nil value")];
  return now > was ? [invalid(field, now, "must be less than or equal to previous value")] : [];
}

function validateAdditions(now: readonly Fields[], was: readonly Fields[]): FieldError[] {
  const bare = ({ tolerationSeconds: _seconds, ...rest }: Fields) => rest;
  const present = new Set(now.map((toleration) => canonicalJson(bare(toleration))));
  const kept = was.every((toleration) => present.has(canonicalJson(bare(toleration))));
  return kept
    ? []
    : [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}

/** Fields that may become others. A Pod that waits behind scheduling gates may still be steered elsewhere. */
function freeFields(spec: Fields, before: Fields, isBinding: boolean): ReadonlySet<string> {
  const gated = objectsAt(before, "schedulingGates").length > 0;
  return new Set([
    "activeDeadlineSeconds",
    "tolerations",
    ...(gated ? ["nodeSelector", "affinity", "schedulingGates"] : []),
    ...(isBinding ? ["nodeName"] : []),
    ...(numberAt(before, "terminationGracePeriodSeconds") < 0 && spec.terminationGracePeriodSeconds === 1
      ? ["terminationGracePeriodSeconds"]
      : []),
  ]);
}

/** What must stay. */
function fixedPart(spec: Fields, free: ReadonlySet<string>): unknown {
  return Object.fromEntries(
    Object.entries(spec).flatMap(([name, value]) => {
      if (free.has(name)) return [];
      if (name !== "containers" && name !== "initContainers") return [[name, value]];
      return [[name, objectsAt(spec, name).map(({ image: _image, ...rest }) => rest)]];
    }),
  );
}
