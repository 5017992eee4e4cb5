import { convertBetween } from "../conversion/between.ts";
import type { AdmissionReview, Mutation } from "../core/admission.ts";
import { copyInTurns, sameInTurns } from "../json/passes.ts";
import { letOthersGo, noteSize, passesInTurns } from "../json/turns.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { type JsonPatchOperation, jsonPatch } from "../patch/json-patch.ts";
import { Undecodable } from "../wire/decode.ts";
import { ask, type Calling, failedCall, internalError } from "./call.ts";
import type { Hook } from "./configuration.ts";
import type { Invocation } from "./invocation.ts";
import { invocationOf } from "./matching.ts";
import { whyNot } from "./patch-failure.ts";
import { isWhole, type Verdict } from "./review.ts";

/** The mutating webhooks' part in one write. */
/** `hooks` is the list at the moment of the request. The review's object is changed in place. */
export function mutationOf(calling: Calling, hooks: readonly Hook[], review: AdmissionReview): Mutation {
  /** Called, reinvocable, and nothing has changed since. */
  const called = new Set<string>();
  const again = new Set<string>();
  let left: unknown;

  const changedNow = (): void => {
    for (const id of called) again.add(id);
    called.clear();
  };
  const round = async (wanted: (hook: Hook) => boolean): Promise<boolean> => {
    let changed = false;
    for (const hook of hooks) {
      const invocation = await invocationOf(calling, hook, review);
      if (invocation === undefined || !wanted(hook)) continue;
      const verdict = await ask(calling, review, invocation, true);
      if (verdict === undefined) continue;
      if (verdict.patch !== undefined && (await patch(calling, review, invocation, verdict))) {
        changed = true;
        changedNow();
      }
      if (hook.reinvocationPolicy === "IfNeeded") called.add(hook.id);
    }
    if (changed) {
      left = await copyInTurns(review.sized, review.object);
      await letOthersGo(review.sized);
    }
    return changed;
  };
  return {
    run: () => round(() => true),
    async runAgain() {
      if (!(await sameInTurns(review.sized, left, review.object))) changedNow();
      await round((hook) => again.has(hook.id));
    },
  };
}

/** Changes the review's object as a webhook's patch says. Tells whether that made a difference. */
async function patch(
  calling: Calling,
  review: AdmissionReview,
  invocation: Invocation,
  verdict: Verdict,
): Promise<boolean> {
  const { hook, as, object } = invocation;
  const operations = operationsIn(verdict.patch!);
  if (typeof operations === "string")
    throw failedCall(invocation, `received undecodable patch in webhook response: ${operations}`);
  if (operations.length === 0) return false;
  if (object === undefined || review.object === undefined)
    throw internalError(
      `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  if (verdict.patchType !== "JSONPatch")
    throw failedCall(invocation, `unsupported patch type ${JSON.stringify(verdict.patchType)}`);
  noteSize(review.sized, operations);
  await letOthersGo(review.sized);
  let patched: Body;
  try {
    const result = await passesInTurns(review.sized, jsonPatch(object, operations));
    await letOthersGo(review.sized);
    patched = (await copyInTurns(review.sized, result)) as Body;
  } catch {
    throw internalError(whyNot(object, operations));
  }
  await letOthersGo(review.sized);
  const changed = !(await sameInTurns(review.sized, object, patched));
  replace(review.object, isWhole(review) ? await decoded(calling, review, as, patched) : patched);
  return changed;
}

/** A patched object as one of its kind, in the version of the request. */
async function decoded(
  { registry }: Calling,
  { resource, sized }: AdmissionReview,
  as: ServedResource,
  patched: Body,
): Promise<Body> {
  await letOthersGo(sized);
  const schema = registry.compiled(as);
  try {
    // Of custom resources, only what is stored is pruned.
    if (as.builtIn) schema.prune(patched);
  } catch (error) {
    if (error instanceof Undecodable) throw internalError(error.message);
    throw error;
  }
  await letOthersGo(sized);
  await passesInTurns(sized, schema.fill(patched));
  await letOthersGo(sized);
  return as === resource ? patched : await convertBetween(patched, as, resource);
}

function operationsIn(text: string): JsonPatchOperation[] | string {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : "json: cannot unmarshal object into Go value of type jsonpatch.Patch";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Others hold the object itself, so it is filled anew. */
function replace(object: Body, by: Body): void {
  for (const field of Object.keys(object)) delete object[field];
  Object.assign(object, by);
}
