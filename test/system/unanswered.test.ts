/** An order whose answer is lost (H1): one machine is bought, and it is given back with its Instance. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type Http } from "@slipway/base";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import type { TestCloud } from "./cloud.ts";
import type { HarvesterWorld } from "./harvester-world.ts";
import { using } from "./using.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

const PROVIDERS: readonly TestCloud["name"][] = ["equinix", "latitude"];
const STALE_MS = 30 * SECOND;

/** The way to the clouds, on which the answers to orders are lost; an order is sent once more when `between` has passed. */
function withoutAnswers(between?: () => Promise<void>): (inner: Http) => Http {
  return (inner) => async (request) => {
    const isOrder = request.method === "POST" && /\/(devices|servers)(\?|$)/.test(request.url);
    if (!isOrder) return await inner(request);
    await inner(request);
    if (between !== undefined) {
      await between();
      await inner(request);
    }
    throw new Fault("LostAnswer", "the provider", "the connection ended without an answer");
  };
}

const ordered = (world: HarvesterWorld, machines: number) =>
  world.until("the order is out", () => world.cloud.bought() === machines, MINUTE, SECOND / 10);
const reasons = async (world: HarvesterWorld, ...wanted: string[]): Promise<string[]> =>
  (await world.events())
    .filter(({ reason }) => wanted.includes(reason!))
    .map(({ reason, message }) => `${reason} ${message}`);

for (const provider of PROVIDERS) {
  test(`H1 an Instance that is deleted while its order is unanswered gives back the machine as soon as it is seen (${provider})`, () =>
    using({ provider, clouds: withoutAnswers(), equinix: { faults: { staleListsMs: STALE_MS } } }, async (world) => {
      await world.pool("rack", {});
      await ordered(world, 1);
      const [machine] = world.cloud.machines();
      const [instance] = await world.instances();
      assert.equal(instance!.status!.purchase!.state, "Pending");
      await world.client.delete(InstancePool, { name: "rack" });
      await world.client.delete(Instance, { name: instance!.metadata.name });
      if (provider === "equinix")
        await world.until(
          "the answer is waited for",
          async () => /answer to an order/.test((await world.instances())[0]!.status!.waitingFor!),
          MINUTE,
          SECOND,
        );
      await world.until("no object is left", async () => (await world.instances()).length === 0, HOUR);
      assert.deepEqual(world.cloud.machines(), []);
      assert.equal(world.cloud.bought(), 1);
      const shown = await reasons(world, "Ordered", "Released");
      assert.equal(shown.length, 2, shown.join());
      assert.match(
        // A list of events has no order.
        shown.toSorted().join("\n"),
        new RegExp(`Ordered machine ${machine!.id}\\b[^]*Released machine ${machine!.id}$`),
      );
    }));

  test(`H1 an order whose answer is lost is not repeated while the provider's list may still miss the machine (${provider})`, () =>
    using({ provider, clouds: withoutAnswers(), equinix: { faults: { staleListsMs: STALE_MS } } }, async (world) => {
      await world.pool("rack", {});
      await world.until("ready", () => world.converged());
      assert.equal(world.cloud.bought(), 1);
    }));

  test(`H1 an operator that was away for longer than a list lags looks for its order before it repeats it (${provider})`, () =>
    using({ provider, clouds: withoutAnswers() }, async (world) => {
      await world.pool("rack", {});
      await ordered(world, 1);
      world.kill();
      await world.clock.run(HOUR / 4);
      await world.operator();
      await world.until("ready", () => world.converged());
      assert.equal(world.cloud.bought(), 1);
      const [machine] = world.cloud.machines();
      assert.equal((await world.instances())[0]!.status!.instanceID, machine!.id);
    }));

  test(`H1 of two machines that one order bought, the younger goes back at once (${provider})`, () => {
    let clock: HarvesterWorld["clock"] | undefined;
    return using({ provider, clouds: withoutAnswers(() => clock!.sleep(2 * SECOND)) }, async (world) => {
      clock = world.clock;
      await world.pool("rack", {});
      await ordered(world, 2);
      const [older, younger] = world.cloud.machines();
      await world.until("ready", () => world.converged());
      await world.until("one is left", () => world.cloud.machines().length === 1);
      assert.deepEqual(
        world.cloud.machines().map(({ id }) => id),
        [older!.id],
      );
      assert.equal((await world.instances())[0]!.status!.instanceID, older!.id);
      assert.deepEqual(await reasons(world, "ReleasingDuplicate"), [
        `ReleasingDuplicate machine ${younger!.id} carries the same claim`,
      ]);
      assert.equal(world.cloud.bought(), 2);
    });
  });

  test(`an Instance for which nothing was ordered goes at once, also when its provider can't be asked (${provider})`, () => {
    let isBroken = false;
    const clouds =
      (inner: Http): Http =>
      async (request) => {
        if (isBroken) throw new Fault("Unavailable", "the provider", "connection refused");
        return await inner(request);
      };
    return using({ provider, clouds }, async (world) => {
      await world.pool("rack", { plan: "no-such-plan" });
      await world.clock.run(MINUTE);
      assert.equal((await world.instances()).length, 1);
      isBroken = true;
      await world.client.delete(InstancePool, { name: "rack" });
      await world.until("no object is left", async () => (await world.instances()).length === 0, MINUTE);
    });
  });
}
