/** Names of any length, and what each node has of its own, through the API: it refuses what does not fit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sample, VinoWorld } from "./vino-world.ts";

test("VINO-2 VINO-13 nodes and Vinos with names as long as they may be have hosts, each with its own node's bridge as gateway", async (t) => {
  const world = await VinoWorld.running(t);
  const long = `${"leviathan-".repeat(6)}abc.${"whale-".repeat(10)}abc`;
  const nodes = [`${long}.x`, `${long}.y`];
  for (const node of nodes) await world.join(node);
  const name = `v${"-vino".repeat(30)}`;
  await world.apply(name, sample({ masters: 2 }));
  const vino = await world.untilReady(name);
  assert.equal(vino.status?.hosts, "4/4");
  const hosts = await world.hosts();
  assert.equal(new Set(hosts.map(({ spec }) => spec.bootMACAddress)).size, 4);
  const gateways = await Promise.all(
    hosts.map(async ({ metadata }) => {
      const { networkData } = await world.secretTexts(`${metadata.name}-network-data`);
      return JSON.parse(networkData!).networks[0].routes[0].gateway as string;
    }),
  );
  assert.deepEqual(gateways.toSorted(), ["192.168.2.10", "192.168.2.10", "192.168.2.13", "192.168.2.13"]);
  await world.remove(name);
  await world.untilGone(name);
  assert.deepEqual(await world.left(), []);
});

test("VINO-13 VINO-17 a MAC prefix that is none is named; a Vino that excludes no cores is ready as soon as it is mended", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  const { configuration: _, ...spec } = sample();
  const [network] = spec.networks;
  await world.apply("test", { ...spec, networks: [{ ...network, macPrefix: "aa:bb" }] });
  await world.until("it is told", async () =>
    /macPrefix: "aa:bb" is no MAC/.test((await world.ready("test"))?.message ?? ""),
  );
  await world.apply("test", spec);
  await world.untilReady("test");
});
