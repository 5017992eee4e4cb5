/** A kind that is followed for a session: in virtual time, on the embedded API. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type World, world } from "@slipway/apiserver/testing";
import { isFault, quietLog as log, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient, type Transport, type WatchEvent } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import type { FollowerListener } from "./follower.ts";
import { Followers } from "./followers.ts";
import { kindNames, resourceOf } from "./kind-name.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";

async function followed(t: TestContext, { most = 1_000, mostKinds = 4 } = {}) {
  const of = await world();
  t.after(() => of.close());
  let watches = 0;
  const way = of.server.transport({ name: "viewer", groups: ["system:authenticated"] });
  const transport: Transport = {
    ...way,
    request: (request) => way.request(request),
    watch(request) {
      watches++;
      return way.watch(request);
    },
  };
  const { clock } = of;
  const random = seededRandom(1);
  let refused = 0;
  const followers = new Followers({
    ...{ client: createClient(transport, { clock, random, log }), clock, random, log, most, mostKinds },
    lookUp: (kind, signal) => resourceOf(kind, transport, signal),
    refused: () => void refused++,
  });
  t.after(() => followers.close());
  const listen = (kind: string) => {
    const said: string[] = [];
    const listener: FollowerListener = {
      begin: () => void said.push("begin"),
      set: (key) => void said.push(`set ${key}`),
      gone: (key) => void said.push(`gone ${key}`),
      state: (state) => void said.push(state),
    };
    return { said, stop: followers.listen(kindNames(kind, 1)[0]!, "default", listener) };
  };
  return { of, followers, listen, watches: () => watches, refused: () => refused };
}

async function allow({ ask }: World): Promise<void> {
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] }];
  await ask("POST", `${ROLES}/roles`, { metadata: { name: "viewer" }, rules });
  const group = "rbac.authorization.k8s.io";
  const subjects = [{ kind: "User", name: "viewer", apiGroup: group }];
  const roleRef = { kind: "Role", name: "viewer", apiGroup: group };
  await ask("POST", `${ROLES}/rolebindings`, { metadata: { name: "viewer" }, subjects, roleRef });
}

const map = (name: string) => ({ metadata: { name } });

test("rights that come later are noticed, and what was shown goes when they are taken away and the watch ends", async (t) => {
  const { of, listen } = await followed(t);
  await of.ask("POST", MAPS, map("a"));
  const { said } = listen("configmaps");
  await of.clock.run(1_000);
  assert.deepEqual(said, ["begin", "begin", "denied"].slice(said.length === 2 ? 1 : 0));
  await allow(of);
  await of.clock.run(31_000);
  assert.deepEqual(said.slice(-3).sort(), ["begin", "set default/a", "synced"].sort());
  await of.ask("DELETE", `${ROLES}/rolebindings/viewer`);
  // A watch that is open goes on until the API ends it, after ten minutes at the latest.
  await of.clock.run(11 * 60_000);
  assert.deepEqual(said.slice(-2), ["begin", "denied"]);
});

test("pages share a watch; it lingers for a page that is loaded anew, and ends then", async (t) => {
  const { of, listen, followers, watches } = await followed(t);
  await allow(of);
  await of.ask("POST", MAPS, map("a"));
  const first = listen("configmaps");
  await of.clock.run(100);
  const second = listen("configmaps");
  assert.deepEqual(second.said, ["begin", "set default/a", "synced"], "at once");
  assert.deepEqual([watches(), followers.size, followers.objects], [1, 1, 1]);
  first.stop();
  second.stop();
  await of.clock.run(14_000);
  const third = listen("configmaps");
  assert.equal(third.said.at(-1), "synced");
  assert.equal(watches(), 1);
  third.stop();
  await of.clock.run(16_000);
  assert.deepEqual([followers.size, followers.objects], [0, 0]);
  await of.ask("POST", MAPS, map("b"));
  await of.clock.run(1_000);
  assert.ok(!third.said.includes("set default/b"));
});

test("more objects than are followed are refused as a whole, and nothing of them is kept", async (t) => {
  const { of, listen, followers } = await followed(t, { most: 5 });
  await allow(of);
  for (let i = 0; i < 6; i++) await of.ask("POST", MAPS, map(`m${i}`));
  const { said } = listen("configmaps");
  await of.clock.run(1_000);
  assert.deepEqual([said.at(-2), said.at(-1), followers.objects], ["begin", "denied", 0]);
});

test("more kinds than a session may follow are refused; those that nobody looks at any more make room", async (t) => {
  const { listen, followers } = await followed(t, { mostKinds: 2 });
  const [pods] = [listen("pods"), listen("nodes")];
  assert.throws(
    () => listen("events"),
    (error) => isFault(error, "Throttled"),
  );
  pods.stop();
  listen("events");
  assert.equal(followers.size, 2);
});

test("100,000 changes of a kind leave as many objects as there are", async () => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const machine = (name: string, version: number) => ({
    ...{ apiVersion: "v1", kind: "ConfigMap" },
    metadata: {
      name,
      namespace: "default",
      uid: name,
      resourceVersion: `${version}`,
      creationTimestamp: "",
      managedFields: [{}],
    },
  });
  async function* changes(signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const annotations = { "k8s.io/initial-events-end": "true" };
    yield { type: "BOOKMARK", object: { metadata: { annotations, resourceVersion: "1" } } };
    for (let change = 0; change < 100_000; change++) {
      const name = `m${change % 50}`;
      const type = change % 50 === 49 ? "DELETED" : "MODIFIED";
      yield { type, object: machine(name, change + 2) };
    }
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  }
  const client = {
    watch: async (_: unknown, { signal }: { signal: AbortSignal }) => changes(signal),
  } as unknown as Client;
  let sent = 0;
  const followers = new Followers({
    ...{ client, clock, random, log, most: 100, mostKinds: 1, refused: () => {} },
    lookUp: async () => ConfigMap,
  });
  const listener: FollowerListener = { begin: () => {}, state: () => {}, set: () => void sent++, gone: () => {} };
  const stop = followers.listen(kindNames("configmaps", 1)[0]!, undefined, listener);
  assert.equal(await clock.run(60_000, () => sent === 98_000), true, `${sent} changes came`);
  assert.equal(followers.objects, 49);
  stop();
  await clock.run(60_000);
  assert.deepEqual([followers.objects, clock.pending], [0, 0]);
});
