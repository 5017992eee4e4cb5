import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { conflictCheck } from "./conflict.ts";
import { maskOf, parseIpv4 } from "./wire/ipv4.ts";

const CLIENT = "52:54:00:00:00:01";
const OTHER = "52:54:00:00:00:02";
const INTERFACE = {
  name: "eth1",
  addresses: [{ address: parseIpv4("10.0.0.2"), mask: maskOf(24) }],
  alone: true,
};

/** A network where machines answer some milliseconds after they were looked for. */
function network(machines: Record<string, { mac: string; afterMs: number }>) {
  const clock = new VirtualClock();
  const known = new Map<string, string>();
  const probed: string[] = [];
  const check = conflictCheck({
    clock,
    interfaces: [INTERFACE],
    probe(address) {
      probed.push(address);
      const machine = machines[address];
      if (machine !== undefined) clock.after(machine.afterMs, () => known.set(address, machine.mac));
    },
    neighbours: () => known,
  });
  const ask = async (address: string): Promise<{ used: boolean; ms: number }> => {
    const before = clock.now();
    const asked = check.inUse(parseIpv4(address), CLIENT).then((used) => ({ used, ms: clock.now() - before }));
    await clock.run(1000);
    return asked;
  };
  /** Looks ahead at these, and lets so much time go by. */
  const expect = async (addresses: readonly string[], ms: number): Promise<void> => {
    check.expect(addresses.map(parseIpv4));
    await clock.run(ms);
  };
  return { ask, check, clock, expect, probed };
}

test("N15 an address at which another machine answers is in use, one at which the client itself does is not", async () => {
  const { ask } = network({
    "10.0.0.100": { mac: OTHER, afterMs: 5 },
    "10.0.0.101": { mac: CLIENT, afterMs: 5 },
    "10.0.0.102": { mac: OTHER, afterMs: 75 },
  });
  assert.deepEqual(await ask("10.0.0.100"), { used: true, ms: 20 });
  assert.deepEqual(await ask("10.0.0.101"), { used: false, ms: 20 });
  assert.deepEqual(await ask("10.0.0.102"), { used: true, ms: 80 });
});

test("N15 an address at which nobody answers costs a tenth of a second, one of another network nothing", async () => {
  const { ask, probed } = network({});
  assert.deepEqual(await ask("10.0.0.100"), { used: false, ms: 100 });
  assert.deepEqual(await ask("10.1.0.100"), { used: false, ms: 0 });
  assert.deepEqual(probed, ["10.0.0.100"]);
});

test("N15 a rack that powers on at once is not kept waiting: beyond 16 looks at a time an address counts as free", async () => {
  const { check, clock, probed } = network({});
  const all = Array.from({ length: 100 }, (_, i) => check.inUse(parseIpv4(`10.0.0.${100 + i}`), CLIENT));
  await clock.run(100);
  assert.deepEqual(new Set(await Promise.all(all)), new Set([false]));
  assert.equal(probed.length, 16);
});

test("N15 an address that was looked at ahead of time costs its client nothing, free or not, and is looked at anew for the next", async () => {
  const { ask, expect, probed } = network({ "10.0.0.100": { mac: OTHER, afterMs: 5 } });
  await expect(["10.0.0.100", "10.0.0.101", "10.1.0.1"], 200);
  assert.deepEqual(probed, ["10.0.0.100", "10.0.0.101"]);
  assert.deepEqual(await ask("10.0.0.100"), { used: true, ms: 0 });
  assert.deepEqual(await ask("10.0.0.101"), { used: false, ms: 0 });
  assert.deepEqual(await ask("10.0.0.101"), { used: false, ms: 100 });
});

test("N15 who is offered what is being looked at waits for the rest of that look alone", async () => {
  const { ask, expect, probed } = network({});
  await expect(["10.0.0.100"], 60);
  assert.deepEqual(await ask("10.0.0.100"), { used: false, ms: 40 });
  assert.deepEqual(probed, ["10.0.0.100"]);
});

test("N15 what was seen half a minute ago counts no more", async () => {
  const { ask, expect, probed } = network({});
  await expect(["10.0.0.100", "10.0.0.101"], 30_200);
  assert.deepEqual(await ask("10.0.0.100"), { used: false, ms: 100 });
  await expect(["10.0.0.101"], 100);
  assert.deepEqual(probed, ["10.0.0.100", "10.0.0.101", "10.0.0.100", "10.0.0.101"]);
});

test("N15 no more than 16 addresses are looked at at once or known ahead, and what is expected no more makes room", async () => {
  const { expect, probed } = network({});
  const addresses = (from: number) => Array.from({ length: 40 }, (_, i) => `10.0.0.${from + i}`);
  await expect(addresses(100), 0);
  await expect(addresses(100), 200);
  assert.equal(probed.length, 16);
  await expect(addresses(100), 200);
  assert.equal(probed.length, 16);
  await expect(addresses(200), 31_000);
  await expect(addresses(200), 0);
  assert.equal(probed.length, 32);
});

test("N15 many clients a second: 16 of them wait, the others are answered at once, and the next second 16 may wait again", async () => {
  const { check, clock, probed } = network({});
  const asked = async (third: number): Promise<number> => {
    const began = clock.now();
    let late = 0;
    for (let i = 0; i < 200; i++) {
      void check.inUse(parseIpv4(`10.0.0.${i + 1}`), CLIENT).then(() => {
        if (clock.now() > began + 4 * i) late++;
      });
      await clock.run(4);
    }
    await clock.run(third);
    return late;
  };
  assert.equal(await asked(400), 16);
  assert.equal(probed.length, 16);
  assert.equal(await asked(400), 16);
});
