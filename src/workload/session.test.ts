import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Fault, quietLog as log, rfc3339, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient } from "@slipway/kube";
import { FakeApi, failure } from "@slipway/kube/testing";
import { kubeconfigOf } from "./kubeconfig-secret.ts";
import { LOST_MS, type Session } from "./session.ts";
import { unreachedSince, WorkloadClusters } from "./workload-clusters.ts";

const QUAY = { namespace: "default", name: "quay" };
const NODES = "/api/v1/nodes";
const kubeconfig = (server: string): string =>
  JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
  });
const node = (name: string, providerID?: string): object => ({
  ...{ apiVersion: "v1", kind: "Node", metadata: { name } },
  ...(providerID && { spec: { providerID } }),
});

/** Workload clusters over an API in memory; everything is closed when the test ends. */
function world(t: TestContext) {
  const clock = new VirtualClock();
  const api = new FakeApi();
  api.streamsLists = true;
  const of = { text: kubeconfig("https://10.0.0.1") as string | undefined, opened: [] as string[], closed: 0 };
  const notes: string[] = [];
  const workloads = new WorkloadClusters({
    ...{ clock, random: seededRandom(1), log },
    kubeconfig: async () => of.text,
    open: ({ server }) => {
      of.opened.push(String(server));
      return {
        request: (request) => api.request(request),
        watch: (request) => api.watch(request),
        close: async () => {
          of.closed++;
        },
      };
    },
  });
  t.after(async () => {
    const closing = workloads.close();
    await clock.run(1000);
    await closing;
  });
  const end = workloads.onChange((cluster, changed) => notes.push(`${cluster.name} ${changed?.metadata.name ?? "-"}`));
  return { clock, api, of, notes, workloads, end };
}
const ids = (session: Session, id: string) => session.nodesBy(id).map(({ metadata }) => metadata.name);

test("a cluster is connected to when it is asked for, once, and its Nodes are known by id and by name", async (t) => {
  const { clock, api, of, notes, workloads, end } = world(t);
  api.put(`${NODES}/a`, node("a", "sim://1"));
  api.put(`${NODES}/b`, node("b"));
  assert.deepEqual(of.opened, []);
  const session = workloads.of(QUAY);
  assert.deepEqual([session.client, session.isReached], [undefined, false]);
  assert.match(session.why!, /has not been read/);
  await clock.run(100);
  assert.equal(workloads.of({ apiVersion: "v1", kind: "Cluster", metadata: { ...QUAY } as never }), session);
  assert.equal(of.opened.length, 1);
  assert.match(of.opened[0]!, /10\.0\.0\.1/);
  assert.deepEqual([session.isReached, session.lostAt, session.why], [true, undefined, undefined]);
  assert.deepEqual([ids(session, "sim://1"), ids(session, ""), session.node("b")?.metadata.name], [["a"], [], "b"]);
  assert.deepEqual(notes, ["quay -", "quay a", "quay b"]);
  api.put(`${NODES}/c`, node("c", "sim://3"));
  await clock.run(100);
  assert.deepEqual([notes.at(-1), ids(session, "sim://3")], ["quay c", ["c"]]);
  end();
  api.put(`${NODES}/d`, node("d"));
  await clock.run(100);
  assert.equal(notes.at(-1), "quay c", "who no longer listens is not called");
});

test("a kubeconfig that is missing is waited for, and read again after a second, then after twice as long each time, at most half a minute", async (t) => {
  const { clock, of, workloads } = world(t);
  const text = of.text;
  of.text = undefined;
  const session = workloads.of(QUAY);
  await clock.run(100);
  assert.match(session.why!, /no such Secret/);
  // After 1, 3 and 7 seconds.
  await clock.run(3_000);
  of.text = text;
  await clock.run(3_800);
  assert.equal(session.isReached, false);
  await clock.run(200);
  assert.equal(session.isReached, true);

  of.text = undefined;
  const other = workloads.of({ ...QUAY, name: "other" });
  await clock.run(3_600_000);
  of.text = text;
  await clock.run(30_000);
  assert.equal(other.isReached, true);
});

