/** What is written to a host with a claim, an installation and a release; the API is played by the test. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { type BareMetalHost, BareMetalHost as Kind } from "../../kinds/metal3/bare-metal-host.ts";
import { type Consumer, claimHost, consumerOf, hostOf, installOn, isConsumedBy, releaseHost } from "./claim.ts";

const consumer: Consumer = {
  apiVersion: "example.com/v1",
  kind: "Instance",
  name: "i-1",
  namespace: "own",
  uid: "u-1",
};
const image = { url: "http://images/a.raw" };
const CLEAR = { "slipway.dev/given-back": null, "slipway.dev/install-again": null };
const NOTHING = { image: null, customDeploy: null, userData: null, networkData: null, metaData: null };

const host = (name: string, spec: object = {}, state = "available"): BareMetalHost =>
  ({
    metadata: { namespace: "rack", name, uid: `uid-${name}`, resourceVersion: "7" },
    spec: { online: false, ...spec },
    status: { errorMessage: "", provisioning: { state, ID: "" } },
  }) as never;

/** An API that answers the patches in turn with faults; what `find` shows in between, and what `list` does. */
function api({
  faults = [],
  found = [],
  listed = [],
}: {
  faults?: (Fault | undefined)[];
  found?: (BareMetalHost | undefined)[];
  listed?: BareMetalHost[];
} = {}) {
  const calls: unknown[] = [];
  const client = {
    async list(_: unknown, { labelSelector }: { labelSelector: string }) {
      calls.push(labelSelector);
      return { items: listed };
    },
    async find() {
      calls.push("find");
      return found.shift();
    },
    async patch(_: unknown, { name }: { name: string }, { body }: { body: object }) {
      const fault = faults.shift();
      calls.push([name, body]);
      if (fault !== undefined) throw fault;
      return { ...host(name), patched: body };
    },
  };
  return { client: client as unknown as Client, calls };
}
const conflict = new Fault("Conflict", "x", "old");

test("a claim, its group and what is installed are one write, under the version that was seen", async () => {
  const { client, calls } = api();
  await claimHost(client, [host("a")], consumer, { group: "pool-1", install: async () => ({ image }) });
  const labels = { "slipway.dev/consumer": "u-1", "slipway.dev/group": "pool-1" };
  assert.deepEqual(calls, [
    "slipway.dev/consumer=u-1",
    [
      "a",
      {
        metadata: { resourceVersion: "7", labels, annotations: CLEAR },
        spec: { consumerRef: consumer, online: true, image },
      },
    ],
  ]);
  const plain = api();
  await claimHost(plain.client, [host("a")], consumer);
  assert.deepEqual(plain.calls[1], [
    "a",
    {
      metadata: { resourceVersion: "7", labels: { "slipway.dev/consumer": "u-1" }, annotations: CLEAR },
      spec: { consumerRef: consumer },
    },
  ]);
});

test("who has a host already gets that, from the cache, or from the API where that does not show it", async () => {
  const own = host("own", { consumerRef: consumer });
  for (const [listed, cached, asked] of [
    [[own], [], 1],
    [[own], [host("a")], 1],
    [[], [host("a"), own], 0],
  ] as const) {
    const { client, calls } = api({ listed: [...listed] });
    assert.equal((await claimHost(client, cached, consumer)).metadata.name, "own");
    assert.equal(calls.length, asked);
  }
  assert.equal(await hostOf(api().client, [host("a")], consumer), undefined);
});

test("a host that changed is looked at again; one that is taken or gone is passed over", async () => {
  const changed = api({ faults: [conflict], found: [host("a")] });
  assert.equal((await claimHost(changed.client, [host("a")], consumer)).metadata.name, "a");
  assert.equal(changed.calls.length, 4);
  for (const at of [
    { faults: [conflict], found: [host("a", { consumerRef: { name: "x" } })] },
    { faults: [conflict], found: [undefined] },
    { faults: [new Fault("NotFound", "x", "gone")] },
  ])
    await assert.rejects(claimHost(api(at).client, [host("a")], consumer), (error: Fault) => {
      assert.deepEqual([error.code, error.on], ["NoCapacity", "Instance/i-1"]);
      return /of 1 hosts: 1 just taken; add hosts, or ask for less/.test(error.advice);
    });
  const denied = api({ faults: [new Fault("Forbidden", "x", "no")] });
  await assert.rejects(claimHost(denied.client, [host("a")], consumer), /no/);
});

test("an installation takes the place of all that was there, and only its consumer has it", async () => {
  const { client, calls } = api();
  await installOn(client, host("a", { consumerRef: consumer }), consumer, { image });
  assert.deepEqual(calls, [["a", { metadata: { resourceVersion: "7" }, spec: { ...NOTHING, image } }]]);
  await assert.rejects(installOn(client, host("a"), consumer, {}), (error: Fault) => error.code === "Conflict");
});

test("a host is emptied, then wiped, then nobody's", async () => {
  const release = async (spec: object, state: string) => {
    const { client, calls } = api();
    const waiting = await releaseHost(client, host("a", { consumerRef: consumer, ...spec }, state), consumer);
    return { waiting, calls };
  };
  const WIPED = "the host to be wiped";
  for (const spec of [{ image }, { customDeploy: { method: "ipxe" } }]) {
    const { waiting, calls } = await release(spec, "provisioned");
    assert.deepEqual([waiting, calls], [WIPED, [["a", { metadata: { resourceVersion: "7" }, spec: NOTHING }]]]);
  }
  for (const state of ["provisioning", "provisioned", "deprovisioning"])
    assert.deepEqual(await release({}, state), { waiting: WIPED, calls: [] }, state);
  const labels = { "slipway.dev/consumer": null, "slipway.dev/group": null };
  const metadata = { resourceVersion: "7", labels, annotations: CLEAR };
  for (const state of ["available", "preparing", "externally provisioned"])
    assert.deepEqual((await release({}, state)).calls, [["a", { metadata, spec: { consumerRef: null } }]], state);
  assert.equal(await releaseHost(api().client, host("a"), consumer), undefined);
});

test("a consumer is named by group, version and kind, with its namespace where it has one", () => {
  const metadata = { name: "n", namespace: "own", uid: "u" };
  assert.deepEqual(consumerOf(Kind, { metadata } as never), {
    ...{ apiVersion: "metal3.io/v1alpha1", kind: "BareMetalHost", name: "n", namespace: "own", uid: "u" },
  });
  const core = { group: "", version: "v1", kind: "Node" } as never;
  assert.deepEqual(consumerOf(core, { metadata: { name: "n" } } as never), {
    ...{ apiVersion: "v1", kind: "Node", name: "n", uid: "" },
  });
});

test("a reference without a uid is the consumer's by kind, name, namespace and group, in any version", () => {
  const of = (more: object) =>
    isConsumedBy(
      host("a", { consumerRef: { apiVersion: "example.com/v2", kind: "Instance", name: "i-1", ...more } }),
      consumer,
    );
  assert.deepEqual([of({}), of({ namespace: "own" }), of({ namespace: "other" })], [true, true, false]);
  assert.deepEqual(
    [of({ apiVersion: undefined }), of({ apiVersion: "v1" }), of({ uid: "u-1", name: "x" })],
    [false, false, true],
  );
  const core = { ...consumer, apiVersion: "v1" };
  assert.equal(isConsumedBy(host("a", { consumerRef: { kind: "Instance", name: "i-1" } }), core), true);
});
