/**
 * Runs in a network namespace of its own, by `dropped-packets.test.ts`: a real kube-apiserver on two addresses, one of which
 * goes silent. Packets from it are dropped by the kernel: open connections hear nothing any more, new ones hang.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { createClient, type Transport } from "@slipway/kube";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { startCluster, transportOf } from "./cluster.ts";
import { churn, following, prepareChurn } from "./follower.ts";

const SILENT = "127.0.0.2";
const ip = (command: string): Buffer => execFileSync("ip", command.split(" "));
const drop = (): Buffer => ip(`rule add pref 5 from ${SILENT} blackhole`);
const pass = (): Buffer => ip("rule del pref 5");

ip("link set lo up");
// The kernel looks up local addresses first; other rules can come before only when that one is not the first.
ip("rule add pref 10 lookup local");
ip("rule del pref 0");

const cluster = await startCluster({
  host: SILENT,
  apiServerFlags: ["--bind-address=0.0.0.0", `--advertise-address=${SILENT}`],
});
try {
  const { port, kubeconfigFile } = cluster.plane;
  const connection = await loadConnection({ kubeconfig: kubeconfigFile, env: {}, clock });
  const steady = createHttpTransport({ ...connection, server: `https://127.0.0.1:${port}` });
  const judge = createClient(steady, { clock, random, log: quietLog });
  await prepareChurn(judge);

  const inner = await transportOf(cluster.plane);
  let watches = 0;
  const watch: Transport["watch"] = (request) => {
    watches++;
    return inner.watch(request);
  };
  await following({ judge, transport: { ...inner, watch }, silenceMs: 6_000 }, async (follower) => {
    const before = watches;
    drop();
    await churn(judge, 20);
    await clock.sleep(1_000);
    assert.equal(await follower.isEqual(judge), false, "the packets were lost");
    pass();
    console.log(`lost for a second: equal after ${await follower.equals(judge, 60_000)} ms, on the same connection`);
    assert.equal(watches, before);

    drop();
    await churn(judge, 50);
    await clock.sleep(15_000);
    pass();
    console.log(`lost for 15 s: equal after ${await follower.equals(judge, 60_000)} ms, on a new one`);
    assert.ok(watches > before);
  });
  await steady.close();
} finally {
  await cluster.close();
}