test("a watch that ends and is opened again is no loss; one that stays away is, after 50 s, and says since when", async (t) => {
  const { clock, api, notes, workloads } = world(t);
  const session = workloads.of(QUAY);
  await clock.run(5000);
  notes.length = 0;
  api.disconnect();
  await clock.run(5000);
  assert.deepEqual([session.isReached, session.lostAt, notes], [true, undefined, []]);
  api.intercept = () => failure(503, "ServiceUnavailable", "not now");
  api.disconnect();
  const from = clock.now();
  await clock.run(LOST_MS - 1);
  assert.deepEqual([session.isReached, session.lostAt, notes], [true, from, []]);
  await clock.run(1);
  assert.deepEqual([session.isReached, notes], [false, ["quay -"]]);
  assert.equal(unreachedSince(session), `${session.why}, since ${rfc3339(from)}`);
  api.intercept = () => undefined;
  await clock.run(120_000);
  assert.equal(session.isReached, true);
  assert.ok(notes.filter((note) => note === "quay -").length > 1, "found again");
});

test("after five failures in a row the kubeconfig is read again; after an Unauthorized at once", async (t) => {
  const { clock, api, of, workloads } = world(t);
  workloads.of(QUAY);
  await clock.run(5000);
  let asked = 0;
  api.intercept = () => {
    if (of.opened.length === 1) asked++;
    return failure(503, "ServiceUnavailable", "not now");
  };
  of.text = kubeconfig("https://10.0.0.2");
  api.disconnect();
  await clock.run(10 * 60_000);
  assert.ok(of.opened.length > 1, "opened again");
  assert.match(of.opened[1]!, /10\.0\.0\.2/);
  assert.equal(asked, 5);
  assert.ok(of.opened.length - of.closed <= 1, "what was open before is closed");
  api.intercept = () => undefined;
  await clock.run(60_000);
  const opened = of.opened.length;
  api.intercept = () => failure(401, "Unauthorized", "who are you");
  api.disconnect();
  await clock.run(10_000);
  // After 1, 3 and 7 seconds, and once more when it may.
  assert.equal(of.opened.length, opened + 3);
  api.intercept = () => undefined;
  await clock.run(30_000);
  assert.equal(of.opened.length, opened + 4);
});

test("a cluster that is dropped is closed, and connected to anew when it is asked for again", async (t) => {
  const { clock, api, of, workloads } = world(t);
  const session = workloads.of(QUAY);
  await clock.run(100);
  const dropping = workloads.drop(QUAY);
  await clock.run(100);
  await dropping;
  assert.deepEqual([of.closed, api.watchers], [1, 0]);
  assert.notEqual(workloads.of(QUAY), session);
  await clock.run(100);
  assert.equal(of.opened.length, 2);
  await workloads.drop({ name: "never" });
});

test("nothing is left behind: no connection, no watch, no timer", async (t) => {
  const { clock, api, workloads } = world(t);
  workloads.of(QUAY);
  workloads.of({ ...QUAY, name: "other" });
  await clock.run(5000);
  api.intercept = () => failure(503, "ServiceUnavailable", "not now");
  api.disconnect();
  await clock.run(1000);
  const closing = workloads.close();
  await clock.run(1000);
  await closing;
  assert.deepEqual([api.watchers, clock.pending], [0, 0]);
});

test("why a cluster is not reached is said even where nobody knows", () => {
  assert.equal(unreachedSince({ lostAt: undefined, why: undefined }), "it does not answer");
});

test("a cluster's kubeconfig is the value of its Secret", async () => {
  const api = new FakeApi();
  const client = createClient(api, { clock: new VirtualClock(), random: seededRandom(1), log });
  assert.equal(await kubeconfigOf(client, QUAY), undefined);
  const path = "/api/v1/namespaces/default/secrets/quay-kubeconfig";
  api.put(path, { metadata: {}, data: { other: "" } });
  assert.equal(await kubeconfigOf(client, QUAY), undefined);
  api.put(path, { metadata: {}, data: { value: Buffer.from("text").toString("base64") } });
  assert.equal(await kubeconfigOf(client, QUAY), "text");
  await assert.rejects(
    kubeconfigOf({ find: async () => Promise.reject(new Fault("Forbidden", "Secret", "no right")) } as never, QUAY),
    /no right/,
  );
});
