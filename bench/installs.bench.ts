/**
 * Blank emulated machines that are installed at once, against one: from the image's order to provisioned, with the agent, the disk image and the BMCs of the firmware suite. Emulation takes
 * whole processors, so the processors' share in the work stands beside the times: at 1 the machines wait for nobody but each other. Needs `make agent`, root, QEMU, mmdebstrap
 * and, for the image that is built once, the network.
 * Run: `node bench/installs.bench.ts [machines at once]`.
 */
import { availableParallelism } from "node:os";
import { basename, dirname } from "node:path";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../src/kinds/metal3/bare-metal-host.ts";
import { hostOf } from "../src/lab/bmc/papers.ts";
import { type LabBmcs, serveBmcs } from "../src/lab/bmc/serve.ts";
import { planMachines } from "../src/lab/rack.ts";
import { type DiskImage, diskImages } from "../test/firmware/disk-image/image.ts";
import { HostWatch } from "../test/firmware/host-watch.ts";
import { type Stage, setStage } from "../test/firmware/stage.ts";
import { measureInOwnNetwork } from "./own-network.ts";
import { childrenOf, cpuOf, cpuOfEnded } from "./proc.ts";
import { printMachine, report } from "./table.ts";

const [many = 4] = process.argv.slice(2).map(Number);
const PATIENCE_S = 1200;
const DISK_BYTES = 5 * 1024 ** 3;

// Outside, where the network is.
if (process.env.BENCH_INSIDE !== "1") await diskImages(process.env);
await measureInOwnNetwork(["bios"], measure, { mmdebstrap: "mmdebstrap" });

async function measure(): Promise<void> {
  printMachine("a machine: one emulated processor, 1 GiB, BIOS, a BMC; installed by the agent from a disk image");
  const image = (await diskImages(process.env)).amd64;
  const one = await installed(1, image);
  const all = await installed(many, image);
  report(`${many} against one`, all / one, "times", many);
}

/** Seconds that so many machines take, from the order of their image to the last that is provisioned. */
async function installed(count: number, image: DiskImage): Promise<number> {
  const plans = planMachines(count, ["bios"], { memoryMiB: 1024, diskBytes: DISK_BYTES });
  const stage = await setStage(plans, { drivesHosts: true, files: dirname(image.file) });
  const bmcs = await serveBmcs(stage.rack.machines, { clock, random, log });
  try {
    const available = performance.now();
    const watches = await Promise.all(plans.map((_, at) => declared(stage, bmcs, at)));
    report(`${count} at once: declared to available`, (performance.now() - available) / 1000, "s");
    const began = performance.now();
    const before = emulated();
    await Promise.all(watches.map((watch) => install(stage, watch, image)));
    const seconds = (performance.now() - began) / 1000;
    report(`${count} at once: ordered to provisioned`, seconds, "s");
    const cpu = emulated() - before;
    report("  CPU of the emulated machines, each", cpu / count, "s");
    report("  of the processors", cpu / seconds / availableParallelism(), "");
    for (const watch of watches) watch.close();
    return seconds;
  } finally {
    await bmcs.close();
    await stage.close();
  }
}

/** The machine as a host with a BMC, as soon as it is available. */
async function declared({ client, rack }: Stage, { list, authority }: LabBmcs, at: number): Promise<HostWatch> {
  const { secret, host } = hostOf(list[at]!, authority);
  await client.create(Secret, secret);
  const watch = await HostWatch.of(client, await client.create(BareMetalHost, host), rack.machines[at]!);
  await watch.reaches("available", PATIENCE_S);
  return watch;
}

async function install({ client, netboot }: Stage, watch: HostWatch, { file, sha256 }: DiskImage): Promise<void> {
  const { namespace = "", name } = watch.host!.metadata;
  const image = { url: `${netboot.url}/${basename(file)}`, checksum: sha256, checksumType: "sha256" };
  await client.patch(BareMetalHost, { name, namespace }, { type: "merge", body: { spec: { image } } });
  await watch.reaches("provisioned", PATIENCE_S);
}

/** CPU seconds of the emulated machines so far, those that were switched off included. What else this process starts is small beside them. */
function emulated(): number {
  return childrenOf(process.pid).reduce((total, { pid }) => total + cpuOf(pid), cpuOfEnded());
}
