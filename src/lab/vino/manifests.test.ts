import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { labVinoOf } from "./manifests.ts";

type Loose = KubeObject & { spec: Record<string, unknown> };

const object = (apiVersion: string, kind: string, spec: object): Loose =>
  ({ apiVersion, kind, metadata: { name: "a" }, spec }) as never;

const AIRSHIP = "airship.airshipit.org/v1";

function manifests(): [vino: Loose, cluster: Loose, plane: Loose] {
  return [
    object(AIRSHIP, "Vino", {
      nodeSelector: { matchLabels: { vino: "true" } },
      nodes: [{ name: "worker", count: 2, memoryMiB: 1000 }, { name: "other", count: 1 }, { name: "none" }],
    }),
    object(AIRSHIP, "SIPCluster", {
      nodes: { Worker: { count: { active: 1, standby: 1 } }, ControlPlane: { count: { active: 1 } }, Rest: {} },
      services: { loadBalancerControlPlane: [{ nodePort: 1 }], auth: [{ nodePort: 2 }] },
    }),
    object("kamaji.clastix.io/v1alpha1", "TenantControlPlane", { kubernetes: { version: "v1.36.3" } }),
  ];
}

test("a lab with virtual machines is read from its manifests: how many, how large, whose", () => {
  const [vino, cluster, plane] = manifests();
  assert.deepEqual(labVinoOf([cluster, vino, plane], "folder"), {
    vino: { namespace: "default", name: "a" },
    nodeLabels: { vino: "true" },
    count: 3,
    memoryMiB: 4048,
    sip: { namespace: "default", name: "a" },
    workers: 3,
    minor: "1.36",
    first: [vino],
    rest: [cluster, plane],
  });
});

const WRONG: readonly [what: string, change: (of: ReturnType<typeof manifests>) => void, says: RegExp][] = [
  ["no Vino", (of) => void of.shift(), /there is no Vino/],
  ["two planes", (of) => void of.push(of[2]), /there are 2 TenantControlPlanes, and the lab makes one/],
  ["no selector", ([vino]) => delete vino.spec.nodeSelector, /selects no node/],
  ["no machines", ([vino]) => delete vino.spec.nodes, /takes 3 hosts, and its Vino makes 0 machines/],
  ["no hosts", ([, cluster]) => delete cluster.spec.nodes, /takes 0 hosts/],
  [
    "another name",
    ([, , plane]) => Object.assign(plane.metadata, { name: "b" }),
    /TenantControlPlane is default\/b, .* default\/a/,
  ],
  ["no balancer", ([, { spec }]) => Object.assign(spec, { services: { auth: [{}] } }), /no loadBalancerControlPlane/],
  ["no Dex", ([, { spec }]) => Object.assign(spec, { services: { loadBalancerControlPlane: [{}] } }), /or no auth/],
  [
    "replicas",
    ([, { spec }]) => Object.assign(spec, { services: { loadBalancerControlPlane: [{ replicas: 2 }], auth: [{}] } }),
    /several replicas, and the lab runs one/,
  ],
  ["no version", ([, , plane]) => delete plane.spec.kubernetes, /spec\.kubernetes\.version .* is ""/],
];

for (const [what, change, says] of WRONG)
  test(`manifests that the lab can't make are refused by the name of their folder: ${what}`, () => {
    const objects = manifests();
    change(objects);
    assert.throws(
      () => labVinoOf(objects, "folder"),
      (error) => isFault(error, "BadRequest") && error.on === "folder" && says.test(error.message),
    );
  });
