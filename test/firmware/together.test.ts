/** Four machines that are switched on together, beside one alone. */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import type { QemuMachine } from "../../src/lab/qemu-machine.ts";
import { planMachines } from "../../src/lab/rack.ts";
import { type Stage, setStage } from "./stage.ts";
import { until } from "./until.ts";

const TOGETHER = 4;
const SIZE = { memoryMiB: 768, diskBytes: 1024 ** 3 };

const cores = availableParallelism();
/** An emulated machine keeps a core busy from power-on to its report, so with fewer cores than machines they share what there is. */
const most = cores >= TOGETHER ? 2 : (1.5 * TOGETHER) / cores;

test(`on ${cores} cores four machines are registered in less than ${most} times the time of one`, async (t) => {
  const stage = await setStage(planMachines(TOGETHER, ["uefi"], SIZE));
  t.after(stage.close);
  const { machines } = stage.rack;
  const alone = await timeOf(stage, machines.slice(0, 1));
  for (const { spec } of machines) stage.netboot.hosts.forget(spec.mac);
  const together = await timeOf(stage, machines);

  console.log(`together: one ${seconds(alone)} s, ${TOGETHER} ${seconds(together)} s, on ${cores} cores`);
  assert.ok(together < most * alone, `${seconds(together)} s is more than ${most} times the time of one`);
});

/** From power-on until all of them have registered, in milliseconds. Leaves them switched off. */
async function timeOf({ netboot }: Stage, machines: readonly QemuMachine[]): Promise<number> {
  const began = performance.now();
  await Promise.all(
    machines.map(async (machine) => {
      await machine.powerOn();
      await until(netboot.hosts, machine, {
        is: ({ inventoryAt }) => inventoryAt !== undefined,
        seconds: 300,
        missing: "report",
      });
    }),
  );
  const took = performance.now() - began;
  await Promise.all(machines.map((machine) => machine.powerOff()));
  return took;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
