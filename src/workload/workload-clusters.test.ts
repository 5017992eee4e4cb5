import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { Fault, quietLog as log, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient, type Ref, type Transport } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { kubeconfig } from "../pki/kubeconfig.ts";
import { unreachedSince, WorkloadClusters } from "./workload-clusters.ts";

const CLUSTER = { namespace: "default", name: "a" };

/** A workload cluster with one Node, the clients that were opened of it, and a switch by which it does not answer. */
async function scene(t: { after(fn: () => Promise<void>): void }) {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const inside = createClient(api.transport(), { clock, random, log });
  await inside.create(Node, { metadata: { name: "n" }, spec: { providerID: "x://1" } } as never);
  const seen = {
    text: undefined as string | undefined,
    answers: true,
    end: (): void => {},
    opened: 0,
    changes: [] as (string | undefined)[],
  };
  const open = (): Transport => {
    seen.opened++;
    const way = api.transport();
    const unless = async <T>(fails: boolean, answer: () => Promise<T>): Promise<T> => {
      if (fails) throw new Fault("Unavailable", "https://a:6443", "connection refused");
      return await answer();
    };
    return {
      request: (call) => unless(!seen.answers, () => way.request(call)),
      watch: (call) => {
        const cut = new AbortController();
        seen.end = () => cut.abort();
        const signal = AbortSignal.any([cut.signal, ...(call.signal ? [call.signal] : [])]);
        return unless(!seen.answers, () => way.watch({ ...call, signal }));
      },
      close: () => way.close(),
    };
  };
  const clusters = new WorkloadClusters({ clock, random, log, open, kubeconfig: async (_: Ref) => seen.text });
  clusters.onChange((_, node) => void seen.changes.push(node?.metadata.name));
  const given = kubeconfig({ name: "a", server: "https://a:6443", token: "t" });
  return { clock, clusters, inside, seen, given };
}

test("a cluster is reached once its kubeconfig is there, and its Nodes are found by their providerID", async (t) => {
  const { clock, clusters, inside, seen, given } = await scene(t);
  const session = clusters.of(CLUSTER);
  await clock.settle();
  assert.equal(session.isReached, false);
  assert.match(unreachedSince(session), /there is no such Secret yet.*, since \d{4}-/);
  seen.text = given;
  await clock.run(30_000);
  assert.equal(session.isReached, true);
  assert.equal(session.lostAt, undefined);
  assert.deepEqual(
    session.nodesBy("x://1").map(({ metadata }) => metadata.name),
    ["n"],
  );
  assert.equal(session.node("n")?.metadata.name, "n");
  assert.deepEqual(seen.changes, [undefined, "n"]);
  await inside.patch(Node, { name: "n" }, { type: "merge", body: { metadata: { labels: { a: "b" } } } });
  await clock.settle();
  assert.deepEqual(seen.changes, [undefined, "n", "n"]);
  assert.equal(clusters.of(CLUSTER), session);
  assert.equal(seen.opened, 1);
  await clusters.close();
});

test("a cluster that is dropped leaves no timer and no connection, and is opened anew when it is asked for again", async (t) => {
  const { clock, clusters, seen, given } = await scene(t);
  const before = clock.pending;
  seen.text = given;
  clusters.of(CLUSTER);
  await clock.settle();
  await clusters.drop(CLUSTER);
  assert.equal(clock.pending, before);
  clusters.of({ ...CLUSTER });
  await clock.settle();
  assert.equal(seen.opened, 2);
  await clusters.close();
  assert.equal(clock.pending, before);
});

test("a cluster that answers nobody is lost after 50 seconds, not before, and listeners learn both", async (t) => {
  const { clock, clusters, seen, given } = await scene(t);
  seen.text = given;
  const session = clusters.of(CLUSTER);
  await clock.settle();
  seen.changes.length = 0;
  seen.answers = false;
  seen.end();
  await clock.run(49_000);
  assert.equal(session.isReached, true);
  assert.equal(seen.changes.length, 0);
  await clock.run(2_000);
  assert.equal(session.isReached, false);
  assert.deepEqual(seen.changes, [undefined]);
  assert.match(session.why!, /connection refused/);
  seen.answers = true;
  await clock.run(120_000);
  assert.equal(session.isReached, true);
  assert.ok(seen.changes.slice(1).includes(undefined), "listeners learn that it is back");
  await clusters.close();
});
