import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFINITIONS, world } from "@slipway/apiserver/testing";
import { crdOf } from "../crd.ts";
import { PACKET_KINDS } from "./kinds.ts";

const V = "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/default";
const api = await world();
for (const versions of PACKET_KINDS) await api.ask("POST", DEFINITIONS, crdOf(versions));
after(() => api.close());

type Kind = "PacketCluster" | "PacketMachine" | "PacketMachineTemplate" | "PacketClusterTemplate";
let made = 0;
const object = (kind: Kind, spec: object, name = `a${made++}`) => ({
  ...{ apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", kind, metadata: { name } },
  spec,
});
const pathOf = (kind: Kind): string => `${V}/${kind.toLowerCase()}s`;

/** What the API says of an object: "taken", or the messages of its causes. */
async function verdict(method: "POST" | "PUT", path: string, body: unknown): Promise<string[]> {
  const answer = await api.send({ method, path, body });
  if (answer.status < 400) return ["taken"];
  const { details } = answer.body as { details?: { causes?: { field: string; message: string }[] } };
  return (details?.causes ?? []).map(({ message }) => message.replace(/^Invalid value: /, ""));
}

const cluster = { projectID: "p", metro: "da" };
const machine = { os: "ubuntu_20_04", machineType: "c3.medium.x86", metro: "da" };
const BOTH = "give metro or facility, not both";

const creations: [name: string, kind: Kind, spec: object, wanted: string][] = [
  ["a PacketCluster in a metro", "PacketCluster", cluster, "taken"],
  ["a PacketCluster in a facility", "PacketCluster", { projectID: "p", facility: "da11" }, "taken"],
  ["a PacketCluster nowhere", "PacketCluster", { projectID: "p" }, "metro or facility is required"],
  [
    "a PacketCluster with an empty metro",
    "PacketCluster",
    { projectID: "p", metro: "" },
    "metro or facility is required",
  ],
  [
    "a PacketCluster of a MachineProvider, which may have no metros",
    "PacketCluster",
    { projectID: "p", providerRef: { name: "own" } },
    "taken",
  ],
  ["B36 a PacketCluster in metro and facility", "PacketCluster", { ...cluster, facility: "da11" }, BOTH],
  ["a PacketCluster without a VIP", "PacketCluster", { ...cluster, vipManager: "NONE" }, "taken"],
  ["a PacketCluster with EMLB, which its status refuses", "PacketCluster", { ...cluster, vipManager: "EMLB" }, "taken"],
  ["a PacketMachine", "PacketMachine", machine, "taken"],
  ["B36 a PacketMachine in metro and facility", "PacketMachine", { ...machine, facility: "da11" }, BOTH],
  ["a PacketMachine with an empty facility beside its metro", "PacketMachine", { ...machine, facility: "" }, "taken"],
];
for (const [name, kind, spec, wanted] of creations)
  test(`${name}: ${wanted}`, async () => {
    assert.deepEqual(await verdict("POST", pathOf(kind), object(kind, spec)), [wanted]);
  });

const FIXED =
  "of a machine that exists, providerID, tags, metro, facility, metros, machineTypes and reclaimPolicy can be changed alone";
const OF_CLASS = { annotations: { "slipway.dev/cluster-class": "" } };
const MUTABLE = "a template can't be changed: create another one and refer to that";
const changes: [name: string, kind: Kind, before: object, after: object, wanted: string][] = [
  ["the project", "PacketCluster", cluster, { ...cluster, projectID: "q" }, "projectID can't be changed"],
  ["the VIP manager", "PacketCluster", cluster, { ...cluster, vipManager: "NONE" }, "vipManager can't be changed"],
  ["EMLB for one that exists", "PacketCluster", { ...cluster, vipManager: "EMLB" }, cluster, "taken"],
  ["metro for facility", "PacketCluster", cluster, { projectID: "p", facility: "da11" }, "taken"],
  ["a second place", "PacketCluster", cluster, { ...cluster, facility: "da11" }, BOTH],
  ["a machine's plan", "PacketMachine", machine, { ...machine, machineType: "m3.large.x86" }, FIXED],
  ["a machine's keys", "PacketMachine", machine, { ...machine, sshKeys: ["k"] }, FIXED],
  ["a machine's tags", "PacketMachine", machine, { ...machine, tags: ["x"] }, "taken"],
  ["a machine's first providerID", "PacketMachine", machine, { ...machine, providerID: "equinixmetal://a" }, "taken"],
  [
    "a machine's second providerID",
    "PacketMachine",
    { ...machine, providerID: "equinixmetal://a" },
    { ...machine, providerID: "equinixmetal://b" },
    "providerID can't be changed once it is set",
  ],
  [
    "B36 a machine template",
    "PacketMachineTemplate",
    { template: { spec: machine } },
    { template: { spec: { ...machine, os: "ubuntu_22_04" } } },
    `${MUTABLE}; one for a ClusterClass needs annotation slipway.dev/cluster-class in its template's metadata`,
  ],
  [
    "B36 a machine template that gets a ClusterClass's annotation with the change",
    "PacketMachineTemplate",
    { template: { spec: machine } },
    { template: { metadata: OF_CLASS, spec: { ...machine, os: "ubuntu_22_04" } } },
    `${MUTABLE}; one for a ClusterClass needs annotation slipway.dev/cluster-class in its template's metadata`,
  ],
  [
    "B48 a machine template of a ClusterClass",
    "PacketMachineTemplate",
    { template: { metadata: OF_CLASS, spec: machine } },
    { template: { metadata: OF_CLASS, spec: { ...machine, os: "ubuntu_22_04" } } },
    "taken",
  ],
  [
    "a machine template's labels",
    "PacketMachineTemplate",
    { template: { spec: machine } },
    { template: { metadata: { labels: { a: "b" } }, spec: machine } },
    "taken",
  ],
  [
    "B48 a cluster template",
    "PacketClusterTemplate",
    { template: { spec: cluster } },
    { template: { spec: { ...cluster, metro: "ny" } } },
    MUTABLE,
  ],
];
for (const [name, kind, before, after, wanted] of changes)
  test(`change of ${name}: ${wanted}`, async () => {
    const body = object(kind, before);
    const held = (await api.ask("POST", pathOf(kind), body)) as { metadata: object };
    const path = `${pathOf(kind)}/${body.metadata.name}`;
    assert.deepEqual(await verdict("PUT", path, { ...body, metadata: held.metadata, spec: after }), [wanted]);
  });

test("a PacketCluster without vipManager has CPEM, as upstream's", async () => {
  const made = (await api.ask("POST", pathOf("PacketCluster"), object("PacketCluster", cluster))) as unknown as {
    spec: { vipManager: string };
  };
  assert.equal(made.spec.vipManager, "CPEM");
});

test("the definitions carry the labels of both contracts, and of clusterctl's move", () => {
  for (const versions of PACKET_KINDS)
    assert.deepEqual(crdOf(versions).metadata.labels, {
      "cluster.x-k8s.io/v1beta1": "v1beta1",
      "cluster.x-k8s.io/v1beta2": "v1beta1",
      "clusterctl.cluster.x-k8s.io": "",
    });
});
