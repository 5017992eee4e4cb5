import { Fault, uuid } from "@slipway/base";
import type { AdmissionReview } from "../core/admission.ts";
import type { Core } from "../core/call.ts";
import { letOthersGo } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import { badRequest, refusal } from "../model/status.ts";
import { CallFailed } from "../webhook/answer.ts";
import { callWebhook } from "../webhook/call.ts";
import type { WebhookHttp } from "../webhook/http.ts";
import type { Invocation } from "./invocation.ts";
import { reviewFor, type Verdict, verdictOf } from "./review.ts";

/** What webhook calls need of the server. */
export type Calling = Core & { http: WebhookHttp };

/**
 * Asks one webhook. Gives its verdict when it allows the write, and undefined when it could not be asked and its failures are ignored.
 * Throws the refusal otherwise.
 */
export async function ask(
  calling: Calling,
  review: AdmissionReview,
  invocation: Invocation,
  mutating: boolean,
): Promise<Verdict | undefined> {
  const { hook } = invocation;
  if (review.dryRun && hook.sideEffects !== "None" && hook.sideEffects !== "NoneOnDryRun")
    throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`);
  const verdict = await verdictFrom(calling, review, invocation, mutating);
  if (typeof verdict === "string") {
    if (hook.failurePolicy === "Fail") throw failedCall(invocation, verdict);
    calling.log.warn({ webhook: hook.name, why: verdict }, "a webhook could not be asked, which its policy ignores");
    return undefined;
  }
  review.warnings.push(...verdict.warnings);
  if (!verdict.allowed) throw denied(hook.name, verdict.status);
  return verdict;
}

/** The webhook's verdict, or why there is none. */
async function verdictFrom(
  calling: Calling,
  review: AdmissionReview,
  invocation: Invocation,
  mutating: boolean,
): Promise<Verdict | string> {
  const { hook } = invocation;
  const sent = reviewFor(review, invocation, uuid(calling.random));
  if (sent === undefined)
    return "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)";
  try {
    const answer = await callWebhook(calling, hook, sent, review.signal);
    await letOthersGo(review.sized);
    const verdict = verdictOf(sent, answer, mutating);
    return typeof verdict === "string" ? `received invalid webhook response: ${verdict}` : verdict;
  } catch (error) {
    if (error instanceof CallFailed) return `failed to call webhook: ${error.message}`;
    throw error;
  }
}

/** The refusal where a webhook that must be asked could not be. */
export function failedCall({ hook }: Invocation, why: string): Fault {
  return internalError(`failed calling webhook ${JSON.stringify(hook.name)}: ${why}`);
}

/** 500 in the words of upstream. */
export function internalError(why: string): Fault {
  return refusal("Internal", `Internal error occurred: ${why}`, { causes: [{ message: why }] });
}

/** The refusal that a webhook decided on, with the code, reason and details that it gave. */
function denied(name: string, given: Verdict["status"]): Fault {
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = text(given.message) || text(given.reason);
  const message = why === "" ? `${by} without explanation` : `${by}: ${why}`;
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: isRecord(given.metadata) ? given.metadata : {},
    status: ["", "Success"].includes(text(given.status)) ? "Failure" : text(given.status),
    message,
    ...(text(given.reason) !== "" && { reason: text(given.reason) }),
    ...(isRecord(given.details) && { details: given.details }),
    code: typeof given.code === "number" && given.code >= 400 ? given.code : 400,
  };
  return new Fault("Refused", "request", message, { details: status });
}
