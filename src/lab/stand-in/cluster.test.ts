import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { HttpAnswer } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Node } from "@slipway/kube/core";
import { SiteRig, TOKEN, VIP } from "../../sim/site/rig.ts";
import {
  BEAT_PATH,
  JOIN_PATH,
  SILENT_AFTER_MS,
  SITE_SILENT_MS,
  type StandInCluster,
  standInCluster,
} from "./cluster.ts";

const UUID = "534c4950-5741-4000-8000-000000000001";
const SYSTEM = {
  hostname: "lab-pool-a",
  serverUrl: `https://${VIP}:443`,
  token: TOKEN,
  labels: { "slipway.dev/instance-uid": "u1" },
  role: "worker",
  cordoned: false,
  version: "v1.8.1",
  uuid: UUID,
  address: "10.77.0.50",
  cards: [],
  kernel: "6.12.0",
  cpus: 1,
  memoryMiB: 990,
};

let rig: SiteRig;
let cluster: StandInCluster;
before(async () => {
  rig = await SiteRig.create({ silentMs: SITE_SILENT_MS });
  cluster = standInCluster({ site: rig.site, joinToken: TOKEN, clock: rig.clock });
});
after(async () => {
  cluster.close();
  await rig.close();
});

async function post(path: string, body: object): Promise<{ status: number; reason?: string }> {
  const request = { method: "POST", url: `https://${VIP}${path}`, headers: {}, remote: "10.77.0.50" } as const;
  const asked: Promise<HttpAnswer> = cluster.handler({ ...request, body: JSON.stringify(body) });
  const answer = await rig.whileTimePasses(asked);
  return { status: answer.status, ...(answer.body === "" ? {} : JSON.parse(answer.body)) };
}

const readiness = async (name: string): Promise<string | undefined> =>
  (await rig.client.find(Node, { name }))?.status?.conditions?.find(({ type }) => type === "Ready")?.status;

test("a system is let in by the cluster's token alone, at its address, and is a Node that says what it is", async () => {
  assert.deepEqual(await post(JOIN_PATH, { ...SYSTEM, token: "guessed" }), {
    status: 403,
    reason: "the join token is not this cluster's",
  });
  const elsewhere = await post(JOIN_PATH, { ...SYSTEM, serverUrl: "https://192.0.2.1" });
  assert.equal(elsewhere.reason, "no cluster answers at https://192.0.2.1");
  assert.equal((await post(JOIN_PATH, { hostname: "a" })).status, 400);
  assert.equal(await rig.client.find(Node, { name: "lab-pool-a" }), undefined);

  assert.equal((await post(JOIN_PATH, SYSTEM)).status, 200);
  const node = await rig.client.get(Node, { name: "lab-pool-a" });
  const { nodeInfo, capacity, addresses } = node.status!;
  assert.equal(nodeInfo?.osImage, "Slipway's stand-in for Harvester v1.8.1");
  assert.deepEqual([nodeInfo?.kernelVersion, nodeInfo?.systemUUID], ["6.12.0", UUID]);
  assert.deepEqual([capacity?.cpu, capacity?.memory, addresses?.[0]?.address], ["1", "990Mi", "10.77.0.50"]);
  assert.equal(node.metadata.labels?.["slipway.dev/instance-uid"], "u1");
  assert.equal(await readiness("lab-pool-a"), "True");
});

test("another machine of the same name is refused while the Node is there", async () => {
  const other = await post(JOIN_PATH, { ...SYSTEM, uuid: "534c4950-5741-4000-8000-000000000002" });
  assert.deepEqual(other, { status: 403, reason: "a node named lab-pool-a is in the cluster already" });
});

test("a system that speaks stays Ready; one that is silent is not, and joins again when it is back", async () => {
  const beat = { uuid: UUID, token: TOKEN };
  for (let past = 0; past < 2 * SILENT_AFTER_MS; past += 10_000) {
    await rig.clock.run(10_000);
    assert.equal((await post(BEAT_PATH, beat)).status, 204);
  }
  assert.equal(await readiness("lab-pool-a"), "True");

  await rig.clock.run(SILENT_AFTER_MS + SITE_SILENT_MS + 1_000);
  assert.equal(await readiness("lab-pool-a"), "Unknown");
  assert.equal((await post(BEAT_PATH, beat)).status, 404);
  assert.equal((await post(JOIN_PATH, SYSTEM)).status, 200);
  assert.equal(await readiness("lab-pool-a"), "True");
});

test("a beat with another token, a strange path and a strange method are refused", async () => {
  assert.equal((await post(BEAT_PATH, { uuid: UUID, token: "guessed" })).status, 403);
  assert.equal(
    (await cluster.handler({ method: "POST", url: `https://${VIP}/`, headers: {}, remote: "" })).status,
    404,
  );
  const got = await cluster.handler({ method: "GET", url: `https://${VIP}${JOIN_PATH}`, headers: {}, remote: "" });
  assert.equal(got.status, 405);
  const unread = { method: "POST", url: `https://${VIP}${BEAT_PATH}`, headers: {}, remote: "" } as const;
  assert.equal((await cluster.handler({ ...unread, body: "no JSON" })).status, 403);
});

test("a cluster that is closed has no members any more, and waits for none", async () => {
  const lost: string[] = [];
  const site = { join: async () => ({ is: "joined" }) as never, powerLost: (uuid: string) => void lost.push(uuid) };
  const clock = new VirtualClock();
  const closing = standInCluster({ site, joinToken: TOKEN, clock });
  const ask = async (path: string, body: object) => {
    const request = { method: "POST", url: `https://${VIP}${path}`, headers: {}, remote: "" } as const;
    return (await closing.handler({ ...request, body: JSON.stringify(body) })).status;
  };
  const beat = { uuid: UUID, token: TOKEN };
  assert.deepEqual([await ask(JOIN_PATH, SYSTEM), await ask(BEAT_PATH, beat)], [200, 204]);
  closing.close();
  assert.equal(await ask(BEAT_PATH, beat), 404);
  await clock.run(2 * SILENT_AFTER_MS);
  assert.deepEqual(lost, []);
});
