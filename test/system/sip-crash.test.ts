/** The life of two SIPClusters with a death at each effect of their process: nobody has a host twice, and nothing is kept. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, sampled } from "./api.ts";
import type { Death } from "./mortal.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { nodes, RACK_KEY, SERVICES, SipWorld } from "./sip-world.ts";

/** Both ask at once, one grows by what the other gives back, both go. Resolves with the effects of the first process. */
async function life(death?: Death): Promise<number> {
  const world = await SipWorld.create();
  try {
    const mortal = await world.start(death);
    await world.secret("ssh-private-keys", { id: "KEY" });
    for (const at of [0, 1, 2, 3, 4])
      await world.host(`n${at}`, {
        ...{ label: at < 2 ? "control-plane" : "worker", rack: `r${at}`, address: `10.0.0.${at + 1}` },
      });
    const restart = async (): Promise<void> => {
      if (!mortal.dead) return;
      world.kill();
      await world.start();
    };
    const have = async (name: string, count: number): Promise<void> => {
      await world.until(`${name} has ${count} hosts`, async () => {
        await restart();
        return (await world.ready(name))?.status === "True" && (await world.members(name)).length === count;
      });
    };
    await world.apply("one", { nodes: nodes(1, 1, RACK_KEY), services: SERVICES });
    await world.apply("two", { nodes: nodes(1, 2, RACK_KEY), services: {} });
    await have("one", 2);
    await have("two", 3);
    await world.apply("two", { nodes: nodes(1, 1, RACK_KEY), services: {} });
    await world.apply("one", { nodes: nodes(1, 2, RACK_KEY), services: SERVICES });
    await have("two", 2);
    await have("one", 3);
    for (const name of ["one", "two"]) await world.remove(name);
    await world.until("both are gone", async () => {
      await restart();
      return (await world.cluster("one")) === undefined && (await world.cluster("two")) === undefined;
    });
    assert.deepEqual(await world.made(), []);
    for (const { metadata, spec } of await world.hosts()) {
      assert.equal(spec.consumerRef, undefined, `${metadata.name} was kept`);
      assert.ok(!Object.keys(metadata.labels ?? {}).some((label) => /sip|slipway/.test(label)), metadata.name);
    }
    return mortal.effects;
  } finally {
    await world.close();
  }
}

for (const when of ["before", "after"] as const)
  test(`SIP-6 SIP-7 a process that dies ${when} any effect: two clusters get what they ask for, and nothing is kept`, async () => {
    const effects = await life();
    assert.ok(effects > 30, `only ${effects} effects`);
    for (const atEffect of ofTurn(sampled(numbers(1, effects)), process.env)) await life({ atEffect, when });
  });
