import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Consumer } from "./claim.ts";
import { giveBack, installAgain, isGivenBack, toInstallAgain } from "./turn.ts";

const consumer: Consumer = { apiVersion: "example.com/v1", kind: "Instance", name: "i-1", uid: "uid-1" };
const [GIVEN, AGAIN] = ["slipway.dev/given-back", "slipway.dev/install-again"];
const image = { url: "http://images/a.raw" };
const NOTHING = { image: null, customDeploy: null, userData: null, networkData: null, metaData: null };

function hostOf({
  annotations,
  uid = "uid-1",
  spec = { image },
}: {
  annotations?: object;
  uid?: string;
  spec?: object;
} = {}) {
  return {
    metadata: { namespace: "rack", name: "node-1", resourceVersion: "7", ...(annotations && { annotations }) },
    spec: { online: true, consumerRef: { ...consumer, uid }, ...spec },
  } as unknown as BareMetalHost;
}

function world() {
  const patched: { metadata: Record<string, unknown>; spec?: object }[] = [];
  const client = {
    patch: async (_: unknown, __: unknown, { body }: { body: (typeof patched)[0] }) => void patched.push(body),
  };
  return { client: client as unknown as Client, patched };
}

test("a host that is given back is its consumer's until it is wiped, and by force nobody's at once", async () => {
  const { client, patched } = world();
  await giveBack(client, hostOf(), consumer);
  await giveBack(client, hostOf(), consumer, { force: true });
  const gone = { "slipway.dev/failures": null };
  assert.deepEqual(patched, [
    { metadata: { resourceVersion: "7", annotations: { [GIVEN]: "uid-1", [AGAIN]: null, ...gone } }, spec: NOTHING },
    {
      metadata: {
        resourceVersion: "7",
        labels: { "slipway.dev/consumer": null, "slipway.dev/group": null },
        annotations: { [GIVEN]: null, [AGAIN]: null, ...gone },
      },
      spec: { ...NOTHING, consumerRef: null },
    },
  ]);
});

test("what failed is counted once, however often the host is given back", async () => {
  const { client, patched } = world();
  const failure = { message: "no disk", tries: 1, most: 3 };
  await giveBack(client, hostOf(), consumer, { failure });
  assert.equal((patched[0]!.metadata.annotations as Record<string, string>)["slipway.dev/failures"], "1");
  const given = hostOf({ annotations: { [GIVEN]: "uid-1" } });
  await giveBack(client, given, consumer, { failure });
  assert.equal(patched.length, 1, "it is given back already");
  await giveBack(client, given, consumer, { failure, force: true });
  assert.deepEqual(patched[1]!.metadata.annotations, { [GIVEN]: null, [AGAIN]: null });
  await giveBack(client, hostOf({ uid: "uid-2" }), consumer, { force: true });
  assert.equal(patched.length, 2, "it is another's");
});

test("a host is installed as it was after its wipe, which is announced once", async () => {
  const { client, patched } = world();
  const spec = { image, userData: { name: "data" } };
  await installAgain(client, hostOf({ spec }), consumer);
  const what = JSON.stringify(spec);
  assert.deepEqual(patched, [{ metadata: { resourceVersion: "7", annotations: { [AGAIN]: what } }, spec: NOTHING }]);
  const annotations = { [AGAIN]: what };
  await installAgain(client, hostOf({ annotations, spec: {} }), consumer);
  assert.equal(patched.length, 1, "it is being wiped for that");
  for (const again of [
    hostOf({ spec: {} }),
    hostOf({ annotations }),
    hostOf({ annotations, spec: { customDeploy: { method: "a" } } }),
  ])
    await installAgain(client, again, consumer);
  assert.equal(patched.length, 4);
  for (const other of [hostOf({ uid: "uid-2" }), hostOf({ annotations: { [GIVEN]: "uid-1" } })])
    await assert.rejects(installAgain(client, other, consumer), (error) => isFault(error, "Conflict"));
});

test("what is to be installed again is read with its five fields, and what is no JSON is nothing", () => {
  const read = (text?: string) =>
    toInstallAgain(hostOf({ ...(text !== undefined && { annotations: { [AGAIN]: text } }) }));
  const fields = {
    customDeploy: { method: "ipxe" },
    userData: { name: "u" },
    networkData: { name: "n" },
    metaData: { name: "m" },
  };
  assert.deepEqual(read(JSON.stringify({ ...fields, image, online: false })), { ...fields, image });
  assert.equal(read(), undefined);
  assert.equal(read("{"), undefined);
});

test("a host is given back by its consumer alone, not by one that had it before", () => {
  assert.equal(isGivenBack(hostOf()), false);
  assert.equal(isGivenBack(hostOf({ annotations: { [GIVEN]: "uid-1" } })), true);
  assert.equal(isGivenBack(hostOf({ annotations: { [GIVEN]: "uid-0" } })), false);
  assert.equal(isGivenBack(hostOf({ annotations: {}, spec: { consumerRef: undefined } })), false);
});
