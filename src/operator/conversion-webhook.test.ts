import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiServerOptions, Body } from "@slipway/apiserver";
import { DEFINITIONS, world } from "@slipway/apiserver/testing";
import { convertersByDefinition } from "../kinds/conversion.ts";
import { crdOf, type WebhookClientConfig } from "../kinds/crd.ts";
import { aBoat as a, boat, renaming } from "../kinds/testing.ts";
import { conversionWebhook, MAX_REVIEW_BYTES } from "./conversion-webhook.ts";

const sunk = () => new Error("what lies in the object: sunk");
const BOATS = [boat("v1", "name"), boat("v1beta1", "title", { conversion: renaming("title", sunk) })];
const handler = conversionWebhook([BOATS]);

const send = async (body: string, more: { method?: "GET"; path?: string } = {}) => {
  const url = `https://slipway${more.path ?? "/convert"}`;
  const answer = await handler({ method: more.method ?? "POST", url, body, remote: "127.0.0.1" });
  return { ...answer, review: answer.body.startsWith("{") ? JSON.parse(answer.body) : undefined };
};
const review = (desiredAPIVersion: string, ...objects: object[]): string =>
  JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    request: { uid: "u", desiredAPIVersion, objects },
  });

test("a review's objects come back in the version that is asked for, in their order", async () => {
  const { status, review: shown } = await send(
    review("sea.example.org/v1", a("v1beta1", { title: "Argo" }), a("v1", { name: "b" })),
  );
  assert.equal(status, 200);
  assert.deepEqual(shown, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: {
      uid: "u",
      result: { status: "Success" },
      convertedObjects: [a("v1", { name: "Argo" }), a("v1", { name: "b" })],
    },
  });
});

test("one object that can't be converted fails the review, in words that quote no object", async () => {
  const bad = await send(review("sea.example.org/v1", a("v1beta1", { title: "x" }), a("v1beta1", { title: "sunk" })));
  assert.deepEqual(bad.review.response, {
    uid: "u",
    result: { status: "Failure", message: "the conversion met a defect of its own" },
    convertedObjects: [],
  });
  const unknown = await send(review("sea.example.org/v9", a("v1", {})));
  assert.equal(unknown.review.response.result.message, "Boat: there is no version sea.example.org/v9");
});

test("what is no review of a fitting size is refused", async () => {
  assert.equal((await send("{")).status, 400);
  assert.equal((await send('{"kind":"ConversionReview"}')).status, 400);
  assert.equal((await send(review("v", { kind: 1 }))).status, 400);
  const whole = { uid: "u", desiredAPIVersion: "sea.example.org/v1", objects: [] };
  for (const field of Object.keys(whole)) {
    const request = { ...whole, [field]: undefined };
    const body = JSON.stringify({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", request });
    assert.equal((await send(body)).status, 400, field);
  }
  assert.equal((await send(" ".repeat(MAX_REVIEW_BYTES + 1))).status, 413);
  assert.equal((await send("", { method: "GET" })).status, 405);
  assert.equal((await send("", { path: "/" })).status, 404);
});

const ways: [way: string, webhook: WebhookClientConfig | undefined, options: Partial<ApiServerOptions>][] = [
  ["in process", undefined, { conversions: convertersByDefinition([BOATS]) }],
  [
    "by webhook",
    { url: "https://slipway/convert" },
    {
      webhooks: {
        post: ({ url, body }) => handler({ method: "POST", url, body, remote: "" }),
        close: async () => {},
      },
    },
  ],
];
for (const [way, webhook, options] of ways)
  test(`an API server that converts our kinds ${way} shows each in all versions`, async () => {
    const w = await world(options);
    const path = (version: string) => `/apis/sea.example.org/${version}/namespaces/default/boats`;
    await w.ask("POST", DEFINITIONS, crdOf(BOATS, webhook));
    await w.ask("POST", path("v1beta1"), a("v1beta1", { title: "Argo" }));
    assert.deepEqual((await w.ask("GET", `${path("v1")}/a`)).spec, { name: "Argo" });
    const { items } = await w.ask("GET", path("v1beta1"));
    assert.deepEqual((items as Body[])[0]?.spec, { title: "Argo" });
    await w.close();
  });
