import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesLabels } from "@slipway/kube";
import type { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import { wishOf } from "./wish.ts";

const cluster = (spec: object): SIPCluster => ({ metadata: { name: "c" }, spec }) as unknown as SIPCluster;

test("what is wished for is in the order of the roles' names, active and standby together", () => {
  const nodes = {
    Worker: { labelSelector: { matchLabels: { a: "1" } }, topologyKey: "rack", count: { active: 2, standby: 1 } },
    ControlPlane: { topologyKey: "", count: { active: 3 } },
    Other: {},
    Spare: { count: { standby: 2 } },
  };
  const none = { selector: {}, topologyKey: undefined };
  assert.deepEqual(wishOf(cluster({ nodes, topologyKey: "zone" })), {
    topologyKey: "zone",
    roles: [
      { role: "ControlPlane", count: 3, ...none },
      { role: "Other", count: 0, ...none },
      { role: "Spare", count: 2, ...none },
      { role: "Worker", count: 3, selector: { matchLabels: { a: "1" } }, topologyKey: "rack" },
    ],
  });
  assert.deepEqual(wishOf(cluster({ topologyKey: "" })), { roles: [], topologyKey: undefined });
});

test("spellings of before March 2021 select and spread as those of today, which come first", () => {
  const [old, both] = wishOf(
    cluster({
      nodes: {
        A: { vmFlavor: "example.org/flavor = large", spreadTopology: "PerRack", count: { active: 1 } },
        B: {
          ...{ vmFlavor: "example.org/flavor=large", spreadTopology: "PerHost", topologyKey: "zone" },
          labelSelector: { matchLabels: { a: "1" } },
        },
      },
    }),
  ).roles;
  assert.deepEqual([old!.topologyKey, both!.topologyKey], ["sip.airshipit.org/rack", "zone"]);
  const large = { "example.org/flavor": "large" };
  for (const [{ selector }, labels, isTaken] of [
    [old!, large, true],
    [old!, { "example.org/flavor": "small" }, false],
    [old!, {}, false],
    [both!, large, false],
    [both!, { ...large, a: "1" }, true],
  ] as const)
    assert.equal(matchesLabels(selector, labels), isTaken, JSON.stringify({ selector, labels }));
});

test("who asks for nothing in either spelling takes any host, anywhere", () => {
  assert.partialDeepStrictEqual(wishOf(cluster({ nodes: { A: {} } })).roles[0], {
    selector: {},
    topologyKey: undefined,
  });
});
