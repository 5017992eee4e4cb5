import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cryptoRandom,
  Fault,
  type HttpAnswer,
  json,
  quietLog,
  type Random,
  seededRandom,
  systemClock,
} from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import fc from "fast-check";
import { createLatitudeDriver } from "../../machines/drivers/latitude/driver.ts";
import type { Machine, MachineDriver, Order } from "../../machines/machine.ts";
import { createLatitudeSim } from "./latitude-sim.ts";
import { DEFAULT_TOKEN, INSTANT_TIMINGS } from "./options.ts";
import { order, type RigOptions, rig, TrivialFirmware } from "./rig.ts";

/** One call in five is lost before or after its effect, or answered 500. */
function unreliable(random: Random, isOver: () => boolean): NonNullable<RigOptions["wrap"]> {
  return (http) => async (request) => {
    const fate = FATES[isOver() ? 24 : random.int(25)];
    return fate === undefined ? http(request) : fate(() => http(request));
  };
}

const lost = (why: string): never => {
  throw new Fault("LostAnswer", "test", why);
};

const FATES: readonly ((call: () => Promise<HttpAnswer>) => Promise<HttpAnswer>)[] = [
  async () => {
    throw new Fault("Unavailable", "test", "refused");
  },
  async () => lost("lost before it had its effect"),
  async () => json(500, {}),
  async (call) => {
    await call();
    return lost("lost after it had its effect");
  },
  async (call) => {
    await call();
    return json(502, {});
  },
];

/** What a controller does: look, and order only when the look found nothing. */
async function ensure(driver: MachineDriver, wish: Order): Promise<Machine> {
  return (await driver.find(wish.claim))[0] ?? driver.create(wish);
}

test("whatever calls are lost and whenever the process is replaced, each claim buys exactly one server, and nothing is left of it after its release", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const random = seededRandom(seed);
      let over = false;
      const { sim, restarted, clock } = rig({ wrap: unreliable(random, () => over), timings: INSTANT_TIMINGS });
      const claims = ["a", "b", "c"];
      const ids = new Map<string, string>();
      let driver = restarted();
      for (let round = 0; ids.size < claims.length && round < 500; round++) {
        if (random.int(5) === 0) driver = restarted();
        const claim = claims[random.int(claims.length)]!;
        const found = await ensure(driver, order({ claim, hostname: `pool-${claim}` })).catch(() => undefined);
        if (found !== undefined) ids.set(claim, found.id);
        await clock.run(1_000);
      }
      over = true;

      assert.deepEqual(
        sim
          .boughtEver()
          .map((one) => one.hostname)
          .sort(),
        ["pool-a", "pool-b", "pool-c"],
      );
      const listed = await driver.list();
      assert.deepEqual(Object.fromEntries(listed.map((one) => [one.claim, one.id])), Object.fromEntries(ids));

      for (const { id } of listed) await driver.release(id, { force: false });
      await clock.run(7_200_000);
      const later = restarted();
      // The sweep takes a few at a time.
      for (let i = 0; i < 40; i++) {
        await later.list();
        await clock.run(600_000);
      }
      assert.deepEqual([sim.servers(), sim.userData()], [[], []]);
    }),
    { numRuns: 40 },
  );
});

test("the same over real sockets: the driver buys, sees and releases through HTTP", async () => {
  const sim = createLatitudeSim({
    clock: systemClock,
    random: cryptoRandom,
    firmware: new TrivialFirmware(),
    timings: INSTANT_TIMINGS,
  });
  const server = await serveHttp(sim.handle);
  const http = undiciHttp();
  const account = {
    endpoint: server.url,
    token: DEFAULT_TOKEN,
    project: sim.project.slug,
    planMapping: {},
    metroMapping: {},
  };
  const driver = createLatitudeDriver(account, { http, clock: systemClock, log: quietLog });
  try {
    const bought = await ensure(driver, order());
    assert.equal((await ensure(driver, order())).id, bought.id);
    assert.deepEqual(
      (await driver.list()).map((machine) => machine.claim),
      [order().claim],
    );
    await driver.release(bought.id, { force: false });
    assert.equal(sim.userData().length, 0);
  } finally {
    sim.close();
    await http.close();
    await server.close();
  }
});
