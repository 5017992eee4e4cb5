/** What a sub-cluster writes to hosts; the API is played by the test. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Client, Ref } from "@slipway/kube";
import { CONSUMER_LABEL } from "../../../inventory/hosts/annotations.ts";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE, NODE_TYPE } from "../../../kinds/sip/labels.ts";
import type { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import { candidatesFor, consumer, heldBy } from "./belonging.ts";
import { adopt, giveBack, handOver, label, reserve } from "./claims.ts";

const CLUSTER = { metadata: { namespace: "sub", name: "one", uid: "u-1" } } as SIPCluster;
const LABELLED = { [CLUSTER_NAMESPACE]: "sub", [CLUSTER_NAME]: "one", [NODE_TYPE]: "Worker" };
const OWN = consumer(CLUSTER);
const EARLIER = { ...OWN, uid: "u-0" };
const USER = { apiVersion: "example.com/v1", kind: "Machine", namespace: "metal", name: "m", uid: "u-9" };

const host = (labels: object = {}, spec: object = {}, state = "available"): BareMetalHost =>
  ({
    metadata: { namespace: "metal", name: "h", uid: "h", resourceVersion: "1", labels },
    spec: { networkData: { name: "net" }, ...spec },
    status: { provisioning: { state } },
  }) as unknown as BareMetalHost;

/** An API that answers patches in turn with faults, and `find` with `found`. */
function api({ faults = [], found }: { faults?: string[]; found?: BareMetalHost } = {}) {
  const patches: { metadata: { resourceVersion: string; labels?: object }; spec?: { consumerRef?: unknown } }[] = [];
  const client = {
    find: async () => found,
    async patch(_: object, { name }: Ref, { body }: { body: (typeof patches)[number] }) {
      patches.push(body);
      const code = faults.shift();
      if (code !== undefined) throw new Fault(code as "Conflict", `BareMetalHost/${name}`, "no");
      return { ...host(), spec: { ...host().spec, ...body.spec } };
    },
  } as unknown as Client;
  return { client, patches };
}

test("SIP-6 a host is reserved once: its own is written no more, one of an earlier cluster of the name is taken over", async () => {
  const { client, patches } = api();
  const own = host({}, { consumerRef: OWN });
  assert.equal(await reserve(client, own, CLUSTER, 0), own);
  assert.equal(patches.length, 0);
  await reserve(client, host({}, { consumerRef: EARLIER }, "provisioned"), CLUSTER, 0);
  assert.deepEqual(patches.pop()!.spec, { consumerRef: OWN });
  assert.equal(await reserve(client, host({}, { consumerRef: USER }), CLUSTER, 0), undefined);
  assert.equal(patches.length, 0);
});

test("SIP-6 a host that was changed meanwhile is looked at again before it is labelled, and left alone where it is another's by then", async () => {
  const reserved = host({}, { consumerRef: OWN });
  const again = api({
    faults: ["Conflict"],
    found: { ...reserved, metadata: { ...reserved.metadata, resourceVersion: "2" } },
  });
  assert.notEqual(await label(again.client, reserved, CLUSTER, "Worker"), undefined);
  assert.deepEqual(
    again.patches.map(({ metadata }) => metadata),
    ["1", "2"].map((resourceVersion) => ({ labels: LABELLED, resourceVersion })),
  );
  const taken = api({ faults: ["Conflict"], found: host({}, { consumerRef: USER }) });
  assert.equal(await label(taken.client, reserved, CLUSTER, "Worker"), undefined);
  const gone = api({ faults: ["NotFound"] });
  assert.equal(await label(gone.client, reserved, CLUSTER, "Worker"), undefined);
  await assert.rejects(label(api({ faults: ["Unavailable"] }).client, reserved, CLUSTER, "Worker"), {
    code: "Unavailable",
  });
});

test("SIP-6 a host that is handed over keeps its labels, and is no longer found as reserved; one that is adopted is", async () => {
  const { client, patches } = api();
  await handOver(client, host(LABELLED, { consumerRef: OWN }), USER);
  await adopt(client, host(LABELLED), CLUSTER);
  const labels = patches.map(({ metadata }) => metadata.labels);
  assert.deepEqual(labels, [{ [CONSUMER_LABEL]: null }, { [CONSUMER_LABEL]: "u-1" }]);
  assert.deepEqual(
    patches.map(({ spec }) => spec!.consumerRef),
    [USER, OWN],
  );
  assert.equal(await adopt(api({ faults: ["Conflict"] }).client, host(), CLUSTER), undefined);
});

