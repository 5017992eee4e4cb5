import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Node } from "./core.ts";
import { FakeApi } from "./fake-api.ts";
import { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizers.ts";
import { createClient } from "./rest-client.ts";

const PATH = "/api/v1/nodes/a";
const OURS = "slipway/machine";

function world() {
  const api = new FakeApi();
  const client = createClient(api, { clock: new VirtualClock(), random: seededRandom(1), log: quietLog });
  const put = (finalizers: string[]): Node => api.put(PATH, { metadata: { name: "a", finalizers } });
  return { api, client, put, now: () => api.objects.get(PATH)?.metadata.finalizers };
}

test("a finalizer is added once", async () => {
  const { api, client, put, now } = world();
  const object = await addFinalizer(client, Node, put(["other"]), OURS);
  assert.deepEqual(now(), ["other", OURS]);
  assert.ok(hasFinalizer(object, OURS));
  const before = api.requests.length;
  await addFinalizer(client, Node, object, OURS);
  assert.equal(api.requests.length, before);
});

test("a finalizer that somebody else adds or removes meanwhile is neither lost nor brought back", async () => {
  const { client, put, now } = world();
  const stale = put(["gone", OURS]);
  put([OURS, "new"]);
  await removeFinalizer(client, Node, stale, OURS);
  assert.deepEqual(now(), ["new"]);
});

test("removing is done when the object is gone, or another took its name", async () => {
  const { api, client, put, now } = world();
  const object = put([OURS]);
  api.remove(PATH);
  await removeFinalizer(client, Node, object, OURS);
  put([OURS]);
  await removeFinalizer(client, Node, object, OURS);
  assert.deepEqual(now(), [OURS]);
});

test("a writer that never rests ends in Conflict, not in a loop", async () => {
  const { api, client, put } = world();
  const object = put([]);
  let tries = 0;
  api.intercept = (request) => {
    if (request.method === "PATCH") {
      tries++;
      put(["noise"]);
    }
    return undefined;
  };
  await assert.rejects(addFinalizer(client, Node, object, OURS), { code: "Conflict" });
  assert.equal(tries, 5);
});
