import { access } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Clock, Fault, type Log, type Random } from "@slipway/base";
import type { Client, Transport } from "@slipway/kube";
import { findAssets, TENANT_BINARIES } from "../kubernetes/assets.ts";
import { nodeImageFolder } from "../kubernetes/node-image-folder.ts";
import { runCourse } from "../lab/cluster/course.ts";
import type { LabMachine } from "../lab/cluster/lab-machine.ts";
import { type LabCluster, labClusterOf } from "../lab/cluster/manifests.ts";
import type { MachineRow } from "../lab/pool/rows.ts";
import { applyObjects } from "../laptop/apply.ts";
import { manifestFiles, readManifests } from "../laptop/manifests.ts";
import { newsLine, secondsOf } from "./lab-news.ts";
import { MachineTable } from "./machine-table.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Manifests below it are the workload cluster's own. */
const WORKLOAD = "workload";
/** What machines boot (`make node-image`). */
const IMAGE_FILES = ["vmlinuz", "initrd", "root.squashfs"];
const ARCHITECTURE = "amd64";

/** Reads a folder of manifests as the lab takes it. Rejects with a `Fault` that names what is missing or wrong in it. */
export async function labClusterIn(folder: string): Promise<LabCluster> {
  const objects = await readManifests(folder, (file) => !isInside(file));
  const hasWorkload = (await manifestFiles(folder)).some((file) => isInside(relative(folder, file)));
  const workload = hasWorkload ? await readManifests(join(folder, WORKLOAD)) : [];
  return labClusterOf(objects, { workload, name: folder });
}

const isInside = (file: string): boolean => file.startsWith(`${WORKLOAD}/`);

/** The folder with what the cluster's machines boot. Rejects with a `Fault` where that, or what its control plane runs, is not there. */
export async function imageFolderFor({ minor }: Pick<LabCluster, "minor">, env: Environment): Promise<string> {
  await findAssets(env, ["etcd", ...TENANT_BINARIES]);
  const folder = nodeImageFolder(env, minor, ARCHITECTURE);
  for (const name of IMAGE_FILES)
    await access(join(folder, name)).catch(() => {
      throw new Fault("MissingInput", "lab", `no ${name} in ${folder}`, {
        remedy: `run \`make node-image VERSION=${minor}\` (half an hour, once), or set SLIPWAY_NODE_IMAGE`,
      });
    });
  return folder;
}

export interface ClusterShow {
  client: Client;
  transport: Transport;
  machines: readonly LabMachine[];
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
}

/** Takes the cluster through its course and shows the machines as they change. Rejects as `runCourse`. */
export async function showCluster(cluster: LabCluster, ports: ClusterShow): Promise<void> {
  const { table, ...shown } = courseTable(ports.clock, "PACKETMACHINE");
  await runCourse(cluster, { ...ports, apply: applyObjects, ...shown });
  table.say(["All of it held."]);
}

/** Where a course shows its machines and reports what it reached, each line with the seconds since now. `owner`: the kind of what has a machine. */
export function courseTable(clock: Clock, owner: string) {
  const began = clock.monotonic();
  const seconds = (): string => secondsOf(clock.monotonic() - began);
  const table = new MachineTable(process.stdout, seconds, owner);
  return {
    table,
    show: (rows: readonly MachineRow[]) => table.show(rows),
    tell: (line: string) => table.say([newsLine(seconds(), line)]),
  };
}
