/** What every simulated cloud promises of its saved state, whatever it simulates. For tests: each cloud's calls it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Fault, isFault } from "@slipway/base";
import type { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";

const MINUTE = 60_000;

/** A cloud on a clock of its own. */
interface Cloud {
  clock: VirtualClock;
  sim: { snapshot(): unknown; rotateKey(key: string): void; close(): void };
}

export interface RestartingCloud<World extends Cloud, Happening extends { is: string }> {
  start(options?: { restore?: unknown; restoredFrom?: string; onChange?: () => void }): World;
  /** The process is killed, and another finds what was written. */
  restarted(world: World): World;
  /** Orders a machine that is in service after three minutes. */
  ordered(world: World): Promise<unknown>;
  happening: fc.Arbitrary<Happening>;
  happen(world: World, what: Happening): Promise<void>;
  /** Whether every machine is in a state that lasts. */
  resting(world: World): boolean;
  /** Snapshots that can't be used, made of a good one with a machine in it, and why. */
  damaged(good: object): readonly (readonly [unknown, RegExp])[];
}

/** Defines the tests. */
export function testRestarts<World extends Cloud, Happening extends { is: string }>(
  cloud: RestartingCloud<World, Happening>,
): void {
  const { start, ordered, happen } = cloud;
  const story = (maxLength: number): fc.Arbitrary<Happening[]> => fc.array(cloud.happening, { maxLength });

  test("closing changes nothing of what is saved", async () => {
    const world = start();
    await ordered(world);
    await world.clock.run(3 * MINUTE);
    const snapshot = world.sim.snapshot();
    world.sim.close();
    assert.deepEqual(world.sim.snapshot(), snapshot);
  });

  test("whatever happened: a restored cloud gives the same snapshot, and every machine comes to rest", async () => {
    await fc.assert(
      fc.asyncProperty(story(25), async (events) => {
        const before = start();
        for (const what of events) await happen(before, what);
        const after = cloud.restarted(before);
        assert.deepEqual(after.sim.snapshot(), before.sim.snapshot());
        await after.clock.run(60 * MINUTE);
        assert.ok(cloud.resting(after));
      }),
      { numRuns: 60 },
    );
  });

  test("whatever happened: what was saved at the last change is all there is to save", async () => {
    await fc.assert(
      fc.asyncProperty(story(15), async (events) => {
        const saver = (): void => {
          saved = world.sim.snapshot();
        };
        const world = start({ onChange: saver });
        let saved = world.sim.snapshot();
        for (const what of events) {
          await happen(world, what);
          assert.deepEqual(saved, world.sim.snapshot(), what.is);
        }
      }),
      { numRuns: 40 },
    );
  });

  test("a snapshot that can't be used is refused, with what to delete, and shows no key", async () => {
    const world = start();
    world.sim.rotateKey("the-secret-key");
    await ordered(world);
    const good = world.sim.snapshot() as object;
    const damaged: readonly (readonly [unknown, RegExp])[] = [
      [null, /expected object/],
      ["text", /expected object/],
      [{}, /of: /],
      [{ ...good, of: "another cloud" }, /of: /],
      [{ ...good, version: 2 }, /version: /],
      [{ ...good, token: 7 }, /token: /],
      [{ ...good, more: 7 }, /more/],
      ...cloud.damaged(good),
    ];
    for (const [restore, why] of damaged)
      assert.throws(
        () => start({ restore, restoredFrom: "state/cloud.json" }),
        (error: Fault) => {
          assert.ok(isFault(error, "Invalid"), String(error));
          assert.match(error.message, why);
          assert.match(error.remedy!, /delete state\/cloud\.json/);
          assert.ok(!error.advice.includes("the-secret-key"));
          return true;
        },
      );
  });
}
