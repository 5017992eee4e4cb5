/** A server that holds back (429) and one that forgets (410): the client waits, or asks anew. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { allowFollowing, boundToken } from "./accounts.ts";
import { type Cluster, startCluster, whyNotHere } from "./cluster.ts";
import { churn, Follower, following, NAMESPACE, prepareChurn, telling } from "./follower.ts";
import { until } from "./live.ts";
import { tcpProxy } from "./tcp-proxy.ts";

const skip = (await whyNotHere()) ?? false;
let cluster: Cluster;
let judge: Client;

before(async () => {
  if (skip) return;
  cluster = await startCluster({
    apiServerFlags: [
      // One request at a time, unless it is an administrator's.
      "--enable-priority-and-fairness=false",
      "--max-requests-inflight=1",
      "--max-mutating-requests-inflight=1",
      // What etcd has forgotten is forgotten.
      "--watch-cache=false",
    ],
  });
  judge = cluster.client;
  await prepareChurn(judge);
  await allowFollowing(judge);
});
after(() => cluster?.close());

test("a crowd that is asked to come later (429) does so, and every cache is filled", { skip }, async (t) => {
  const { server, ca } = await loadConnection({ kubeconfig: cluster.plane.kubeconfigFile, env: {}, clock });
  const token = await boundToken(judge, cluster.transport, "crowd");
  let refused = 0;
  const member = (): Transport => {
    const inner = createHttpTransport({ server, ca: ca!, authorization: async () => `Bearer ${token}` });
    const request: Transport["request"] = async (asked) => {
      const answer = await inner.request(asked);
      if (answer.status === 429) refused++;
      return answer;
    };
    return { ...inner, request };
  };
  await churn(judge, 30);
  const crowd = Array.from({ length: 40 }, () => new Follower(member()));
  try {
    const took = await Promise.all(crowd.map((follower) => follower.equals(judge, 60_000)));
    // All at once, several times over: each is asked to come later, and comes.
    const allAtOnce = async (): Promise<void> => {
      const lists = crowd.flatMap(({ client }) =>
        [1, 2, 3, 4].map(() => client.list(ConfigMap, { namespace: NAMESPACE })),
      );
      for (const { items } of await Promise.all(lists)) assert.equal(items.length, crowd[0]!.store.size);
    };
    // A server that gets one processor now and then may answer each before it takes the next.
    await until(
      "one of the crowd is asked to come later",
      async () => {
        await allAtOnce();
        return refused > 0;
      },
      60_000,
    );
    t.diagnostic(`${refused} requests were refused; all equal after ${Math.max(...took)} ms`);
  } finally {
    await Promise.all(crowd.map((follower) => follower.close()));
  }
});

test("a version that was compacted away while the connection was dead (410) leads to a new list", {
  skip,
}, async (t) => {
  const proxy = await tcpProxy(cluster.plane.port);
  const connection = await loadConnection({ kubeconfig: cluster.plane.kubeconfigFile, env: {}, clock });
  let beginnings = 0;
  const inner = createHttpTransport({ ...connection, server: `https://127.0.0.1:${proxy.port}` });
  const transport = telling(inner, () => beginnings++);
  try {
    await following({ judge, transport, silenceMs: 2_000 }, async (follower) => {
      assert.equal(beginnings, 1);
      proxy.blackHole();
      await churn(judge, 50);
      await compact();
      proxy.heal();
      t.diagnostic(`equal after ${await follower.equals(judge, 60_000)} ms`);
      assert.equal(beginnings, 2);
    });
  } finally {
    await proxy.close();
  }
});

test("a list whose pages were compacted away between two of them is whole and of one version", { skip }, async () => {
  await churn(judge, 40);
  const inner = cluster.transport;
  let pages = 0;
  const request: Transport["request"] = async (asked) => {
    const answer = await inner.request(asked);
    if (pages++ === 0) {
      await churn(judge, 10);
      await compact();
    }
    return answer;
  };
  const client = createClient({ ...inner, request }, { clock, random, log: quietLog });
  const { items } = await client.list(ConfigMap, { namespace: NAMESPACE, limit: 2 });
  const whole = await judge.list(ConfigMap, { namespace: NAMESPACE });
  assert.deepEqual(items, whole.items);
  assert.equal(pages, 3, "the first page, the one that was gone, and the whole list");
});

/** Forgets every version but the last one, as etcd does with old ones after some minutes. */
async function compact(): Promise<void> {
  const mark = { name: "mark", namespace: "default" };
  const { metadata } = await judge.create(ConfigMap, { metadata: mark });
  await judge.delete(ConfigMap, mark);
  const body = JSON.stringify({ revision: metadata.resourceVersion, physical: true });
  const answer = await fetch(`${cluster.plane.etcd}/v3/kv/compaction`, { method: "POST", body });
  assert.equal(answer.status, 200, await answer.text());
}
