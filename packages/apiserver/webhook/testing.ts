import { type HttpAnswer, json } from "@slipway/base";
import type { WebhookHttp, WebhookPost } from "./http.ts";

type Json = Record<string, unknown>;

/** A review as a webhook reads and answers it. */
// biome-ignore lint/suspicious/noExplicitAny: what is in a review is the test's business
export type Review = any;

/** Webhooks as functions by the path of their URL, for tests: each gets the request and gives members of the response, an HTTP answer, or nothing for ever. */
export function webhookFunctions(
  functions: Record<string, (request: Review) => Json | HttpAnswer | Promise<Json | HttpAnswer>>,
): WebhookHttp & { posts: WebhookPost[] } {
  const posts: WebhookPost[] = [];
  return {
    posts,
    async post(post) {
      posts.push(post);
      const found = functions[new URL(post.url).pathname.slice(1)];
      if (found === undefined) throw Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
      const sent = JSON.parse(post.body) as Review;
      const given = await found(sent.request);
      if ("body" in given) return given as HttpAnswer;
      const { kind, apiVersion } = sent;
      return json(200, { kind, apiVersion, response: { uid: sent.request.uid, ...given } });
    },
    async close() {},
  };
}

/** A mutating webhook's answer with these operations. */
export function patched(...operations: object[]): Json {
  return {
    allowed: true,
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
  };
}
