/**
 * The conversion webhook of our kinds: what an embedded API server does in process, a real one asks here, with `POST /convert` and
 * ConversionReview v1. A function from request to answer; its host serves TLS with the certificate that the definitions trust.
 */
import { type HttpAnswer, type HttpHandler, isFault, json, plain } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { converterOfAll } from "../kinds/conversion.ts";
import type { Kind } from "../kinds/kind.ts";

export const CONVERT_PATH = "/convert";
/** A review holds a page of a list at most; larger ones are refused unread. */
export const MAX_REVIEW_BYTES = 16 * 1024 * 1024;

const REVIEW = { kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1" };

/** `kinds`: each with all its versions. All objects of a review are converted, or none: the failure is in the review's result. */
export function conversionWebhook(kinds: readonly (readonly Kind[])[]): HttpHandler {
  const convert = converterOfAll(kinds);
  return async ({ method, url, body = "" }): Promise<HttpAnswer> => {
    if (new URL(url).pathname !== CONVERT_PATH) return plain(404, "not found\n");
    if (method !== "POST") return plain(405, "method not allowed\n", { allow: "POST" });
    if (Buffer.byteLength(body) > MAX_REVIEW_BYTES)
      return plain(413, `body larger than ${MAX_REVIEW_BYTES} bytes\n`, { connection: "close" });
    const request = requestIn(body);
    if (request === undefined) return plain(400, "no ConversionReview of apiextensions.k8s.io/v1 with a request\n");
    const { uid, desiredAPIVersion, objects } = request;
    try {
      const convertedObjects = objects.map((object) => convert(object, desiredAPIVersion));
      return json(200, { ...REVIEW, response: { uid, result: { status: "Success" }, convertedObjects } });
    } catch (error) {
      // Only our own words: others may quote the object.
      const message = isFault(error) ? error.message : "the conversion met a defect of its own";
      return json(200, { ...REVIEW, response: { uid, result: { status: "Failure", message }, convertedObjects: [] } });
    }
  };
}

interface ConversionRequest {
  uid: string;
  desiredAPIVersion: string;
  objects: KubeObject[];
}

function requestIn(body: string): ConversionRequest | undefined {
  let review: { apiVersion?: unknown; kind?: unknown; request?: Partial<ConversionRequest> } | null;
  try {
    review = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (review?.apiVersion !== REVIEW.apiVersion || review.kind !== REVIEW.kind) return undefined;
  const { uid, desiredAPIVersion, objects } = review.request ?? {};
  if (typeof uid !== "string" || typeof desiredAPIVersion !== "string" || !Array.isArray(objects)) return undefined;
  return objects.every(isObject) ? { uid, desiredAPIVersion, objects } : undefined;
}

function isObject(value: unknown): value is KubeObject {
  const { apiVersion, kind } = (value ?? {}) as Partial<KubeObject>;
  return typeof apiVersion === "string" && typeof kind === "string";
}
