import assert from "node:assert/strict";
import { test } from "node:test";
import { writeBlock } from "./write-permissions.ts";

const kinds = (list: readonly { kind: string }[]): string[] => list.map(({ kind }) => kind);
const ALL = { blockCreation: true, blockUpdate: true, blockDeletion: true };

test("writes are blocked by a policy where there are policies, else by a webhook, and not at all where neither can except its operator", () => {
  assert.deepEqual(kinds(writeBlock(ALL, "v1.36.3", true).wanted), [
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
  ]);
  assert.deepEqual(kinds(writeBlock(ALL, "v1.36.3", false).wanted), ["ValidatingWebhookConfiguration"]);
  assert.deepEqual(kinds(writeBlock(ALL, "v1.29.9", true).wanted), ["ValidatingWebhookConfiguration"]);
  const none = writeBlock(ALL, "v1.27.16", true);
  assert.deepEqual([none.wanted, none.unwanted], [[], []]);
  assert.match(none.problem!, /v1.28/);
});

test("what was put there is taken away: when writes are free again, and when an upgrade brings policies", () => {
  assert.deepEqual(kinds(writeBlock({}, "v1.36.3", true).unwanted).length, 2);
  assert.deepEqual(kinds(writeBlock({ blockUpdate: false }, "v1.36.3", false).unwanted), [
    "ValidatingWebhookConfiguration",
  ]);
  assert.deepEqual(kinds(writeBlock(ALL, "v1.30.0", true).unwanted), ["ValidatingWebhookConfiguration"]);
  assert.equal(writeBlock({}, "v1.27.16", true).problem, undefined);
});

test("each permission blocks its own operation, of objects and not of their status", () => {
  const operations = (permissions: object): unknown => {
    const [webhook] = writeBlock(permissions, "v1.36.3", false).wanted as unknown as {
      webhooks: { rules: { operations: string[]; resources: string[] }[] }[];
    }[];
    const [rule] = webhook!.webhooks[0]!.rules;
    assert.deepEqual(rule!.resources, ["*"]);
    return rule!.operations;
  };
  assert.deepEqual(operations({ blockCreation: true }), ["CREATE"]);
  assert.deepEqual(operations({ blockUpdate: true }), ["UPDATE"]);
  assert.deepEqual(operations({ blockDeletion: true }), ["DELETE"]);
});
