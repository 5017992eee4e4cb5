import { type Random, uuid } from "@slipway/base";
import { isRecord } from "../json/value.ts";
import type { Body, Convert } from "../model/served.ts";
import { CallFailed } from "../webhook/answer.ts";
import { type Callers, callWebhook } from "../webhook/call.ts";
import { REVIEWS } from "../webhook/review-version-rules.ts";
import type { ClientConfig } from "../webhook/target.ts";
import { conversionFault, gvk } from "./conversion.ts";

/** `spec.conversion.webhook` of a CustomResourceDefinition. */
export interface ConversionWebhook {
  clientConfig: ClientConfig;
  conversionReviewVersions: readonly string[];
}

const TIMEOUT_SECONDS = 30;

/** So many objects go into one ConversionReview. */
const BATCH = 200;

/** A converter that asks the definition's webhook, many objects in one ConversionReview. */
export function byWebhook(callers: Callers & { random: Random }, webhook: ConversionWebhook): Convert {
  return async (objects, apiVersion) => {
    const converted: unknown[] = [];
    for (let at = 0; at < objects.length; at += BATCH)
      converted.push(...(await ask(callers, webhook, objects.slice(at, at + BATCH), apiVersion)));
    return converted;
  };
}

async function ask(
  callers: Callers & { random: Random },
  { clientConfig, conversionReviewVersions }: ConversionWebhook,
  objects: readonly Body[],
  desiredAPIVersion: string,
): Promise<unknown[]> {
  const version = conversionReviewVersions.find((v) => REVIEWS.includes(v));
  if (version === undefined) throw conversionFault("no supported conversion review versions");
  const by = `conversion webhook for ${gvk(objects[0]!)}`;
  const request = { uid: uuid(callers.random), desiredAPIVersion, objects };
  const response = { uid: "", convertedObjects: null, result: { metadata: {} } };
  const review = { kind: "ConversionReview", apiVersion: `apiextensions.k8s.io/${version}`, request, response };
  let answer: Record<string, unknown>;
  try {
    answer = await callWebhook(callers, { clientConfig, timeoutSeconds: TIMEOUT_SECONDS }, review, undefined);
  } catch (error) {
    throw error instanceof CallFailed ? conversionFault(`${by} failed: ${error.message}`, error) : error;
  }
  const converted = convertedIn(answer, request.uid, version === "v1");
  if (typeof converted === "string") throw conversionFault(`${by} failed: ${converted}`);
  if (converted.length !== objects.length)
    throw conversionFault(`${by} returned ${converted.length} objects, expected ${objects.length}`);
  return converted;
}

/** The objects in an answer, or what is wrong with it. */
function convertedIn(answer: Record<string, unknown>, uid: string, strict: boolean): unknown[] | string {
  const { response, apiVersion, kind } = answer;
  if (strict && (apiVersion !== "apiextensions.k8s.io/v1" || kind !== "ConversionReview"))
    return `expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ${String(apiVersion || "/")}, Kind=${String(kind ?? "")}`;
  if (!isRecord(response)) return "no response provided";
  if (strict && response.uid !== uid)
    return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`;
  const result = isRecord(response.result) ? response.result : {};
  if (result.status !== "Success") return failureIn(result);
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}
function failureIn({ status, message }: Record<string, unknown>): string {
  const said = String(message ?? "");
  return said === "" ? `response.result.status was '${String(status ?? "")}', not 'Success'` : said;
}
