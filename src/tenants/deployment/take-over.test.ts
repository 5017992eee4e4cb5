import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { Deployment } from "@slipway/kube/core";
import { refuseForeign, takenOver } from "./take-over.ts";

const wanted = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    ...{ name: "a", namespace: "team", labels: { "kamaji.clastix.io/name": "a" } },
    ownerReferences: [{ apiVersion: "v1", kind: "T", name: "a", uid: "uid-of-tenant" }],
  },
};
const live = (metadata: object) => ({ ...wanted, metadata: { ...wanted.metadata, ...metadata } }) as never;

test("B28 an object that is there is the tenant's by its owner or its labels, and foreign otherwise", () => {
  const refused = (metadata: object): boolean => {
    try {
      refuseForeign(Deployment, live(metadata), wanted);
      return false;
    } catch (error) {
      assert.ok(isFault(error, "AlreadyExists"));
      assert.match(
        error.advice,
        /Deployment\/a: it is there, and is not this tenant's; delete it, have the tenant take/,
      );
      return true;
    }
  };
  const foreign = { ownerReferences: undefined, labels: { app: "a" } };
  const project = { "kamaji.clastix.io/project": "kamaji" };
  assert.equal(refused({}), false);
  assert.equal(refused(foreign), true);
  assert.equal(refused({ ...foreign, ownerReferences: [{ uid: "another" }] }), true);
  assert.equal(refused({ ...foreign, labels: { ...project, "kamaji.clastix.io/name": "a" } }), false);
  assert.equal(refused({ ...foreign, labels: { ...project, "kamaji.clastix.io/name": "b" } }), true);
});

test("B51 fields of Kamaji's operator become our own, those of others stay theirs", () => {
  const entry = (manager: string, operation: string, fieldsV1: object, more: object = {}) =>
    ({ manager, operation, fieldsV1, apiVersion: "apps/v1", fieldsType: "FieldsV1", ...more }) as never;
  const kubectl = entry("kubectl-edit", "Update", { "f:spec": { "f:paused": {} } });
  const controller = entry("manager", "Update", { "f:status": {} }, { subresource: "status" });
  assert.equal(takenOver([], "slipway"), undefined);
  assert.equal(takenOver([kubectl, controller], "slipway"), undefined);
  assert.deepEqual(
    takenOver(
      [
        kubectl,
        entry("slipway", "Apply", { "f:spec": { "f:replicas": {} } }),
        entry("kamaji", "Update", { "f:spec": { "f:template": { "f:spec": {} } } }),
        entry("manager", "Update", { "f:spec": { "f:template": { "f:metadata": {} } } }),
        controller,
      ],
      "slipway",
    ),
    [
      entry("slipway", "Apply", {
        "f:spec": { "f:replicas": {}, "f:template": { "f:spec": {}, "f:metadata": {} } },
      }),
      kubectl,
      controller,
    ],
  );
});
