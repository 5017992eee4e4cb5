/** The oldest kube-apiserver that is promised: a pool's life on it, the operator with leader election and the rights that `deploy/` ships. */
import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { assetsFolder } from "../../src/kubernetes/assets.ts";
import { whyNotHere } from "./cluster.ts";
import { startLive, until } from "./live.ts";

const OLDEST = "kube-apiserver-1.34";
const skip =
  (await whyNotHere()) ??
  (await access(join(assetsFolder(process.env), OLDEST)).then(
    () => false,
    () => `no ${OLDEST} beside the others: run \`make earlier-releases\``,
  ));

test("a pool grows, shrinks and is given back on Kubernetes 1.34", { skip }, async (t) => {
  const live = await startLive({ apiServer: OLDEST });
  t.after(() => live.close());
  const { body } = await live.cluster.transport.request({ method: "GET", path: "/version" });
  assert.match((body as { gitVersion: string }).gitVersion, /^v1\.34\./);
  await live.operator();
  for (const size of [3, 1]) {
    await live.scale(size);
    await live.whole(size);
  }
  await live.cluster.client.delete(InstancePool, { name: "rack" });
  await until("everything is given back", () => live.metal.equinix.sim.devices().length === 0, 60_000, live.story);
  assert.equal(live.metal.equinix.sim.boughtEver().length, 3);
});
