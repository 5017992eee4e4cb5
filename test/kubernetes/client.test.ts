/** The reflector and the client on a real kube-apiserver while the way to it breaks: after each trouble the cache equals the server's list. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import type { Client, Transport } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { type Connection, createHttpTransport, loadConnection } from "@slipway/kube/http";
import { type Cluster, startCluster, transportOf, whyNotHere } from "./cluster.ts";
import { churn, following, hasty, prepareChurn, telling } from "./follower.ts";
import { type TcpProxy, tcpProxy } from "./tcp-proxy.ts";

const skip = (await whyNotHere()) ?? false;
let cluster: Cluster;
let judge: Client;

before(async () => {
  if (skip) return;
  cluster = await startCluster();
  judge = cluster.client;
  await prepareChurn(judge);
});
after(() => cluster?.close());

/** The administrator's connection, by a proxy. */
async function viaProxy(work: (proxy: TcpProxy, transport: Transport) => Promise<void>): Promise<void> {
  const proxy = await tcpProxy(cluster.plane.port);
  try {
    await work(proxy, createHttpTransport({ ...(await administrator()), server: `https://127.0.0.1:${proxy.port}` }));
  } finally {
    await proxy.close();
  }
}

function administrator(): Promise<Connection> {
  return loadConnection({ kubeconfig: cluster.plane.kubeconfigFile, env: {}, clock });
}

test("watches that the server ends each second lose nothing, and nothing is listed anew for it", {
  skip,
}, async (t) => {
  const inner = await transportOf(cluster.plane);
  let beginnings = 0;
  const transport = hasty(telling(inner, () => beginnings++));
  await following({ judge, transport }, async (follower) => {
    for (let second = 0; second < 5; second++) {
      await churn(judge, 20);
      await clock.sleep(700);
    }
    t.diagnostic(`equal after ${await follower.equals(judge, 60_000)} ms`);
    assert.equal(beginnings, 1);
  });
});

for (const signal of ["TERM", "KILL"] as const) {
  test(`an API server that is restarted (${signal}) is followed on after its return`, { skip }, async (t) => {
    await following({ judge, transport: await transportOf(cluster.plane) }, async (follower) => {
      await churn(judge, 10);
      await cluster.plane.stopApiServer(signal);
      await clock.sleep(2_000);
      await cluster.plane.startApiServer();
      await churn(judge, 10);
      t.diagnostic(`equal after ${await follower.equals(judge, 60_000)} ms`);
    });
  });
}

test("slow answers only make the cache late", { skip }, async (t) => {
  await viaProxy(async (proxy, transport) => {
    await following({ judge, transport, silenceMs: 3_000 }, async (follower) => {
      proxy.delayMs = 400;
      await churn(judge, 30);
      t.diagnostic(`equal after ${await follower.equals(judge, 60_000)} ms`);
    });
  });
});

test("a watch whose connection died without a word is opened anew after its allowed silence; a request on such a connection ends with its own time", {
  skip,
}, async (t) => {
  await viaProxy(async (proxy, transport) => {
    await following({ judge, transport, silenceMs: 3_000 }, async (follower) => {
      // A connection that is kept for the next request.
      await follower.client.get(Namespace, { name: "default" });
      proxy.blackHole();
      await churn(judge, 10);
      assert.equal(await follower.isEqual(judge), false, "the connection is dead");
      proxy.heal();
      const hung = follower.client.get(Namespace, { name: "default" }, { timeoutMs: 2_000 });
      await assert.rejects(hung, { code: "Timeout" });
      assert.ok(await follower.client.get(Namespace, { name: "default" }, { timeoutMs: 2_000 }));
      await churn(judge, 30);
      t.diagnostic(`equal after ${await follower.equals(judge, 60_000)} ms`);
    });
  });
});
