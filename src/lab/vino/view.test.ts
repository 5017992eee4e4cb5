import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { areOffered, type VinoView, vinoRows } from "./view.ts";

const host = (name: string, over: { labels?: object; spec?: object; status?: object } = {}): BareMetalHost =>
  ({
    metadata: { name, ...(over.labels && { labels: over.labels }) },
    spec: { ...over.spec },
    status: { provisioning: { state: "available" }, ...over.status },
  }) as never;

const OURS = { "sip.airshipit.org/cluster-name": "lab", "sip.airshipit.org/cluster-namespace": "default" };

const viewOf = (...hosts: BareMetalHost[]): VinoView => ({
  ...{ vino: undefined, cluster: undefined, vinoNodes: [], hosts },
});

test("hosts are offered when all of them are there, available, and nobody's", () => {
  assert.equal(areOffered(viewOf(host("a"), host("b")), 2), true);
  assert.equal(areOffered(viewOf(host("a")), 2), false);
  assert.equal(areOffered(viewOf(host("a"), host("b"), host("c")), 2), false);
  const others = [
    host("b", { labels: OURS }),
    host("b", { spec: { consumerRef: { name: "lab" } } }),
    host("b", { status: { provisioning: { state: "preparing" } } }),
  ];
  for (const other of others) assert.equal(areOffered(viewOf(host("a"), other), 2), false);
});

test("a row shows a machine's state, whose it is, its Node, and what is waited for or wrong", () => {
  const hosts = [
    host("a", { labels: OURS }),
    host("b", { status: { provisioning: { state: "" }, operationalStatus: "discovered", waitingFor: "the agent" } }),
    host("c", { labels: OURS, status: { errorMessage: "no disk" } }),
    host("d", { status: { provisioning: { state: "" } } }),
  ];
  const ready = { status: { conditions: [{ type: "Ready", status: "True" }] } };
  const nodes = [{ metadata: { name: "a" }, ...ready }, { metadata: { name: "c" } }] as never;
  assert.deepEqual(vinoRows(viewOf(...hosts), nodes), [
    { machine: "a", host: "available", instance: "default/lab", node: "Ready", doing: "" },
    { machine: "b", host: "discovered", instance: "-", node: "-", doing: "waiting for the agent" },
    { machine: "c", host: "available, error", instance: "default/lab", node: "not Ready", doing: "no disk" },
    { machine: "d", host: "new", instance: "-", node: "-", doing: "" },
  ]);
});