const GONE = { [CLUSTER_NAMESPACE]: null, [CLUSTER_NAME]: null, [NODE_TYPE]: null };
for (const [what, given, fault, waitsFor, after] of [
  ["one that is not the cluster's is left alone", host(), undefined, undefined, undefined],
  ["one of the cluster is nobody's", host(LABELLED, { consumerRef: OWN }), undefined, undefined, null],
  [
    "one that is installed is wiped first",
    host(LABELLED, { consumerRef: OWN }, "provisioned"),
    undefined,
    "the host to be wiped",
    undefined,
  ],
  ["one that somebody uses stays its user's", host(LABELLED, { consumerRef: USER }), undefined, undefined, "as it was"],
  ["one that bears the labels alone is nobody's", host(LABELLED), undefined, undefined, null],
  [
    "one that an earlier cluster of the name reserved is nobody's",
    host({}, { consumerRef: EARLIER }),
    undefined,
    undefined,
    null,
  ],
  ["one that changes meanwhile is waited for", host(LABELLED), "Conflict", "the host to keep still", null],
  [
    "one that is reserved and changes, too",
    host(LABELLED, { consumerRef: OWN }),
    "Conflict",
    "the host to keep still",
    null,
  ],
  ["one that is gone needs nothing", host(LABELLED, { consumerRef: OWN }), "NotFound", undefined, null],
] as const)
  test(`SIP-7 a host that is given back: ${what}`, async () => {
    const { client, patches } = api(fault === undefined ? {} : { faults: [fault] });
    assert.equal(await giveBack(client, given, CLUSTER), waitsFor);
    if (after === undefined) return assert.equal(patches.length, 0);
    const { metadata, spec } = patches[0]!;
    assert.equal(metadata.resourceVersion, "1");
    if (after === "as it was") return assert.deepEqual([metadata.labels, spec], [GONE, undefined]);
    assert.equal(spec!.consumerRef, null);
    assert.deepEqual({ ...GONE, [CONSUMER_LABEL]: null, ...metadata.labels }, metadata.labels);
  });

test("SIP-7 a host that can't be given back for another reason is an error", async () => {
  const { client } = api({ faults: ["Forbidden"] });
  await assert.rejects(giveBack(client, host(LABELLED, { consumerRef: OWN }), CLUSTER), { code: "Forbidden" });
});

test("SIP-6 reserved hosts are offered first, and each that can't be had with its reason", () => {
  const named = (name: string, one: BareMetalHost, more: object = {}): BareMetalHost => ({
    ...one,
    metadata: { ...one.metadata, name, ...more },
  });
  const hosts = [
    named("a", host()),
    named("b", host({}, { consumerRef: OWN })),
    named("c", host({ ...LABELLED, [CLUSTER_NAME]: "other" })),
    named("d", host(), { namespace: "closed" }),
    named("e", host({}, { networkData: undefined })),
    named("f", host({}, { networkData: undefined, preprovisioningNetworkDataName: "net" })),
    named("g", host({}, { consumerRef: OWN }), { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    named("h", host({}, { consumerRef: USER })),
    named("i", host()),
    named("j", host(LABELLED)),
  ];
  const offered = candidatesFor(hosts, CLUSTER, {
    closed: new Set(["closed"]),
    bad: new Map([["metal/i", "no Secret"]]),
  });
  assert.deepEqual(
    offered.map(({ id, obstacle }) => [id, obstacle]),
    [
      ["metal/b", undefined],
      ["metal/g", "being deleted"],
      ["closed/d", "no HostDeployPolicy of namespace closed lets this one have its hosts"],
      ["metal/a", undefined],
      ["metal/c", "in cluster sub/other"],
      ["metal/e", "no network data"],
      ["metal/f", undefined],
      ["metal/h", "in use"],
      ["metal/i", "no Secret"],
    ],
  );
});

test("SIP-1 the cluster's hosts are those with its labels; one that is being deleted has no role", () => {
  const since = { creationTimestamp: "2026-01-01T00:00:00Z" };
  const one = host(LABELLED, { consumerRef: USER });
  const all = [
    { ...one, metadata: { ...one.metadata, ...since } },
    { ...one, metadata: { ...one.metadata, ...since, name: "i", deletionTimestamp: "2026-01-02T00:00:00Z" } },
    host({ ...LABELLED, [CLUSTER_NAMESPACE]: "other" }),
  ];
  assert.deepEqual(
    heldBy(all, CLUSTER).map(({ id, role, since: from, isUsed }) => [id, role, from, isUsed]),
    [
      ["metal/h", "Worker", since.creationTimestamp, true],
      ["metal/i", "", since.creationTimestamp, true],
    ],
  );
});
