import assert from "node:assert/strict";
import { test } from "node:test";
import { verdictOf } from "./review.ts";

const sent = { apiVersion: "admission.k8s.io/v1", request: { uid: "u1" } };
const answer = (response: object, more: object = {}) => ({
  ...{
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: "u1", allowed: true, ...response },
  },
  ...more,
});
const PATCH = Buffer.from("[]").toString("base64");

test("an answer of v1 must be whole: each thing that is wrong with it is named", () => {
  const cases: (readonly [answer: Record<string, unknown>, mutating: boolean, says: RegExp])[] = [
    [{}, true, /^webhook response was absent$/],
    [answer({ uid: "other" }), true, /^expected response.uid="u1", got "other"$/],
    [answer({ uid: undefined }), true, /^expected response.uid="u1", got ""$/],
    [answer({ uid: null }), true, /^expected response.uid="u1", got ""$/],
    [
      answer({}, { apiVersion: "admission.k8s.io/v1beta1" }),
      true,
      /got admission.k8s.io\/v1beta1, Kind=AdmissionReview$/,
    ],
    [answer({}, { kind: "Review" }), true, /Kind=Review$/],
    [answer({ patch: PATCH }), true, /^webhook returned response.patch but not response.patchType$/],
    [answer({ patchType: "JSONPatch" }), true, /^webhook returned response.patchType but not response.patch$/],
    [answer({ patch: PATCH, patchType: "" }), true, /^webhook returned invalid response.patchType of ""$/],
    [answer({ patch: PATCH, patchType: "JSONPatch" }), false, /^validating webhook may not return response.patch$/],
    [answer({ patchType: "JSONPatch" }), false, /^validating webhook may not return response.patchType$/],
  ];
  for (const [given, mutating, says] of cases) {
    const found = verdictOf(sent, given, mutating);
    assert.ok(typeof found === "string", JSON.stringify(given));
    assert.match(found, says);
  }
});

test("a whole answer is a verdict with its patch, and with those warnings that are texts", () => {
  const found = verdictOf(sent, answer({ patch: PATCH, patchType: "JSONPatch", warnings: ["one", 2] }), true);
  assert.deepEqual(found, { allowed: true, patch: "[]", patchType: "JSONPatch", status: {}, warnings: ["one"] });
  const refused = verdictOf(sent, answer({ allowed: "yes", status: { code: 418 } }), false);
  assert.deepEqual(refused, {
    allowed: false,
    patch: undefined,
    patchType: "undefined",
    status: { code: 418 },
    warnings: [],
  });
});

test("of v1beta1 less is asked: a patch needs no type, and no uid", () => {
  const beta = { ...sent, apiVersion: "admission.k8s.io/v1beta1" };
  const found = verdictOf(beta, { response: { allowed: true, patch: PATCH } }, true);
  assert.deepEqual(found, { allowed: true, patch: "[]", patchType: "JSONPatch", status: {}, warnings: [] });
});
