import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { fitting, type HostWish, obstacle, whyNone } from "./choose.ts";

const GIB = 2 ** 30;

interface Change {
  metadata?: object;
  spec?: object;
  status?: object;
}

function host(name: string, { metadata, spec, status }: Change = {}): BareMetalHost {
  return {
    metadata: { name, namespace: "metal", uid: `uid-${name}`, resourceVersion: "1", ...metadata },
    spec: { online: true, ...spec },
    status: {
      errorMessage: "",
      provisioning: { state: "available", ID: "" },
      hardware: {
        cpu: { count: 16, arch: "x86_64" },
        ramMebibytes: 65_536,
        storage: [{ name: "/dev/sda", sizeBytes: 100 * GIB }, { name: "/dev/sdb", sizeBytes: 900 * GIB }, {}],
      },
      ...status,
    },
  } as never;
}

const WISH: HostWish = {
  namespaces: ["metal"],
  labels: { matchLabels: { rack: "a" } },
  hardware: { cpus: 16, memoryMebibytes: 65_536, diskGibibytes: 900, architecture: "x86_64" },
};
const A = { labels: { rack: "a" } };

const cases: readonly [string | undefined, Change][] = [
  [undefined, {}],
  ["in another namespace", { metadata: { ...A, namespace: "other" } }],
  ["other labels", { metadata: { labels: { rack: "b" } } }],
  ["other labels", { metadata: { labels: undefined } }],
  ["in use", { spec: { consumerRef: { name: "x" } } }],
  ["in use", { spec: { image: { url: "http://x" } } }],
  ["in use", { spec: { customDeploy: { method: "preseed" } } }],
  ["being deleted", { metadata: { ...A, deletionTimestamp: "2026-01-01T00:00:00Z" } }],
  ["paused", { metadata: { ...A, annotations: { "baremetalhost.metal3.io/paused": "" } } }],
  ["detached", { metadata: { ...A, annotations: { "baremetalhost.metal3.io/detached": "" } } }],
  ["marked as unhealthy", { metadata: { ...A, annotations: { "capi.metal3.io/unhealthy": "capm3/UnhealthyNode" } } }],
  ["marked as unhealthy", { metadata: { ...A, annotations: { "capm3.metal3.io/unhealthy": "" } } }],
  ["kept for reuse", { metadata: { labels: { rack: "a", "infrastructure.cluster.x-k8s.io/node-reuse": "workers" } } }],
  ["in error", { status: { errorMessage: "no power" } }],
  ["not available", { status: { provisioning: { state: "preparing", ID: "" } } }],
  ["not available", { status: { provisioning: undefined } }],
  ["too few processors", { status: { hardware: { cpu: { count: 15 } } } }],
  ["too few processors", { status: { hardware: undefined } }],
  ["too little memory", { status: { hardware: { cpu: { count: 16 }, ramMebibytes: 65_535 } } }],
  [
    "too small disks",
    { status: { hardware: { cpu: { count: 16 }, ramMebibytes: 65_536, storage: [{ sizeBytes: 900 * GIB - 1 }] } } },
  ],
  [
    "another architecture",
    {
      status: {
        hardware: { cpu: { count: 16, arch: "aarch64" }, ramMebibytes: 65_536, storage: [{ sizeBytes: 900 * GIB }] },
      },
    },
  ],
];
for (const [why, change] of cases)
  test(`a host is ${why ?? "had"}: ${JSON.stringify(change)}`, () =>
    assert.equal(obstacle(host("one", { metadata: A, ...change }), WISH), why));

test("a host without facts about its hardware has no processor, memory or disk to offer", () => {
  const blank = host("one", { status: { hardware: undefined } });
  assert.equal(obstacle(blank, { hardware: { cpus: 1 } }), "too few processors");
  assert.equal(obstacle(blank, { hardware: { memoryMebibytes: 1 } }), "too little memory");
  assert.equal(obstacle(blank, { hardware: { diskGibibytes: 1 } }), "too small disks");
});

test("a host that says nothing of its processor has the architecture that it was declared with", () => {
  const declared = (architecture: string): BareMetalHost =>
    host("one", { spec: { architecture }, status: { hardware: { cpu: {} } } });
  assert.equal(obstacle(declared("aarch64"), { hardware: { architecture: "aarch64" } }), undefined);
  assert.equal(obstacle(declared("x86_64"), { hardware: { architecture: "aarch64" } }), "another architecture");
});

test("two consumers begin with different hosts of many, each always with the same", () => {
  const hosts = Array.from({ length: 50 }, (_, i) => host(`n${i}`));
  const first = (consumer: string): string | undefined => fitting(hosts, {}, consumer)[0]?.metadata.name;
  assert.equal(first("one"), first("one"));
  assert.ok(new Set(["a", "b", "c", "d", "e"].map(first)).size > 2);
  assert.equal(fitting(hosts, {}, "one").length, 50);
});

test("why none fits is counted, the most frequent reason first", () => {
  const busy = { spec: { consumerRef: { name: "x" } } };
  const hosts = [host("a", { status: { errorMessage: "no power" } }), host("b", busy), host("c", busy), host("d")];
  assert.equal(whyNone(hosts, {}), "of 4 hosts: 2 in use, 1 in error, 1 just taken");
  assert.equal(whyNone([], {}), "there are no hosts");
});

test("a host whose rack nobody knows shares none with the consumer's peers", () => {
  const hosts = [host("known", { metadata: { labels: { rack: "b" } } }), host("unknown")];
  for (const consumer of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
    const names = fitting(hosts, { spread: { label: "rack", taken: ["b"] } }, consumer).map(
      ({ metadata }) => metadata.name,
    );
    assert.deepEqual(names, ["unknown", "known"], consumer);
  }
});
