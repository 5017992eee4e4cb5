/** The admission of a write: the server's own steps and the webhooks. */
import { letOthersGo } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Body } from "../model/served.ts";
import type { AdmissionReview, GroupVersionKind } from "./admission.ts";
import { type Call, isDryRun } from "./call.ts";

/** What admission is asked to let pass. */
export interface AskedWrite {
  operation: AdmissionReview["operation"];
  /** Undefined for DELETE. */
  object?: Body | undefined;
  /** What is stored now; undefined for CREATE. */
  old?: Body | undefined;
  /** The object's, where it is not that of the call's resource. */
  kind?: GroupVersionKind | undefined;
}

/**
 * Lets admission change or refuse a write: the server's own steps, then the mutating webhooks; both once more when a webhook changed the
 * object. Returns whether a webhook did.
 */
export async function admit(call: Call, write: AskedWrite): Promise<boolean> {
  const { core } = call;
  // The server's own steps know whole objects only.
  const steps = write.kind === undefined ? core.admission : [];
  if (steps.length === 0 && core.webhooks?.isIdle !== false) return false;
  const review = reviewOf(call, write);
  const mutation = core.webhooks?.mutation(review);
  for (const step of steps) await step(review);
  await letOthersGo(call);
  if (mutation === undefined || !(await mutation.run())) return false;
  for (const step of steps) await step(review);
  await letOthersGo(call);
  await mutation.runAgain();
  return true;
}

/** Lets the validating webhooks refuse a write that has passed the server's own rules. */
export async function approve(call: Call, write: AskedWrite): Promise<void> {
  const { webhooks } = call.core;
  if (webhooks?.isIdle === false) await webhooks.approve(reviewOf(call, write));
}

function reviewOf(call: Call, { operation, object, old, kind }: AskedWrite): AdmissionReview {
  const { resource, subresource, user, warnings, signal } = call;
  const name = object?.metadata.name || (call.ofCollection === true ? "" : call.name);
  const isNamespace = resource.holdsOthers === true;
  return {
    operation,
    resource,
    kind: kind ?? { group: resource.group, version: resource.version, kind: resource.kind },
    subresource,
    namespace: isNamespace ? name : call.namespace,
    name,
    object,
    old,
    user,
    dryRun: isDryRun(call),
    options: {
      ...optionsOf(call, operation),
      // A Namespace is deleted only as the one that was found.
      ...(isNamespace && operation === "DELETE" && { preconditions: { uid: old?.metadata.uid } }),
    },
    warnings,
    signal,
    sized: call,
  };
}

const OPTIONS = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" };

/** A patch's options are passed on as those of the create or update that it amounts to. */
function optionsOf(call: Call, operation: AdmissionReview["operation"]): Record<string, unknown> {
  const kind = { kind: OPTIONS[operation], apiVersion: "meta.k8s.io/v1" };
  const body = operation === "DELETE" && isRecord(call.body) ? call.body : {};
  const text = (name: string) => {
    const value = call.query.get(name) ?? "";
    return value === "" ? {} : { [name]: value };
  };
  const dryRun = isDryRun(call) ? { dryRun: ["All"] } : {};
  if (operation === "DELETE") return { ...body, ...kind, ...text("propagationPolicy"), ...dryRun };
  return { ...kind, ...dryRun, ...text("fieldManager"), ...text("fieldValidation") };
}
