/** debian-installer's own programs without a machine: its initramfs, unpacked, as the root of a process. Needs root, cpio and an amd64 kernel. */
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { arch } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";

const run = promisify(execFile);
const END = "TRAILER!!!";
const MAGIC = "070701";

/** Why the programs can't be run here. */
export async function userlandTrouble(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "chroot needs root";
  if (arch() !== "x64") return `the installer is amd64's, this machine is ${arch()}`;
  return run("cpio", ["--version"]).then(
    () => undefined,
    () => "not installed: cpio",
  );
}

/** Unpacks an initramfs of one or more archives, one over the other as the kernel does. `parts`: how many of them; unset: all. */
export async function unpackInitramfs(file: string, root: string, parts?: number): Promise<void> {
  await mkdir(root);
  for (const archive of archivesIn(gunzipSync(await readFile(file))).slice(0, parts)) {
    const cpio = run("cpio", ["--extract", "--make-directories", "--unconditional", "--quiet"], { cwd: root });
    cpio.child.stdin!.end(archive);
    await cpio;
  }
  // What the installer's init makes.
  await symlink("/proc/self/fd", join(root, "dev/fd"));
}

function archivesIn(all: Buffer): Buffer[] {
  const archives: Buffer[] = [];
  for (let at = all.indexOf(MAGIC); at >= 0; ) {
    const next = all.indexOf(MAGIC, all.indexOf(END, at));
    archives.push(all.subarray(at, next < 0 ? all.length : next));
    at = next;
  }
  return archives;
}

/** Runs a shell script in there, with processes and mounts of its own. Resolves with what it printed, and rejects where it fails. */
export async function inUserland(root: string, script: string): Promise<string> {
  await writeFile(join(root, "script"), `set -e\nmount -t proc proc /proc\n${script}`);
  const { stdout, stderr } = await run("unshare", ["--mount", "--pid", "--fork", "chroot", root, "/bin/sh", "/script"]);
  return stdout + stderr;
}
