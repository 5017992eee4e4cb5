/** The operator's process and the API server's are ended at random moments of a pool's life, in real time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock, seededRandom } from "@slipway/base";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { whyNotHere } from "./cluster.ts";
import { startLive, until } from "./live.ts";
import type { Replica } from "./replica.ts";

const skip = (await whyNotHere()) ?? false;
const SEED = Number(process.env.SEED ?? clock.now() % 100_000);
/** How the pool grows and shrinks, and how many machines that buys in all. */
const SIZES = [3, 6, 2];
const BOUGHT = 6;

test(`the operator and the API server may be ended at any moment: the pool ends as wanted, nothing is bought twice (SEED=${SEED})`, {
  skip,
}, async (t) => {
  const live = await startLive();
  t.after(() => live.close());
  const draw = seededRandom(SEED);
  // Nobody is elected: who is killed here is surely gone, and the next need not wait for a lease.
  const start = (): Promise<Replica> => live.operator("--no-leader-election", "--no-install-crds");
  let operator = await live.operator("--no-leader-election");
  const shown: string[] = [];

  async function mischief(): Promise<void> {
    const signal = draw.fraction() < 0.5 ? "KILL" : "TERM";
    const whose = draw.int(3);
    await clock.sleep(draw.int(1_500));
    shown.push(`${["operator", "API server", "both"][whose]}: ${signal}`);
    if (whose !== 0) await live.cluster.plane.stopApiServer(signal);
    if (whose !== 1) await operator.end(signal === "KILL" ? "SIGKILL" : "SIGTERM");
    if (whose !== 0) await live.cluster.plane.startApiServer();
    if (whose !== 1) operator = await start();
  }

  for (const size of SIZES) {
    await live.scale(size);
    for (let times = 0; times < 2; times++) await mischief();
    await live.whole(size);
  }
  await live.cluster.client.delete(InstancePool, { name: "rack" });
  await mischief();
  await until("everything is given back", () => live.metal.equinix.sim.devices().length === 0, 180_000, live.story);
  t.diagnostic(shown.join(", "));
  assert.equal(live.metal.equinix.sim.boughtEver().length, BOUGHT);
});
