import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DEBIAN } from "../image/apt.ts";
import { run } from "../image/run.ts";
import { IPTABLES, LEFT } from "./packages.ts";

const OURS = join(import.meta.dirname, "root");
const FOLDERS = [
  "boot",
  "dev",
  "etc",
  "home",
  "mnt/image",
  "opt/cni/bin",
  "proc",
  "root",
  "run",
  "srv",
  "sys",
  "tmp",
  "var/lib",
  "var/log",
];
const MERGED = ["bin", "lib", "lib64", "sbin"];

/** Unpacks packages into a folder as a system with everything below `usr`. */
export function unpackTree(root: string, debs: readonly string[]): void {
  for (const folder of MERGED) {
    mkdirSync(join(root, "usr", folder), { recursive: true });
    symlinkSync(`usr/${folder}`, join(root, folder));
  }
  // Not dpkg-deb --extract: it puts a folder in the place of a link.
  for (const deb of debs) {
    const archive = run("dpkg-deb", ["--fsys-tarfile", deb]);
    run("tar", ["-x", "--keep-directory-symlink", "-C", root], { input: archive });
  }
}

/** Makes a node's files of what was unpacked: without what no node needs, with what is ours. */
export function finishTree(root: string, { version }: { version: string }): void {
  for (const folder of FOLDERS) mkdirSync(join(root, folder), { recursive: true });
  for (const plugin of readdirSync(join(root, "usr/lib/cni")))
    renameSync(join(root, "usr/lib/cni", plugin), join(root, "opt/cni/bin", plugin));
  writeFileSync(
    join(root, "usr/lib/os-release"),
    `NAME="Slipway node"\nPRETTY_NAME="Slipway node (Debian ${DEBIAN.number}, Kubernetes ${version})"\nID=slipway\nID_LIKE=debian\nVERSION_ID="${version}"\n`,
  );
  writeFileSync(join(root, "etc/ssl/certs/ca-certificates.crt"), authorities(root));
  leaveOut(root);
  // What a package would link at its installation.
  for (const name of IPTABLES) link("xtables-nft-multi", join(root, "usr/sbin", name));
  link("bash", join(root, "usr/bin/rbash"));
  link("dash", join(root, "usr/bin/sh"));
  link("../bin/busybox", join(root, "usr/sbin/init"));
  link("../usr/lib/os-release", join(root, "etc/os-release"));
  // Programs look there for what is in /run.
  link("/run", join(root, "var/run"));
  cpSync(OURS, root, { recursive: true });
}

/** Copies a program into a node's files. */
export function addProgram(root: string, from: string, to: string): void {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(from, target);
  chmodSync(target, 0o755);
}

/** Takes away what no node needs; copyrights stay. */
export function leaveOut(root: string): void {
  for (const path of LEFT) rmSync(join(root, path), { recursive: true, force: true });
  for (const file of globSync(join(root, "usr/share/doc/*/*")))
    if (!file.endsWith("/copyright")) rmSync(file, { recursive: true, force: true });
}

/** The certificates of Mozilla's authorities, as one PEM text. Makes the folder below `root` that they belong in. */
export function authorities(root: string): Buffer {
  const files = globSync(join(root, "usr/share/ca-certificates/mozilla/*.crt")).sort();
  mkdirSync(join(root, "etc/ssl/certs"), { recursive: true });
  return Buffer.concat(files.map((file) => readFileSync(file)));
}

function link(to: string, at: string): void {
  rmSync(at, { recursive: true, force: true });
  mkdirSync(dirname(at), { recursive: true });
  symlinkSync(to, at);
}
