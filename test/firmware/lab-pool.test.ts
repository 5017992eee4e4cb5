/** An InstancePool on machines with real firmware: one installs the stand-in for Harvester, joins, dies and is replaced; both are wiped when the pool goes. */
import assert from "node:assert/strict";
import { truncate } from "node:fs/promises";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { systemClock as clock, quietLog as log, cryptoRandom as random, Secrets } from "@slipway/base";
import { Node } from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { type LabBmcs, serveBmcs } from "../../src/lab/bmc/serve.ts";
import { plain } from "../../src/lab/console.ts";
import { POOL_NAME } from "../../src/lab/pool/manifests.ts";
import { type LabPool, startLabPool } from "../../src/lab/pool/pool.ts";
import { machineRows, type PoolView, poolWord } from "../../src/lab/pool/rows.ts";
import type { QemuMachine } from "../../src/lab/qemu-machine.ts";
import { planMachines } from "../../src/lab/rack.ts";
import { assetsFolder } from "../../src/netboot/agent/assets-folder.ts";
import { remainsOn } from "./disk-proof.ts";
import { type Stage, setStage } from "./stage.ts";

/** Machines of the pool; one more, with other firmware, is there to replace it. Several at once are seen by `lab-cluster` and `journey`. */
const COUNT = 1;
const DISK_BYTES = 2 * 1024 ** 3;
/** Each of the three ways; emulated machines beside other work are slow. */
const PATIENCE_S = 900;
const LOOK_MS = 1_000;
const CLEANUP_WAIT = "30s";

let stage: Stage;
let bmcs: LabBmcs;
let pool: LabPool;
before(async () => {
  const plans = planMachines(COUNT + 1, ["uefi-http", "uefi"], { memoryMiB: 768, diskBytes: DISK_BYTES });
  stage = await setStage(plans, { trust: "first-seen", drivesHosts: true });
  bmcs = await serveBmcs(stage.rack.machines, { clock, random, log });
  const { transport, folder: dir } = stage;
  const assets = assetsFolder(process.env);
  const secrets = new Secrets();
  pool = await startLabPool({ transport, bmcs, assets, dir, count: COUNT, clock, random, log, secrets });
});
after(async () => {
  await pool?.close();
  await bmcs?.close();
  await stage?.close();
});

test("a pool's machine installs and joins; when it loses its disk the spare replaces it; with the pool all disks are wiped", async () => {
  const began = performance.now();
  const tell = (what: string): void =>
    console.log(`${what} after ${((performance.now() - began) / 1000).toFixed(1)} s`);

  const first = await until("ready pool", (view) => poolWord(view) === "ready");
  tell("all Nodes are Ready");
  for (const node of first.nodes) {
    assert.equal(node.status?.nodeInfo?.osImage, "Slipway's stand-in for Harvester v1.8.1");
    const instance = first.instances.find(({ metadata }) => metadata.name === node.metadata.name);
    assert.equal(node.metadata.labels?.["slipway.dev/instance-uid"], instance?.metadata.uid);
  }
  const spare = first.hosts.find(({ spec }) => spec.consumerRef === undefined);
  const victim = first.hosts.find(({ spec }) => spec.consumerRef !== undefined)!;
  const lost = victim.spec.consumerRef!.name;
  assert.notEqual(spare, undefined);

  // It restarts no more; from now on a Node that is not Ready is one that is lost.
  const body = { spec: { nodeCleanupWaitInterval: CLEANUP_WAIT } };
  await pool.client.patch(InstancePool, { name: POOL_NAME }, { type: "merge", body });
  await loseDisk(machineOf(victim));
  const second = await until(
    `replacement of ${lost}`,
    (view) => poolWord(view) === "ready" && view.instances.every(({ metadata }) => metadata.name !== lost),
  );
  tell("replaced");
  const members = second.hosts.filter(({ spec }) => second.instances.some(isConsumer(spec.consumerRef?.name)));
  assert.ok(members.some(({ metadata }) => metadata.name === spare!.metadata.name));
  // What is to be wiped is there.
  for (const member of members) assert.notDeepEqual(await remainsOn(diskOf(machineOf(member))), []);
  assert.equal(second.nodes.length, COUNT);
  assert.equal(
    second.nodes.find(({ metadata }) => metadata.name === lost),
    undefined,
  );

  await pool.client.delete(InstancePool, { name: POOL_NAME });
  await until("wiped machines", (view) => poolWord(view) === "wiped");
  tell("wiped");
  for (const machine of stage.rack.machines) {
    await machine.powerOff();
    assert.deepEqual(await remainsOn(diskOf(machine)), [], machine.spec.name);
  }
  assert.deepEqual((await pool.client.list(Node)).items, []);
});

const isConsumer =
  (name: string | undefined) =>
  ({ metadata }: Instance): boolean =>
    metadata.name === name;

function diskOf({ spec }: QemuMachine): string {
  return spec.disks[0]!.file;
}

function machineOf(host: BareMetalHost): QemuMachine {
  return stage.rack.machines.find(({ spec }) => spec.mac === host.spec.bootMACAddress)!;
}

/** The machine loses its power, and what was on its disk. Its BMC may switch it on again. */
async function loseDisk(machine: QemuMachine): Promise<void> {
  const file = diskOf(machine);
  await machine.powerOff();
  await truncate(file, 0);
  await truncate(file, DISK_BYTES);
}

/** Resolves with the first view of which it holds. Rejects with what is known when it has not come in time. */
async function until(missing: string, holds: (view: PoolView) => boolean): Promise<PoolView> {
  const late = AbortSignal.timeout(PATIENCE_S * 1000);
  while (true) {
    const view = await look();
    if (holds(view)) return view;
    if (late.aborted) throw new Error(`no ${missing} within ${PATIENCE_S} s:\n${story(view)}`);
    await pause(LOOK_MS);
  }
}

async function look(): Promise<PoolView> {
  const { client } = pool;
  const [instances, hosts, nodes] = await Promise.all([
    client.list(Instance),
    client.list(BareMetalHost),
    client.list(Node),
  ]);
  const found = await client.find(InstancePool, { name: POOL_NAME });
  return { pool: found, instances: instances.items, hosts: hosts.items, nodes: nodes.items };
}

function story(view: PoolView): string {
  const rows = machineRows(view).map((row) => Object.values(row).join(" | "));
  const consoles = stage.rack.machines.map(
    (machine) => `${machine.spec.name}, ${machine.on ? "on" : "off"}:\n${plain(machine.console.lastLines())}`,
  );
  return [...rows, ...consoles].join("\n");
}
