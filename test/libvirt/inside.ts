/**
 * Tests in mounts and networks of their own, with Debian's libvirtd in them: without systemd, D-Bus, cgroups and KVM, and away from a libvirt that
 * this machine may have. A test file runs itself there.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { systemClock as clock } from "@slipway/base";
import { LIBVIRT_MOUNTS, libvirtdArguments, prepareLibvirt } from "../../src/lab/vino/own-libvirt.ts";
import { program } from "../netboot/namespace.ts";

const INSIDE = "SLIPWAY_LIBVIRT_FOLDER";
const NEEDS = ["libvirtd", "virsh", "qemu-system-x86_64", "qemu-img", "dnsmasq", "ip", "perl", "unshare"];

/** Why these tests are skipped, which is printed; false: they need not be. */
function lacking(): string | false {
  const missing = NEEDS.filter((name) => program(name) === undefined);
  const reason =
    missing.length > 0 ? `not installed: ${missing.join(", ")}` : process.getuid?.() === 0 ? false : "needs root";
  if (reason !== false) console.log(`test-libvirt: skipped: ${reason}`);
  return reason;
}

/** Runs the tests of a file inside; outside, one test that has run them all. `url`: the file's own. */
export function inside(url: string, tests: (folder: string) => void): void {
  const folder = process.env[INSIDE];
  if (folder !== undefined) {
    tests(folder);
    return;
  }
  const name = fileURLToPath(url).split("/").at(-1);
  test(`${name} beside a libvirtd of its own`, { skip: lacking() }, async (t) => {
    const made = mkdtempSync(join(tmpdir(), "slipway-libvirt-"));
    t.after(() => rmSync(made, { recursive: true, force: true }));
    const script = [
      `folder='${made}'`,
      ...LIBVIRT_MOUNTS,
      "ip link set lo up",
      "ip link add wire type veth peer name wire-far",
      // This shell is the first process: it takes the exit codes of those that others have left behind.
      '"$@"',
      "exit $?",
    ].join("\n");
    prepareLibvirt(made);
    const child = spawn(
      program("unshare")!,
      [
        ...["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"],
        ...["sh", "-ec", script, "sh", process.execPath, "--test-reporter=spec", fileURLToPath(url)],
      ],
      {
        stdio: ["ignore", "inherit", "inherit"],
        env: { ...process.env, [INSIDE]: made, NODE_TEST_CONTEXT: undefined },
      },
    );
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`tests inside failed, see above\n${logOf(made)}`);
  });
}

function logOf(folder: string): string {
  const file = join(folder, "libvirtd.log");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(-40).join("\n") : "";
}

export interface Libvirtd {
  socket: string;
  /** Domains run on. */
  stop(): Promise<void>;
}

/** Starts libvirtd, and waits until it answers. It ends with the test. */
export async function startLibvirtd(t: TestContext, folder: string): Promise<Libvirtd> {
  const child = spawn(program("libvirtd")!, libvirtdArguments(folder), {
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => appendFileSync(join(folder, "libvirtd.log"), bytes));
  const stop = async (): Promise<void> => await ended(child, "SIGTERM");
  t.after(stop);
  await until("libvirtd answers", async () => (await virsh("version")).code === 0);
  return { socket: "/run/libvirt/libvirt-sock", stop };
}

/** Ends a process by a signal, and waits for its end. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}

/** Asks libvirt through its own client. */
export async function virsh(...args: readonly string[]): Promise<{ code: number; out: string }> {
  const child = spawn(program("virsh")!, ["-q", "-c", "qemu:///system", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (out += bytes));
  const [code] = (await once(child, "close")) as [number | null];
  return { code: code ?? -1, out };
}

/** Resolves once it holds. Rejects when it does not within minutes: the machine may be busy. */
export async function until<T>(what: string, holds: () => Promise<T>): Promise<NonNullable<T>> {
  for (const end = clock.monotonic() + 300_000; ; await clock.sleep(100)) {
    const found = await holds();
    if (found) return found;
    if (clock.monotonic() > end) throw new Error(`not within five minutes: ${what}`);
  }
}
