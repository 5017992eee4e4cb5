/** What pages see live: by watches with the user's own credentials, on the embedded API. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock } from "@slipway/base";
import { ConfigMap } from "@slipway/kube/core";
import { STREAM_TIMES } from "./event-stream.ts";
import { Browser, type TestConsole, TOKENS, testConsole } from "./testing.ts";

async function started(t: TestContext, ...of: Parameters<typeof testConsole>): Promise<TestConsole> {
  const console = await testConsole(...of);
  t.after(() => console.close());
  return console;
}

const map = (name: string) => ({ metadata: { name, namespace: "default" }, data: { a: "1" } });
const HERE = "configmaps&namespace=default";

test("a page gets what there is, then each change, without managed fields", async (t) => {
  const { url, client } = await started(t);
  await client.create(ConfigMap, map("first"));
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const events = await viewer.events(HERE);
  assert.equal(events.response.headers["content-type"], "text/event-stream; charset=utf-8");
  assert.equal(events.response.headers["cache-control"], "no-store");
  assert.match(String(events.response.headers["content-security-policy"]), /sandbox/);
  await events.state("configmaps", "synced");
  const [begin, ...rest] = events.received;
  assert.deepEqual(begin, { name: "kind", data: { kind: "configmaps", state: "begin" } });
  assert.equal(rest.at(-1)?.data.state, "synced");
  assert.ok(events.changes("configmaps").includes("set first"));
  await client.create(ConfigMap, map("second"));
  await client.delete(ConfigMap, { namespace: "default", name: "first" });
  await events.until("both changes", (one) =>
    ["set second", "gone first"].every((change) => one.changes("configmaps").includes(change)),
  );
  assert.doesNotMatch(JSON.stringify(events.received), /managedFields/);
  const sent = events.received.flatMap(({ data }) => data.changes ?? []).find(({ type }) => type === "set");
  const { apiVersion, kind } = sent!.object as unknown as { apiVersion: string; kind: string };
  assert.deepEqual([apiVersion, kind], ["v1", "ConfigMap"]);
  events.close();
});

test("who may not watch is shown nothing of what another user watches at that moment, but the API's refusal", async (t) => {
  const { url, client } = await started(t);
  await client.create(ConfigMap, map("private"));
  const [admin, viewer, nobody] = await Promise.all(
    [TOKENS.admin, TOKENS.viewer, TOKENS.nobody].map((token) => Browser.signIn(url, token)),
  );
  const seen = await admin!.events("configmaps,nodes");
  await seen.state("configmaps", "synced");
  const [ofViewer, ofNobody] = [await viewer!.events("configmaps,nodes"), await nobody!.events(HERE)];
  await Promise.all([
    ofViewer.state("configmaps", "denied"),
    ofViewer.state("nodes", "denied"),
    ofNobody.state("configmaps", "denied"),
  ]);
  await client.create(ConfigMap, map("more"));
  await seen.until("the change", (one) => one.changes("configmaps").includes("set more"));
  for (const events of [ofViewer, ofNobody]) assert.deepEqual(events.changes("configmaps"), []);
  const refusal = ofNobody.received.find(({ data }) => data.state === "denied")?.data.message;
  assert.match(refusal!, /User "nobody" cannot watch resource "configmaps"/);
  for (const events of [seen, ofViewer, ofNobody]) events.close();
});

test("kinds that are no kinds, Secrets and too many are refused; a kind that is not served is missing", async (t) => {
  const { url } = await started(t);
  const admin = await Browser.signIn(url, TOKENS.admin);
  const status = async (query: string) => (await admin.ask(`/console/events${query}`)).status;
  const many = Array.from({ length: 65 }, (_, i) => `a${i}.example`).join(",");
  const bad = [
    "",
    "?kinds=",
    "?kinds=../x",
    "?kinds=a/b",
    `?kinds=${many}`,
    "?kinds=nodes&namespace=..%2fx",
    "?kinds=nodes&kinds=pods",
  ];
  for (const query of bad) assert.equal(await status(query), 400, query);
  assert.equal(await status("?kinds=nodes,secrets"), 403);
  const events = await admin.events("sloops.sea.example,things");
  await events.state("sloops.sea.example", "missing");
  await events.state("things", "missing");
  events.close();
});

test("pages of one session share a watch, and a session's pages are bounded", async (t) => {
  const { url, counts } = await started(t);
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const pages = [];
  for (let i = 0; i < 12; i++) {
    pages.push(await viewer.events(HERE));
    await pages[i]!.state("configmaps", "synced");
  }
  assert.deepEqual(counts(), { sessions: 1, follows: 1 });
  assert.equal((await viewer.ask(`/console/events?kinds=${HERE}`)).status, 429);
  for (const events of pages) events.close();
});

test("a reader who stands still is cut off on a real socket, and gets nothing more; another page of the same session has everything", async (t) => {
  const cut = Promise.withResolvers<void>();
  const times = { ...STREAM_TIMES, stalledMs: 777 };
  const after: typeof systemClock.after = (ms, run) =>
    systemClock.after(ms, () => {
      run();
      if (ms === times.stalledMs) cut.resolve();
    });
  const clock: typeof systemClock = Object.assign(Object.create(systemClock), { after });
  const { url, client } = await started(t, { times }, { clock });
  // More than the buffers of two sockets hold.
  for (let i = 0; i < 40; i++)
    await client.create(ConfigMap, { ...map(`big-${i}`), data: { filler: "x".repeat(900_000) } });
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const still = await viewer.events(HERE);
  still.response.pause();
  const reading = await viewer.events(HERE);
  await reading.state("configmaps", "synced");
  await cut.promise;
  await client.create(ConfigMap, map("later"));
  await reading.until("the change", (one) => one.changes("configmaps").includes("set later"));
  still.response.resume();
  await still.until("end", ({ ended }) => ended);
  const got = still.changes("configmaps").filter((change) => change.startsWith("set big-")).length;
  assert.ok(got < 40, `${got} of 40 objects were sent to it`);
  assert.ok(!still.changes("configmaps").includes("set later"));
  reading.close();
});

test("after the API was away a page is told that it waits, and then what there is", async (t) => {
  const { url, client, stopApi, startApi } = await started(t);
  await client.create(ConfigMap, map("before"));
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const events = await viewer.events(HERE);
  await events.state("configmaps", "synced");
  await stopApi();
  await events.state("configmaps", "waiting");
  await startApi();
  await client.create(ConfigMap, map("after"));
  await events.until("the change", (one) => one.changes("configmaps").includes("set after"));
  await events.until("synced", ({ received }) => received.findLast(({ data }) => data.state)?.data.state === "synced");
  assert.ok(!events.changes("configmaps").includes("gone before"));
  events.close();
});

test("credentials that the API refuses in the middle of a stream end the session and its streams", async (t) => {
  const { url, counts, revoke, stopApi, startApi } = await started(t);
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const events = await viewer.events(HERE);
  await events.state("configmaps", "synced");
  revoke(TOKENS.viewer);
  // The API lets a watch that is open go on; its end brings the question anew.
  await stopApi();
  await startApi();
  await events.until("end of the stream", ({ ended }) => ended);
  assert.equal(counts().sessions, 0);
  assert.equal((await viewer.ask(`/console/events?kinds=${HERE}`)).status, 401);
});

test("credentials that the API refuses to a request end the session", async (t) => {
  const { url, counts, revoke } = await started(t);
  const admin = await Browser.signIn(url, TOKENS.admin);
  const events = await admin.events(HERE);
  await events.state("configmaps", "synced");
  revoke(TOKENS.admin);
  const { status, headers } = await admin.ask("/console/k8s/api/v1/nodes");
  assert.equal(status, 401);
  assert.match(headers["set-cookie"]![0]!, /^slipway-console=; .*Max-Age=0/);
  await events.until("end of the stream", ({ ended }) => ended);
  assert.equal(counts().sessions, 0);
});
