import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomResourceDefinition, Node } from "@slipway/kube/core";
import { MACHINES } from "./capi-machine.ts";
import { leftOvers } from "./left-overs.ts";
import { SiteRig } from "./rig.ts";

test("what a simulated site left is named with the commands that remove it, and what others own never is", async () => {
  const rig = await SiteRig.create();
  try {
    await rig.join(1, {});
    await rig.whileTimePasses(rig.client.create(Node, { metadata: { name: "real" } }));
    const left = [
      "kubectl delete node node-1",
      "kubectl delete customresourcedefinition machines.cluster.x-k8s.io",
      "kubectl delete configmap vip -n harvester-system",
      "kubectl delete service ingress-expose -n kube-system",
    ];
    assert.deepEqual(await leftOvers(rig.client), left);

    const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } };
    const versions = [{ name: "v1beta1", served: true, storage: true, schema }];
    await rig.client.patch(
      CustomResourceDefinition,
      { name: MACHINES },
      { type: "merge", body: { spec: { versions } } },
    );
    assert.deepEqual(await leftOvers(rig.client), left.toSpliced(1, 1), "Cluster API's own definition");
  } finally {
    await rig.close();
  }
});

test("where no site was simulated, nothing is left of one", async () => {
  const rig = await SiteRig.create();
  try {
    await rig.whileTimePasses(rig.client.delete(CustomResourceDefinition, { name: MACHINES }));
    assert.deepEqual(await leftOvers(rig.client), []);
  } finally {
    await rig.close();
  }
});
