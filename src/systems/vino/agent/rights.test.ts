import assert from "node:assert/strict";
import { test } from "node:test";
import { agentClusterRights, agentRights } from "./rights.ts";

const ACCOUNT = { namespace: "slipway-system", name: "slipway-node-agent" };
const SUBJECTS = [{ kind: "ServiceAccount", ...ACCOUNT }];
const OWNER = { apiVersion: "v1", kind: "VinoNode", name: "a", uid: "u" };

test("VINO-6 agents read VinoNodes and write their statuses in the whole cluster, and no more", () => {
  const [role, binding] = agentClusterRights(ACCOUNT).map(({ body }) => body as unknown as Record<string, unknown>);
  const group = { apiGroups: ["slipway.dev"] };
  assert.deepEqual(role!.rules, [
    { ...group, resources: ["vinonodes"], verbs: ["get", "list", "watch"] },
    { ...group, resources: ["vinonodes/status"], verbs: ["patch", "update"] },
  ]);
  assert.deepEqual([binding!.subjects, (binding!.roleRef as { name: string }).name], [SUBJECTS, ACCOUNT.name]);
});

test("VINO-6 of Secrets an agent reads those that its VinoNode names, and none where it names none", () => {
  const of = (secrets: string[]) =>
    agentRights(ACCOUNT, { namespace: "vino", name: "a", owner: OWNER, secrets }).map(
      ({ body }) => body as unknown as Record<string, unknown>,
    );
  const [role, binding] = of(["bmc", "screen"]);
  assert.deepEqual(role, {
    ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" },
    metadata: { namespace: "vino", name: "a", ownerReferences: [OWNER] },
    rules: [{ apiGroups: [""], resources: ["secrets"], resourceNames: ["bmc", "screen"], verbs: ["get"] }],
  });
  assert.deepEqual(
    [binding!.subjects, binding!.roleRef],
    [SUBJECTS, { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "a" }],
  );
  assert.deepEqual(of([])[0]!.rules, []);
});
