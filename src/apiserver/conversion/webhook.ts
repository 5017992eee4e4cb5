import type { Random } from "../../base/random.ts";
import { uuid } from "../../base/random.ts";
import { isRecord } from "../json-value.ts";
import { type Callers, CallFailed, callWebhook } from "../webhook/call.ts";
import { REVIEWS } from "../webhook/review-version-rules.ts";
import type { ClientConfig } from "../webhook/target.ts";
import { type Convert, conversionFault, gvk } from "./conversion.ts";

/** `spec.conversion.webhook` of a CustomResourceDefinition. */
export interface ConversionWebhook {
  clientConfig: ClientConfig;
  conversionReviewVersions: readonly string[];
}

const TIMEOUT_SECONDS = 30;

/** A converter that asks the definition's webhook, all objects in one ConversionReview. */
export function byWebhook(callers: Callers & { random: Random }, webhook: ConversionWebhook): Convert {
  const version = webhook.conversionReviewVersions.find((v) => REVIEWS.includes(v));
  return async (objects, desiredAPIVersion) => {
    if (version === undefined) throw conversionFault("no supported conversion review versions");
    const uid = uuid(callers.random);
    const apiVersion = `apiextensions.k8s.io/${version}`;
    const request = { uid, desiredAPIVersion, objects };
    const empty = { uid: "", convertedObjects: null, result: { metadata: {} } };
    const review = { kind: "ConversionReview", apiVersion, request, response: empty };
    const failed = (why: string, cause?: unknown) =>
      conversionFault(`conversion webhook for ${gvk(objects[0]!)} failed: ${why}`, cause);
    let answer: Record<string, unknown>;
    try {
      answer = await callWebhook(callers, webhook.clientConfig, review, TIMEOUT_SECONDS, undefined);
    } catch (error) {
      throw error instanceof CallFailed ? failed(error.message, error) : error;
    }
    const converted = convertedIn(answer, uid, version === "v1");
    if (typeof converted === "string") throw failed(converted);
    return converted as never;
  };
}

/** The objects in an answer, or what is wrong with it. */
function convertedIn(answer: Record<string, unknown>, uid: string, strict: boolean): unknown[] | string {
  const { response } = answer;
  if (strict && (answer.apiVersion !== "apiextensions.k8s.io/v1" || answer.kind !== "ConversionReview"))
    return `expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ${String(answer.apiVersion || "/")}, Kind=${String(answer.kind ?? "")}`;
  if (!isRecord(response)) return "no response provided";
  if (strict && response.uid !== uid)
    return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`;
  const result = isRecord(response.result) ? response.result : {};
  if (result.status !== "Success") {
    const message = String(result.message ?? "");
    return message === "" ? `response.result.status was '${String(result.status ?? "")}', not 'Success'` : message;
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}
