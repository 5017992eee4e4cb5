import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { coreDnsVersion } from "../../src/bootstrap/kubeadm/core-dns.ts";
import type { NodeArchitecture } from "../../test/kubernetes/assets/node-binaries.ts";
import { readElf } from "../image/elf.ts";
import { run } from "../image/run.ts";
import { writeImageLayout } from "./image-layout.ts";
import { IPTABLES, PAUSE, PROXY_AGENT } from "./packages.ts";
import { addProgram } from "./tree.ts";

/** What containerd keeps of images, copied at each start into memory. */
const STORE = "usr/share/slipway/store";
/** The files of their layers, which stay where they are. */
const LAYERS = "usr/share/slipway/layers";
/** Where the node's packed files are mounted by themselves. */
const MOUNTED = "/mnt/image";

export interface ImageSources {
  architecture: NodeArchitecture;
  /** Of Kubernetes, without `v`. */
  version: string;
  /** The node's files, from which iptables and busybox are taken, and into which the images go. */
  root: string;
  /** A folder for what is put together. */
  work: string;
  /** The file of a program that was built. */
  program(name: "pause" | "kube-proxy" | "coredns" | "proxy-agent"): string;
  /** The program that writes containerd's store, on this machine. */
  imageStore: string;
}

/** What the program that writes the store is told of an image. */
interface Stored {
  name: string;
  layout: string;
  root: string;
  pinned: boolean;
}

/** Puts the images that a node brings along into its files, as containerd keeps them: nothing is imported or unpacked on the node. */
export async function addImages({
  architecture,
  version,
  root,
  work,
  program,
  imageStore,
}: ImageSources): Promise<void> {
  const stored: Stored[] = [];
  const write = async (name: string, entrypoint: string, fill: (layer: string) => void): Promise<void> => {
    const place = join(work, `image-${stored.length}`);
    const [layer, layout] = [join(place, "root"), join(place, "layout")];
    rmSync(place, { recursive: true, force: true });
    mkdirSync(layer, { recursive: true });
    fill(layer);
    await writeImageLayout(layout, { name, architecture, root: layer, entrypoint: [entrypoint] });
    stored.push({ name, layout, root: layer, pinned: name === PAUSE });
  };
  await write(PAUSE, "/pause", (layer) => addProgram(layer, program("pause"), "pause"));
  await write(`registry.k8s.io/kube-proxy:v${version}`, "/usr/local/bin/kube-proxy", (layer) => {
    addProgram(layer, program("kube-proxy"), "usr/local/bin/kube-proxy");
    addIptables(root, layer);
  });
  await write("slipway.dev/busybox:1", "/bin/sh", (layer) => {
    addProgram(layer, join(root, "usr/bin/busybox"), "bin/busybox");
    for (const name of ["sh", "ip", "nc", "ping", "nslookup", "wget", "httpd", "sleep", "cat", "ls", "hostname"])
      symlinkSync("busybox", join(layer, "bin", name));
  });
  await write(`registry.k8s.io/coredns/coredns:${coreDnsVersion(version)}`, "/coredns", (layer) => {
    addProgram(layer, program("coredns"), "coredns");
    const authorities = "etc/ssl/certs/ca-certificates.crt";
    mkdirSync(join(layer, dirname(authorities)), { recursive: true });
    cpSync(join(root, authorities), join(layer, authorities));
  });
  await write(PROXY_AGENT, "/proxy-agent", (layer) => addProgram(layer, program("proxy-agent"), "proxy-agent"));
  run(imageStore, [join(root, STORE)], { input: Buffer.from(JSON.stringify(stored)) });
  setLayersApart(root);
}

/** Layers stay packed: in the store there are links to them. */
function setLayersApart(root: string): void {
  const snapshots = join(root, STORE, "io.containerd.snapshotter.v1.overlayfs/snapshots");
  mkdirSync(join(root, LAYERS), { recursive: true });
  for (const id of readdirSync(snapshots)) {
    renameSync(join(snapshots, id, "fs"), join(root, LAYERS, id));
    symlinkSync(join(MOUNTED, LAYERS, id), join(snapshots, id, "fs"));
  }
}

/** iptables and nft's side of it, with the libraries and extensions that they load, and kmod's programs. */
function addIptables(root: string, layer: string): void {
  for (const folder of ["bin", "lib", "lib64", "sbin"]) {
    mkdirSync(join(layer, "usr", folder), { recursive: true });
    symlinkSync(`usr/${folder}`, join(layer, folder));
  }
  const copied = new Set<string>();
  const copy = (path: string): void => {
    if (copied.has(path)) return;
    copied.add(path);
    const content = readFileSync(realpathSync(join(root, path)));
    addProgram(layer, realpathSync(join(root, path)), path);
    const elf = readElf(content);
    for (const name of elf?.needed ?? []) copy(libraryPath(root, name));
    if (elf?.interpreter !== undefined) copy(join("usr", elf.interpreter));
  };
  copy("usr/sbin/xtables-nft-multi");
  copy("usr/bin/kmod");
  for (const name of IPTABLES) symlinkSync("xtables-nft-multi", join(layer, "usr/sbin", name));
  symlinkSync("../bin/kmod", join(layer, "usr/sbin/modprobe"));
  for (const file of globSync(join(root, "usr/lib/*/xtables/*.so"))) copy(file.slice(root.length + 1));
  mkdirSync(join(layer, "run"));
}

function libraryPath(root: string, name: string): string {
  const [found] = globSync(join(root, "usr/lib/*-linux-gnu", name));
  if (found === undefined || !existsSync(found)) return join("usr/lib64", basename(name));
  return found.slice(root.length + 1);
}
