/** A cache in the midst of troubles drawn from a seed, one after the other and two at a time: after each it equals the server's list. */
import { test } from "node:test";
import { systemClock as clock, seededRandom } from "@slipway/base";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { startCluster, whyNotHere } from "./cluster.ts";
import { churn, following, hasty, prepareChurn } from "./follower.ts";
import { tcpProxy } from "./tcp-proxy.ts";

const skip = (await whyNotHere()) ?? false;
const SEED = Number(process.env.SEED ?? clock.now() % 100_000);
const SOAK_MS = Number(process.env.SOAK_SECONDS ?? 45) * 1000;
/** A silence of 2 s is noticed, a connection is made anew after back-off, and a request that hangs has its time besides. */
const EQUAL_MS = 60_000;

test(`whatever breaks on the way, the cache equals the server's list in the end (SEED=${SEED})`, {
  skip,
}, async (t) => {
  const cluster = await startCluster();
  const proxy = await tcpProxy(cluster.plane.port);
  t.after(async () => {
    await proxy.close();
    await cluster.close();
  });
  const { client: judge, plane } = cluster;
  await prepareChurn(judge);
  const draw = seededRandom(SEED);
  const pause = (): Promise<void> => clock.sleep(draw.int(3_000));
  const troubles: Record<string, () => Promise<void>> = {
    "slow for a while": async () => {
      proxy.delayMs = 20 + draw.int(200);
      await churn(judge, 5);
      await pause();
      proxy.delayMs = 0;
    },
    "silent for a while": async () => {
      proxy.blackHole();
      await churn(judge, 10);
      await pause();
      proxy.heal();
    },
    "every connection cut": async () => proxy.cut(),
    "server restarted": async () => {
      await plane.stopApiServer("KILL");
      await pause();
      await plane.startApiServer();
    },
  };
  const names = Object.keys(troubles);
  const connection = await loadConnection({ kubeconfig: plane.kubeconfigFile, env: {}, clock });
  const inner = createHttpTransport({ ...connection, server: `https://127.0.0.1:${proxy.port}` });
  let slowest = { ms: 0, after: "" };
  let times = 0;
  await following(
    { judge, transport: draw.fraction() < 0.5 ? hasty(inner) : inner, silenceMs: 2_000 },
    async (follower) => {
      for (const end = clock.now() + SOAK_MS; clock.now() < end; times++) {
        const chosen = [names[draw.int(names.length)]!, names[draw.int(names.length)]!];
        for (const name of chosen) await troubles[name]!();
        await churn(judge, 10);
        const ms = await follower.equals(judge, EQUAL_MS);
        if (ms > slowest.ms) slowest = { ms, after: chosen.join(", then ") };
      }
    },
  );
  t.diagnostic(`${times} pairs of troubles; the longest wait was ${slowest.ms} ms, after: ${slowest.after}`);
});
