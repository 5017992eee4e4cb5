/** A workload cluster on machines with real firmware, by Cluster API: from blank machines to Nodes whose Pods talk, one killed and replaced, all wiped in the end. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random, Secrets } from "@slipway/base";
import { imageFolderFor, labClusterIn } from "../../src/cli/lab-cluster.ts";
import { type LabBmcs, serveBmcs } from "../../src/lab/bmc/serve.ts";
import { startLabCluster } from "../../src/lab/cluster/cluster.ts";
import { type Reached, runCourse } from "../../src/lab/cluster/course.ts";
import { labMachines } from "../../src/lab/cluster/lab-machine.ts";
import type { ClusterView } from "../../src/lab/cluster/view.ts";
import { plain } from "../../src/lab/console.ts";
import type { LabOperator } from "../../src/lab/operator.ts";
import { planMachines } from "../../src/lab/rack.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { remainsOn } from "./disk-proof.ts";
import { type Stage, setStage } from "./stage.ts";

const cluster = await labClusterIn("examples/lab-cluster");
const image = await imageFolderFor(cluster, process.env).catch((error: Error) => error);
const skip = image instanceof Error && `${image.message}; run \`make kube-assets\` and \`make node-image\``;
const DISK_BYTES = 2 * 1024 ** 3;
/** Each step; emulated machines beside other work are slow. */
const PATIENCE_MS = 20 * 60_000;

let stage: Stage;
let bmcs: LabBmcs;
let operator: LabOperator;
before(async () => {
  if (image instanceof Error) return;
  const plans = planMachines(cluster.count + 1, ["bios"], { memoryMiB: 2048, diskBytes: DISK_BYTES });
  stage = await setStage(plans, { trust: "approved", drivesHosts: true, files: image });
  bmcs = await serveBmcs(stage.rack.machines, { clock, random, log });
  const { transport, folder: dir } = stage;
  operator = await startLabCluster({ transport, dir, clock, random, log, secrets: new Secrets() });
});
after(async () => {
  await operator?.close();
  await bmcs?.close();
  await stage?.close();
});

test("B51 three blank machines join a tenant by Cluster API, their Pods reach each other, a killed one is replaced, and all are wiped when the Cluster goes", {
  skip,
}, async () => {
  const began = performance.now();
  const used = new Set<string>();
  const reached = async (step: Reached, view: ClusterView): Promise<void> => {
    const isOurs = ({ spec }: { spec: { mac: string } }): boolean =>
      view.hosts.some((host) => host.spec.bootMACAddress === spec.mac && host.spec.consumerRef !== undefined);
    const owned = stage.rack.machines.filter(isOurs);
    for (const { spec } of owned) used.add(spec.name);
    // What is to be wiped is there.
    if (step === "deleted")
      for (const { spec } of owned) assert.notDeepEqual(await remainsOn(spec.disks[0]!.file), [], spec.name);
  };
  const { client, transport } = stage;
  const machines = labMachines(bmcs, () => clock.now());
  const told = (line: string): void =>
    console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`);
  const ports = { client, transport, machines, apply: applyObjects, clock, random, log, reached };
  const { signal } = new AbortController();
  let last: Parameters<NonNullable<Parameters<typeof runCourse>[1]["show"]>>[0] = [];
  await runCourse(cluster, {
    ...ports,
    ...{ signal, tell: told, patienceMs: PATIENCE_MS },
    show: (rows) => {
      last = rows;
    },
  }).catch((error: unknown) => {
    for (const row of last) console.log(Object.values(row).join(" | "));
    for (const { spec, on, console: serial } of stage.rack.machines)
      console.log(`${spec.name}, ${on ? "on" : "off"}:\n${plain(serial.lastLines(60))}`);
    throw error;
  });
  assert.ok(used.size >= cluster.count);
  for (const machine of stage.rack.machines) {
    await machine.powerOff();
    assert.deepEqual(await remainsOn(machine.spec.disks[0]!.file), [], machine.spec.name);
  }
});
