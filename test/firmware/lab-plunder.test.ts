/** The walk of cluster-api-plunder's README, with its manifests of 2019, on machines with real firmware, kubeadm and kubelets. */
import assert from "node:assert/strict";
import { open } from "node:fs/promises";
import { after, before, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random, Secrets } from "@slipway/base";
import { imageFolderFor } from "../../src/cli/lab-cluster.ts";
import { labPlunderIn, planePrograms } from "../../src/cli/lab-plunder.ts";
import { type LabBmcs, serveBmcs } from "../../src/lab/bmc/serve.ts";
import { labMachines } from "../../src/lab/cluster/lab-machine.ts";
import type { ClusterView } from "../../src/lab/cluster/view.ts";
import { plain } from "../../src/lab/console.ts";
import type { LabOperator } from "../../src/lab/operator.ts";
import { type Reached, runCourse } from "../../src/lab/plunder/course.ts";
import { startLabPlunder } from "../../src/lab/plunder/plunder.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { remainsOn } from "./disk-proof.ts";
import { type Stage, setStage } from "./stage.ts";

const lab = await labPlunderIn("examples/lab-plunder");
const image = await imageFolderFor(lab, process.env).catch((error: Error) => error);
const skip = image instanceof Error && `${image.message}; run \`make kube-assets\` and \`make node-image\``;
const HOME = { firmware: "bios", diskBytes: 1024 ** 3 } as const;
/** Each step; emulated machines beside other work are slow. */
const PATIENCE_MS = 20 * 60_000;

let stage: Stage;
let bmcs: LabBmcs;
let operator: LabOperator;
before(async () => {
  if (image instanceof Error) return;
  const plans = [
    { name: "lab-1", ...HOME, memoryMiB: 4096, processors: 2 },
    { name: "lab-2", ...HOME, memoryMiB: 2048 },
  ];
  const { reservations } = lab;
  stage = await setStage(plans, { trust: "first-seen", drivesHosts: true, files: image, reservations });
  bmcs = await serveBmcs(stage.rack.machines, { clock, random, log });
  const assets = await planePrograms(process.env);
  operator = await startLabPlunder({
    ...{ transport: stage.transport, assets, clock, random, log },
    secrets: new Secrets(),
  });
});
after(async () => {
  await operator?.close();
  await bmcs?.close();
  await stage?.close();
});

test("N43 N45 N46 blank machines are unleased, become a cluster by the manifests of 2019, and are wiped when its Machines are deleted", {
  skip,
}, async () => {
  const began = performance.now();
  const told: string[] = [];
  const steps: string[] = [];
  const { machines } = stage.rack;
  const reached = async (step: Reached, view: ClusterView): Promise<void> => {
    steps.push(step);
    if (step !== "deleted") return;
    const ids = view.nodes.map(({ metadata, spec }) => [metadata.name, spec?.providerID]).toSorted();
    assert.deepEqual(ids, [
      ["controlplane", `plunder://${machines[0]!.spec.mac}`],
      ["worker", `plunder://${machines[1]!.spec.mac}`],
    ]);
    // The node image leaves disks alone: something is there to be wiped.
    for (const { spec } of machines) await scribble(spec.disks[0]!.file);
  };
  const { client, transport } = stage;
  let last: readonly object[] = [];
  await runCourse(lab, {
    ...{ client, transport, apply: applyObjects, clock, random, log, reached, patienceMs: PATIENCE_MS },
    machines: labMachines(bmcs, () => clock.now()),
    signal: new AbortController().signal,
    tell(line) {
      told.push(line);
      console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`);
    },
    show: (rows) => {
      last = rows;
    },
  }).catch((error: unknown) => {
    for (const row of last) console.log(Object.values(row).join(" | "));
    for (const { spec, on, console: serial } of machines)
      console.log(`${spec.name}, ${on ? "on" : "off"}:\n${plain(serial.lastLines(80))}`);
    throw error;
  });
  assert.deepEqual(steps, ["discovered", "available", "joined", "running", "deleted", "wiped"]);
  const all = told.join("\n");
  for (const name of ["controlplane", "worker"]) {
    assert.match(all, new RegExp(`${name}: PlunderProvision: Plunder has begun provisioning the Operating System`));
    assert.match(all, new RegExp(`${name}: PlunderDelete: Machine removed succesfully`));
  }
  for (const machine of machines) {
    // Unleased before and after.
    assert.equal(told.filter((line) => line.includes(`unleased: ${machine.spec.mac}`)).length, 2, all);
    await machine.powerOff();
    assert.deepEqual(await remainsOn(machine.spec.disks[0]!.file), [], machine.spec.name);
  }
});

/** Bytes at the disk's start and end, as whoever used it leaves. */
async function scribble(file: string): Promise<void> {
  const handle = await open(file, "r+");
  try {
    const { size } = await handle.stat();
    for (const at of [0, size - 4096]) await handle.write(Buffer.alloc(4096, "left"), 0, 4096, at);
  } finally {
    await handle.close();
  }
  assert.notDeepEqual(await remainsOn(file), []);
}
