/**
 * Four machines that are switched on together, beside one alone: from power-on until all of them have reported. Emulated machines with real
 * firmware; needs QEMU and `make agent`; runs in a network of its own. `ROUNDS`: of each; the best counts.
 */
import { availableParallelism } from "node:os";
import type { QemuMachine } from "../src/lab/qemu-machine.ts";
import { planMachines } from "../src/lab/rack.ts";
import { type Stage, setStage } from "../test/firmware/stage.ts";
import { until } from "../test/firmware/until.ts";
import { measureInOwnNetwork } from "./own-network.ts";
import { printMachine, report } from "./table.ts";

const TOGETHER = 4;
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const SIZE = { memoryMiB: 768, diskBytes: 1024 ** 3 };
/** An emulated machine keeps a core busy from power-on to its report, so with fewer cores than machines they share what there is. */
const GOAL = availableParallelism() >= TOGETHER ? 2 : (1.5 * TOGETHER) / availableParallelism();

await measureInOwnNetwork(["uefi"], measure);

async function measure(): Promise<void> {
  printMachine(`power-on to the agent's first report, emulated, UEFI; best of ${ROUNDS}`);
  const stage = await setStage(planMachines(TOGETHER, ["uefi"], SIZE));
  try {
    const { machines } = stage.rack;
    const [alone, together] = [[] as number[], [] as number[]];
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await secondsOf(stage, machines.slice(0, 1)));
      together.push(await secondsOf(stage, machines));
    }
    const [one, four] = [Math.min(...alone), Math.min(...together)];
    report("one machine", one, "s");
    report(`${TOGETHER} machines`, four, "s");
    report(`${TOGETHER} machines against one`, four / one, "times", GOAL);
  } finally {
    await stage.close();
  }
}

/** From power-on until all of them have registered. Leaves them switched off and forgotten. */
async function secondsOf({ netboot }: Stage, machines: readonly QemuMachine[]): Promise<number> {
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
  const took = (performance.now() - began) / 1000;
  await Promise.all(machines.map((machine) => machine.powerOff()));
  for (const { spec } of machines) netboot.hosts.forget(spec.mac);
  return took;
}
