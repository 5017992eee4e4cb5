/** The manifests of 2019 on a netboot outside of the cluster: the operator dies at each effect of their life, the netboot at each of its writes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { numbers, sampled } from "./api.ts";
import { type Death, successor } from "./mortal.ts";
import { OLD_MANIFESTS } from "./plunder-world.ts";
import { inRemoteWorld } from "./remote-netboot.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { HOUR, SECOND } from "./world.ts";

interface Deaths {
  operator?: Death;
  netboot?: Death;
}

/** Both Machines run, both are deleted. Resolves with the effects of the operator, and with how often the netboot wrote. */
async function life(deaths: Deaths = {}): Promise<{ effects: number; writes: number }> {
  let counted = { effects: 0, writes: 0 };
  await inRemoteWorld(
    async (world, netboot) => {
      const first = await world.operator(deaths.operator === undefined ? {} : { death: deaths.operator });
      const before = netboot.writes;
      if (deaths.netboot !== undefined)
        netboot.death = { ...deaths.netboot, atEffect: before + deaths.netboot.atEffect };
      const replaceDead = successor(first.mortal, () => world.operator());
      const replace = async (): Promise<void> => {
        if (!netboot.isServing) await netboot.start();
        await replaceDead();
      };
      await world.createTodays(OLD_MANIFESTS);
      await world.until(
        "both run",
        async () => {
          await replace();
          netboot.check();
          return (await world.machines()).every(({ status }) => status?.phase === "Running");
        },
        4 * HOUR,
        30 * SECOND,
      );
      assert.equal(netboot.book.deployments.length, 2);
      for (const name of ["controlplane", "worker"]) await world.remove(Machine, name);
      await netboot.untilAllGone(replace);
      assert.equal(netboot.unleased, 3, "a host is left over");
      const { wiped } = JSON.parse(netboot.kept!) as { wiped: unknown[] };
      assert.equal(wiped.length, 2, "somebody has had two hosts");
      counted = { effects: first.mortal.effects, writes: netboot.writes - before };
    },
    { seed: 7 },
  );
  return counted;
}

/** `make test-all` plays each of them, `make test` some of every fourth. */
const someOf = (effects: number): number[] =>
  numbers(1, effects).filter((effect) => process.env.SEEDS !== undefined || effect % 4 === 0);

test("N38 N42 the operator may die before or after any effect of such a life, and the netboot before or after any write: nobody has two hosts, and all end wiped and free", async (t) => {
  const { effects, writes } = await life();
  assert.ok(effects > 30, `${effects} effects`);
  assert.ok(writes >= 8, `${writes} writes`);
  for (const when of ["before", "after"] as const) {
    for (const atEffect of ofTurn(sampled(someOf(effects)), process.env))
      await t.test(`the operator ${when} effect ${atEffect} of ${effects}`, async () => {
        await life({ operator: { atEffect, when } });
      });
    for (const atEffect of ofTurn(sampled(numbers(1, writes)), process.env))
      await t.test(`the netboot ${when} write ${atEffect} of ${writes}`, async () => {
        await life({ netboot: { atEffect, when } });
      });
  }
});
