/** iPXE that comes over TFTP: what becomes of BIOS machines whose card has plain PXE. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { LAB, planMachines } from "../../src/lab/rack.ts";
import { setStage } from "./stage.ts";
import { until } from "./until.ts";

/** QEMU's ROMs for BIOS are all iPXE. This one does what a plain one would: it loads the file for such cards over TFTP. */
const ROM = "/usr/lib/ipxe/ipxe.lkrn";
const SCRIPT = `#!ipxe
dhcp
chain tftp://${LAB.address}/undionly.kpxe
`;

const skip = existsSync(ROM) ? false : "not installed: ipxe";

test("N12 iPXE that came over TFTP goes on with its script, never loads itself again, and its machine registers", {
  skip,
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "slipway-rom-"));
  t.after(() => rm(folder, { recursive: true }));
  const initrd = join(folder, "script.ipxe");
  await writeFile(initrd, SCRIPT);
  const [plan] = planMachines(1, ["bios"], { memoryMiB: 1024, diskBytes: 1024 ** 3 });
  const { rack, netboot, close } = await setStage([{ ...plan!, loader: { kernel: ROM, initrd } }]);
  t.after(close);
  const [machine] = rack.machines;

  const began = performance.now();
  await machine!.powerOn();
  const host = await until(netboot.hosts, machine!, {
    is: ({ inventoryAt }) => inventoryAt !== undefined,
    seconds: 180,
    missing: "report",
  });
  console.log(`chained: registered after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  let loads = 0;
  for await (const { line } of netboot.logs.read(host.name)) if (line.startsWith("undionly.kpxe: delivered")) loads++;
  assert.equal(loads, 1);
});
