import { asFault, isFault } from "@slipway/base";
import { type Condition, type ConditionUpdate, conditionOf, type KubeObject } from "@slipway/kube";
import { type ContractKind, conditionsOf } from "../../cluster-api/contract.ts";
import type { OldUpdate, Severity } from "../../cluster-api/old-conditions.ts";
import { at } from "../../kinds/cluster-api/field-path.ts";
import type { ContractReference, OldCondition } from "../../kinds/cluster-api/fields.ts";
import { REFUSED, refusalOf } from "../../kinds/cluster-api/refused.ts";
import type { ExternalObjects } from "./external-objects.ts";

/** A provider's object as the core sees it. */
export interface Seen {
  reference: ContractReference;
  /** Undefined: its kind is not known, for the reason in `because`. */
  kind: ContractKind | undefined;
  object: KubeObject | undefined;
  /** Why there is no object, in words. */
  because: string;
}

/** Reads a provider's object. What a user can mend (a missing kind, a missing label) is a reason that is shown, all else rejects. */
export async function see(
  external: ExternalObjects,
  reference: ContractReference,
  namespace: string,
  by: { who: string; wake: () => void },
): Promise<Seen> {
  const isRefused = REFUSED.some(({ group, kind }) => group === reference.apiGroup && kind === reference.kind);
  if (isRefused) return { reference, kind: undefined, object: undefined, because: refusalOf(reference.kind) };
  try {
    const { kind, object } = await external.read(reference, namespace, by);
    return { reference, kind, object, because: `${reference.kind} ${reference.name} does not exist` };
  } catch (error) {
    if (!isFault(error, "NotFound", "Invalid")) throw error;
    const because = asFault(error, reference.kind).advice;
    return { reference, kind: undefined, object: undefined, because };
  }
}

export interface MirrorRules {
  /** The condition that is made. */
  type: string;
  /** The condition of the object. */
  of: string;
  /** Whether the object is good where it has no such condition. */
  isGood: boolean;
  /** What is shown of one that is not good, and has no such condition. */
  message: string;
  /** Of one that was there before. */
  wasThere: boolean;
  /** Reasons where the object says none: when it is good, when it is not. */
  reasons?: { good: string; bad: string };
}

/** The condition of the core's object that repeats one of a provider's object. Pure. */
export function mirrored({ object, because, reference }: Seen, rules: MirrorRules): ConditionUpdate {
  const { type, wasThere } = rules;
  if (object === undefined)
    return wasThere
      ? { type, status: "False", reason: "ObjectDeleted", message: `${reference.kind} has been deleted` }
      : { type, status: "False", reason: "ObjectDoesNotExist", message: because };
  const { good, bad } = rules.reasons ?? { good: "Ready", bad: "NotReady" };
  const condition = conditionOf(conditionsOf(object), rules.of);
  if (condition === undefined)
    return rules.isGood
      ? { type, status: "True", reason: good, message: "" }
      : { type, status: "False", reason: bad, message: rules.message };
  const { status, reason, message = "" } = condition as Condition;
  return { type, status, reason: reason || (status === "True" ? good : bad), message };
}

/** The same as v1beta1 has it: the object's Ready there, else whether it is good. Pure. */
export function mirroredOld(
  { object, because }: Seen,
  rules: Pick<MirrorRules, "isGood" | "message"> & { type: string; reason: string },
): OldUpdate {
  const { type, reason } = rules;
  const said = object && oldCondition(object, "Ready");
  if (said === undefined)
    return rules.isGood
      ? { type, status: "True" }
      : { type, status: "False", severity: "Info", reason, message: object === undefined ? because : rules.message };
  if (said.status === "True") return { type, status: "True" };
  const text = { reason: said.reason || reason, ...(said.message && { message: said.message }) };
  if (said.status === "Unknown") return { type, status: "Unknown", ...text };
  return { type, status: "False", severity: (said.severity as Severity | undefined) ?? "Info", ...text };
}

function oldCondition(object: KubeObject, type: string): OldCondition | undefined {
  const list = (at(object, "status.deprecated.v1beta1.conditions") ?? at(object, "status.conditions")) as
    | OldCondition[]
    | undefined;
  return list?.find((condition) => condition.type === type);
}
