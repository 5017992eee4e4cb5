import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { written } from "../testing.ts";
import { type Action, quoted } from "./action.ts";
import { actionsOf, scaleOf, scaleTo } from "./actions.ts";

const HARVESTER = "equinix.harvesterhci.io/v1";
const host = (spec: object = {}, metadata: object = {}) =>
  written("BareMetalHost", "node-1", {
    metadata,
    spec: { online: true, bmc: { address: "redfish://x", credentialsName: "s" }, ...spec },
    status: { provisioning: { state: "available" }, agent: { keyFingerprint: "3f2a-90b1" } },
  });
const find = (object: ReturnType<typeof written>, id: Action["id"]): Action | undefined =>
  actionsOf(object).find((action) => action.id === id);

test("what destroys names what is lost; what does not, names nothing", () => {
  const destroying = actionsOf(host()).filter(({ destroys }) => destroys.length > 0);
  assert.deepEqual(
    destroying.map(({ id }) => id),
    ["power-off", "reset", "wipe", "give-back"],
  );
  assert.match(find(host(), "wipe")!.destroys[0]!, /all data on the disks of node-1/);
  const used = host({ consumerRef: { kind: "Instance", name: "a" } });
  assert.match(find(used, "give-back")!.destroys[1]!, /Instance a, which may claim another/);
});

test("actions are refused in the words of the command's own orders", () => {
  assert.equal(find(host(), "wipe")!.refused, undefined);
  assert.match(find(host({ consumerRef: { kind: "Instance", name: "a" } }), "wipe")!.refused!, /in use: by Instance a/);
  assert.match(find(host({ bmc: undefined }), "power-on")!.refused!, /it has no BMC/);
});

test("approval is for the key that the agent has, and can be withdrawn", () => {
  assert.match(
    find(host(), "approve")!.kubectl,
    /annotate baremetalhosts\.metal3\.io\/node-1 slipway\.dev\/approved=3f2a-90b1 --overwrite$/,
  );
  const approved = host({}, { annotations: { "slipway.dev/approved": "true" } });
  assert.equal(find(approved, "approve"), undefined);
  assert.match(find(approved, "withdraw")!.kubectl, /slipway\.dev\/approved- --overwrite$/);
});

test("a machine of a pool is replaced, one of nobody deleted; a protected one is neither", () => {
  const instance = (metadata: object) =>
    written("Instance", "a", { apiVersion: HARVESTER, metadata: { namespace: undefined, ...metadata } });
  const owned = find(instance({ ownerReferences: [{ uid: "p" }] }), "replace")!;
  assert.deepEqual([owned.call.method, owned.call.path], ["DELETE", "/apis/equinix.harvesterhci.io/v1/instances/a"]);
  assert.deepEqual(owned.call.body, { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid: "Instance-a" } });
  assert.equal(find(instance({}), "delete")!.kubectl, "kubectl delete instances.equinix.harvesterhci.io/a");
  const held = find(instance({ annotations: { "slipway.dev/protect": "true" } }), "delete")!;
  assert.match(held.refused!, /protected/);
});

test("a pool is scaled to any whole number; down names its members", () => {
  const pool = written("InstancePool", "p", {
    apiVersion: HARVESTER,
    metadata: { namespace: undefined },
    spec: { count: 3 },
  });
  assert.deepEqual(scaleOf(pool), { wanted: 3 });
  assert.deepEqual(scaleTo(pool, 4)!.destroys, []);
  assert.match(
    scaleTo(pool, 1, [written("Instance", "p-1")])!.destroys[0]!,
    /^2 of InstancePool p's 3 members.*chosen among p-1$/,
  );
  assert.equal(scaleTo(pool, 4)!.call.path, "/apis/equinix.harvesterhci.io/v1/instancepools/p/scale");
  assert.deepEqual(
    [scaleTo(pool, -1), scaleTo(pool, 1.5), scaleTo(pool, Number.NaN)],
    [undefined, undefined, undefined],
  );
  assert.equal(scaleOf(host()), undefined);
  const unsaid = written("MachineDeployment", "d", { apiVersion: "cluster.x-k8s.io/v1beta2" });
  assert.deepEqual(scaleOf(unsaid), { wanted: 0 });
  assert.match(scaleTo(unsaid, 2)!.about, /^Have 2 members in place of 0\.$/);
});

test("what an action asks the authorizer is about the same object as its request", () => {
  for (const action of actionsOf(host())) {
    const { verb, resource, namespace, name } = action.access;
    assert.equal(action.call.path, `/apis/metal3.io/v1alpha1/namespaces/${namespace}/${resource}/${name}`);
    assert.equal(verb, action.call.method.toLowerCase());
  }
});

test("a word of a shown command is one word for a shell, whatever is in it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary-ascii" }), (word) => {
      const text = quoted(word);
      const read = text.startsWith("'") ? text.slice(1, -1).replaceAll(`'\\''`, "'") : text;
      assert.equal(read, word);
      if (!text.startsWith("'")) assert.match(text, /^[\w@%+=:,./-]+$/);
    }),
  );
});
