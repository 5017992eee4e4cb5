import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Clock, Fault, type Log, type Random } from "@slipway/base";
import type { Client, Transport } from "@slipway/kube";
import { findAssets, TENANT_BINARIES } from "../kubernetes/assets.ts";
import { nodeImageFolder } from "../kubernetes/node-image-folder.ts";
import { programFile } from "../lab/programs.ts";
import { LAB } from "../lab/rack.ts";
import { runCourse } from "../lab/vino/course.ts";
import { type LabVino, labVinoOf } from "../lab/vino/manifests.ts";
import { applyObjects } from "../laptop/apply.ts";
import { readManifests } from "../laptop/manifests.ts";
import { courseTable } from "./lab-cluster.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What workers are installed with (`make node-image FORM=disk`). */
const DISK = "disk.img.zst";
const ARCHITECTURE = "amd64";
/** Port of netboot's files. */
const FILES_PORT = 8080;

/** Debian packages of what runs beside QEMU. */
export const VINO_PROGRAMS: Readonly<Record<string, string>> = {
  libvirtd: "libvirt-daemon",
  "qemu-img": "qemu-utils",
  dnsmasq: "dnsmasq-base",
  perl: "perl-base",
  nsenter: "util-linux",
  haproxy: "haproxy",
};

/** Reads a folder of manifests as the lab takes it. Rejects with a `Fault` that names what is missing or wrong in it. */
export async function labVinoIn(folder: string): Promise<LabVino> {
  return labVinoOf(await readManifests(folder), folder);
}

/** What a Vino's tenant needs that is built: where the machines' disk lies, and the programs of its Pods. Rejects with a `Fault` where that, or the right to it, is missing. */
export async function vinoPlaces(
  { minor }: Pick<LabVino, "minor">,
  env: Environment,
): Promise<{ files: string; programs: Record<string, string> }> {
  const assets = await findAssets(env, ["etcd", ...TENANT_BINARIES]);
  await findAssets(env, ["dex"]).catch((cause: unknown) => {
    throw new Fault("MissingInput", "lab", "there is no dex", { remedy: "run `make kube-assets NAMES=dex`", cause });
  });
  const files = nodeImageFolder(env, minor, ARCHITECTURE);
  await access(join(files, DISK)).catch(() => {
    throw new Fault("MissingInput", "lab", `no ${DISK} in ${files}`, {
      remedy: `run \`make node-image FORM=disk VERSION=${minor}\` (half an hour, once), or set SLIPWAY_NODE_IMAGE`,
    });
  });
  const haproxy = await programFile("haproxy", env.PATH ?? "");
  if (haproxy === undefined)
    throw new Fault("MissingInput", "lab", "haproxy is not installed", { remedy: "apt-get install haproxy" });
  return { files, programs: { loadbalancer: haproxy, dex: join(assets, "dex") } };
}

/** Throws a `Fault` unless we are root: libvirt's own daemon, and mounts of what its Pods see, need it. */
export function checkRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new Fault("Forbidden", "--vino", "libvirtd in mounts of its own needs root", { remedy: "run it as root" });
}

export interface VinoShow {
  client: Client;
  transport: Transport;
  /** Folder with the machines' disk. */
  files: string;
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
}

/** The machines' disk as they are to fetch it. */
export async function diskImage(files: string): Promise<{ url: string; checksum: string }> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(join(files, DISK)), hash);
  return { url: `http://${LAB.address}:${FILES_PORT}/${DISK}`, checksum: hash.digest("hex") };
}

/** Takes machines and tenant through their course and shows the machines as they change. Rejects as `runCourse`. */
export async function showVino(lab: LabVino, { files, ...ports }: VinoShow): Promise<void> {
  const image = await diskImage(files);
  const { table, ...shown } = courseTable(ports.clock, "SIPCLUSTER");
  await runCourse(lab, { ...ports, image, apply: applyObjects, ...shown });
  table.say(["All of it held."]);
}
