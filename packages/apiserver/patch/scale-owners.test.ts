import assert from "node:assert/strict";
import { test } from "node:test";
import { ownersAfterScale, type Scaled, scaleOwners } from "./scale-owners.ts";

const entry = (manager: string, apiVersion: string, fields: object, more = {}) => ({
  manager,
  operation: "Apply",
  apiVersion,
  fieldsType: "FieldsV1",
  fieldsV1: { "f:spec": fields },
  ...more,
});
const time = "2026-01-01T00:00:00Z";
const scaled: Scaled = {
  managedFields: [
    entry("chart", "apps/v1", { "f:replicas": {}, "f:paused": {} }, { time }),
    entry("other", "apps/v1", { "f:paused": {} }, { time }),
    entry("old", "apps/v0", { "f:replicas": {} }, { time }),
  ],
  path: ".spec.replicas",
  apiVersion: "apps/v1",
  versions: ["apps/v1"],
};

test("a Scale shows who owns the replicas, as its own fields", () => {
  assert.deepEqual(scaleOwners(scaled), [entry("chart", "autoscaling/v1", { "f:replicas": {} }, { time })]);
});

test("who comes to own the replicas through the Scale takes them from the object's owners and leaves these the rest", () => {
  const scaler = entry("scaler", "autoscaling/v1", { "f:replicas": {} }, { time, subresource: "scale" });
  assert.deepEqual(ownersAfterScale(scaled, [scaler]), [
    entry("scaler", "apps/v1", { "f:replicas": {} }, { subresource: "scale" }),
    entry("chart", "apps/v1", { "f:paused": {} }, { time }),
    entry("other", "apps/v1", { "f:paused": {} }, { time }),
  ]);
});

test("who owns the replicas in the Scale still keeps them with the time that they were taken at", () => {
  const [chart, other] = scaled.managedFields as object[];
  assert.deepEqual(ownersAfterScale(scaled, scaleOwners(scaled)), [chart, other]);
});
