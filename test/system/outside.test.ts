/** Virtual time waits for what is worked on by threads: the hardware of a world has such work, whoever's it is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { SimRack } from "../../src/sim/rack/rack.ts";
import { inPlunderWorld, type PlunderWorld } from "./plunder-world.ts";
import { inRemoteWorld } from "./remote-netboot.ts";
import { HOUR } from "./world.ts";

/** More than time needs to move on when nothing holds it. */
const TURNS = 100;

async function holdsTime({ clock }: PlunderWorld, { network }: SimRack): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = network.aside(promise);
  const began = clock.monotonic();
  const run = clock.run(HOUR);
  for (let n = 0; n < TURNS; n++) await turn();
  assert.equal(clock.monotonic(), began);
  resolve();
  await Promise.all([work, run]);
  assert.ok(clock.monotonic() >= began + HOUR);
}

test("no time passes while a file is encrypted for a server of an own rack", () =>
  inPlunderWorld((world) => holdsTime(world, world.own.rack), { servers: { sg: 1, ny: 0 } }));

test("no time passes while a file is encrypted for a server of a netboot elsewhere", () =>
  inRemoteWorld((world, { rack }) => holdsTime(world, rack)));
