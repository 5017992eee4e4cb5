/**
 * From power-on of an emulated machine to its Node's Ready: the node image as a disk, the same with cloud-init, and Debian with systemd and cloud-init, in turns, with the same bootstrap data and one tenant's
 * control plane. Debian's kernel is handed over by QEMU; the node image's disks start by their own loaders. Needs `make node-image FORM=cloud-init`, `make kube-assets`, root, QEMU, mmdebstrap and the network,
 * from which Debian is fetched once. `ROUNDS`: of each; the best counts.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { systemClock as clock, quietLog as log, cryptoRandom as random, uuid } from "@slipway/base";
import { type Client, createClient } from "@slipway/kube";
import { Namespace, Node, Secret } from "@slipway/kube/core";
import { TenantControlPlane } from "../src/kinds/kamaji/tenant-control-plane.ts";
import { nodeImageFolder } from "../src/kubernetes/node-image-folder.ts";
import { LAB } from "../src/lab/rack.ts";
import { joinSeed } from "../src/lab/vino/join-seed.ts";
import { joinToken } from "../test/firmware/node/joining.ts";
import { run } from "../tools/image/run.ts";
import { debianPeer } from "./node-boot-peer.ts";
import { measureInOwnNetwork } from "./own-network.ts";
import { keep } from "./record.ts";
import { printMachine } from "./table.ts";
import { transportOf, withUp } from "./up.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const MOST_SECONDS = 400;
const NAMESPACE = "tenants";
const image = nodeImageFolder(process.env, "1.36", "amd64");
const kept = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "slipway/node-boot-peer");
/** What bootstrap data run first. */
const FIRST_COMMAND = /\[preflight\]/;

const peer = debianPeer(kept, join(image, "root.squashfs"));
await measureInOwnNetwork(["bios"], measure, { mcopy: "mtools" });

interface Boot {
  name: string;
  /** Arguments of QEMU that say what is started. */
  args: readonly string[];
}

interface Times {
  firstCommand: number;
  ready: number;
}

