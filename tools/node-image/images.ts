import { cpSync, existsSync, globSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { coreDnsVersion } from "../../src/bootstrap/kubeadm/core-dns.ts";
import type { NodeArchitecture } from "../../test/kubernetes/assets/node-binaries.ts";
import { readElf } from "../image/elf.ts";
import { writeImageArchive } from "./image-archive.ts";
import { IPTABLES, PAUSE } from "./packages.ts";
import { addProgram } from "./tree.ts";

const FOLDER = "usr/share/slipway/images";

export interface ImageSources {
  architecture: NodeArchitecture;
  /** Of Kubernetes, without `v`. */
  version: string;
  /** The node's files, from which iptables and busybox are taken, and into which the archives go. */
  root: string;
  /** A folder for what is put together. */
  work: string;
  /** The file of a program that was built. */
  program(name: "pause" | "kube-proxy" | "coredns"): string;
}

/** Writes the images that a node brings along, in the order of their import: the sandbox's first. */
export async function addImages({ architecture, version, root, work, program }: ImageSources): Promise<void> {
  mkdirSync(join(root, FOLDER), { recursive: true });
  const write = async (
    file: string,
    name: string,
    entrypoint: string,
    fill: (layer: string) => void,
  ): Promise<void> => {
    const layer = join(work, file);
    rmSync(layer, { recursive: true, force: true });
    mkdirSync(layer, { recursive: true });
    fill(layer);
    const target = join(root, FOLDER, `${file}.tar`);
    await writeImageArchive(target, { name, architecture, root: layer, entrypoint: [entrypoint] });
    rmSync(layer, { recursive: true });
  };
  await write("0-pause", PAUSE, "/pause", (layer) => addProgram(layer, program("pause"), "pause"));
  await write("2-kube-proxy", `registry.k8s.io/kube-proxy:v${version}`, "/usr/local/bin/kube-proxy", (layer) => {
    addProgram(layer, program("kube-proxy"), "usr/local/bin/kube-proxy");
    addIptables(root, layer);
  });
  await write("1-busybox", "slipway.dev/busybox:1", "/bin/sh", (layer) => {
    addProgram(layer, join(root, "usr/bin/busybox"), "bin/busybox");
    for (const name of ["sh", "ip", "nc", "ping", "nslookup", "wget", "httpd", "sleep", "cat", "ls", "hostname"])
      symlinkSync("busybox", join(layer, "bin", name));
  });
  const coreDns = `registry.k8s.io/coredns/coredns:${coreDnsVersion(version)}`;
  await write("3-coredns", coreDns, "/coredns", (layer) => {
    addProgram(layer, program("coredns"), "coredns");
    const authorities = "etc/ssl/certs/ca-certificates.crt";
    mkdirSync(join(layer, dirname(authorities)), { recursive: true });
    cpSync(join(root, authorities), join(layer, authorities));
  });
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
