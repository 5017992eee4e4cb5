import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFINITIONS, world } from "@slipway/apiserver/testing";
import { crdOf } from "../crd.ts";
import { nodeLabelValue, VinoNode } from "./vino-node.ts";

test("VINO-13 the label of a node fits whatever its name, and two nodes never share one", () => {
  const long = "a".repeat(250);

  assert.equal(nodeLabelValue("leviathan"), "leviathan");
  assert.equal(nodeLabelValue("a".repeat(63)), "a".repeat(63));
  assert.equal(nodeLabelValue(long).length, 63);
  assert.notEqual(nodeLabelValue(`${long}b`), nodeLabelValue(`${long}c`));
});

test("an API takes the definition of VinoNode, and refuses what no node could have", async () => {
  const { ask, refused, close } = await world();
  await ask("POST", DEFINITIONS, crdOf([VinoNode]));
  const path = `/apis/${VinoNode.group}/${VinoNode.version}/namespaces/default/${VinoNode.plural}`;
  const network = { name: "management", bridge: "vm-infra", mac: "02:00:00:00:00:00", addresses: ["10.0.0.2/24"] };
  const node = (name: string, part: object) => ({
    apiVersion: `${VinoNode.group}/${VinoNode.version}`,
    kind: VinoNode.kind,
    metadata: { name },
    spec: {
      nodeName: "leviathan",
      storagePool: { name: "vino-default", path: "/var/lib/libvirt/vino-pool" },
      networks: [{ ...network, ...part }],
      domains: [],
    },
  });

  await ask("POST", path, node("good", {}));
  for (const bad of [{ bridge: "a-name-of-16-chars" }, { bridge: "a b" }, { mac: "02:00" }])
    assert.equal((await refused("POST", path, node("bad", bad))).reason, "Invalid");
  await close();
});