async function measure(): Promise<void> {
  printMachine(`power-on to Ready, emulated, one processor; best of ${ROUNDS}`);
  run("ip", ["address", "add", `${LAB.address}/32`, "dev", "lo"]);
  const dir = mkdtempSync(join(tmpdir(), "slipway-node-boot-"));
  try {
    const boots = [...["disk.img.zst", "disk-cloud-init.img.zst"].map((name) => fromDisk(dir, name)), fromDebian()];
    await withUp(
      ["--dir", join(dir, "up"), "--tenants-runtime", "process", "--tenants-host", LAB.address],
      async (client) => {
        const kubeconfig = await tenant(client, dir);
        const best = new Map<string, Times>();
        for (let round = 0; round < ROUNDS; round++)
          for (const boot of boots) {
            const times = await timesOf(dir, boot, kubeconfig);
            const before = best.get(boot.name);
            if (before === undefined || times.ready < before.ready) best.set(boot.name, times);
          }
        const theirs = best.get(boots.at(-1)!.name)!;
        for (const [name, { firstCommand, ready }] of best) {
          keep(`${name}, first command`, firstCommand, "s");
          keep(`${name}, Ready`, ready, "s");
          console.log(
            `${name.padEnd(28)} first command ${firstCommand.toFixed(1)} s, Ready ${ready.toFixed(1)} s: ${(ready / theirs.ready).toFixed(2)} × Debian's`,
          );
        }
      },
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function fromDisk(dir: string, name: string): Boot {
  const packed = join(image, name);
  if (!existsSync(packed)) throw new Error(`no ${packed}: run \`make node-image FORM=cloud-init\``);
  const disk = join(dir, name.replace(".zst", ""));
  run("zstd", ["-q", "-d", packed, "-o", disk]);
  return { name, args: drive(disk) };
}

function fromDebian(): Boot {
  const kernel = ["-kernel", peer.kernel, "-initrd", peer.initrd, "-append", "root=LABEL=root console=ttyS0"];
  return { name: "Debian, systemd, cloud-init", args: [...kernel, ...drive(peer.disk)] };
}

/** Nothing that is written to it lasts. */
function drive(file: string): string[] {
  return ["-drive", `if=virtio,format=raw,cache=unsafe,snapshot=on,file=${file}`];
}

/** A tenant whose Nodes are counted; returns its administrator's kubeconfig. */
async function tenant(client: Client, dir: string): Promise<string> {
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  await client.create(TenantControlPlane, {
    metadata: { namespace: NAMESPACE, name: "a" },
    spec: {
      controlPlane: { deployment: { replicas: 1 }, service: { serviceType: "LoadBalancer" } },
      kubernetes: { version: "v1.36.3", kubelet: { cgroupfs: "cgroupfs" } },
      networkProfile: { port: 16_443 },
      addons: { kubeProxy: {} },
    },
  } as never);
  await until("a tenant that is Ready", async () => {
    const { status } = await client.get(TenantControlPlane, { namespace: NAMESPACE, name: "a" });
    return status?.kubernetesResources?.version?.status === "Ready";
  });
  const secret = await client.get(Secret, { namespace: NAMESPACE, name: "a-admin-kubeconfig" });
  const text = Buffer.from(secret.data!["admin.conf"]!, "base64").toString();
  writeFileSync(join(dir, "admin.conf"), text, { mode: 0o600 });
  return text;
}

/** Starts one machine, and ends it when its Node is Ready. */
async function timesOf(dir: string, { name, args }: Boot, kubeconfig: string): Promise<Times> {
  const transport = await transportOf(join(dir, "admin.conf"));
  const cluster = createClient(transport, { clock, random, log });
  const machine = `node-${uuid(random).slice(0, 8)}`;
  const seed = seedDisk(dir, joinSeed(machine, { kubeconfig, token: await joinToken(cluster) }));
  const qemu = spawn(
    "qemu-system-x86_64",
    [
      ...["-machine", "q35,graphics=off", "-accel", "tcg", "-smp", "1", "-m", "3072", "-nodefaults", "-no-user-config"],
      ...["-display", "none", "-serial", "stdio", "-device", "virtio-rng-pci"],
      ...["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile=", ...args, ...drive(seed)],
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  ) satisfies ChildProcessByStdio<null, Readable, null>;
  const exited = once(qemu, "exit");
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  let console = "";
  let firstCommand = Number.NaN;
  qemu.stdout.on("data", (bytes: Buffer) => {
    console = (console + bytes.toString()).slice(-100_000);
    if (Number.isNaN(firstCommand) && FIRST_COMMAND.test(console)) firstCommand = seconds();
  });
  try {
    await until(
      `Node of ${name}`,
      async () => {
        const { items } = await cluster.list(Node);
        const conditions = items.find(({ metadata }) => metadata.name === machine)?.status?.conditions;
        return conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
      },
      () => console,
    );
    return { firstCommand, ready: seconds() };
  } finally {
    qemu.kill("SIGKILL");
    await exited;
    await cluster.delete(Node, { name: machine }).catch(() => {});
    await transport.close();
  }
}

/** A disk with the bootstrap data, as cloud-init's NoCloud has it. */
function seedDisk(dir: string, { userData, metaData }: { userData: string; metaData: string }): string {
  const disk = join(dir, "seed.img");
  rmSync(disk, { force: true });
  run("mkfs.vfat", ["-C", "-n", "CIDATA", disk, "4096"], {
    env: { ...process.env, PATH: `${process.env.PATH}:/sbin` },
  });
  for (const [name, text] of Object.entries({ "user-data": userData, "meta-data": metaData })) {
    writeFileSync(join(dir, name), text);
    run("mcopy", ["-i", disk, join(dir, name), `::/${name}`]);
  }
  return disk;
}

async function until(what: string, holds: () => Promise<boolean>, shown = (): string => ""): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > MOST_SECONDS * 1000) throw new Error(`no ${what}\n${shown()}`);
    await clock.sleep(100);
  }
}
