/** `slipway lab` on a network of its own, with programs in QEMU's place: what it prints, what can be asked meanwhile, and what it leaves. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { inOwnNetwork } from "../../src/lab/namespace.ts";
import { missingPackages } from "../../src/lab/programs.ts";
import { noNetwork, putQemu, QEMU } from "../../src/lab/testing.ts";

const HANGS_MS = 120_000;

type IsEnough = (said: string) => boolean;

/** Starts a lab as that starts itself in its network, past the check of what is installed. `bin`: before the PATH. Resolves once what it said is enough. */
function startLab(t: TestContext, options: readonly string[], bin: string, isEnough: IsEnough) {
  const all = ["lab", ...options, "--inside", "6443", "--inside-console", "8070"];
  return startCommand(t, inOwnNetwork(resolve("bin/slipway"), all, { root: false }), bin, isEnough);
}

async function startCommand(
  t: TestContext,
  { command, args }: { command: string; args: readonly string[] },
  bin: string,
  isEnough: IsEnough,
) {
  const lab = spawn(command, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    timeout: HANGS_MS,
    killSignal: "SIGKILL",
  });
  t.after(() => lab.kill("SIGKILL"));
  const ended = once(lab, "exit");
  let out = "";
  for await (const text of lab.stdout.setEncoding("utf8")) {
    out += text;
    if (isEnough(out)) break;
  }
  return { lab, ended, out };
}

test("a lab names its machines and how to ask, shows one's serial line, and leaves nothing but what they said", {
  skip: noNetwork(),
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const bin = join(dir, "bin");
  mkdirSync(bin);
  putQemu(bin, QEMU);
  const state = join(dir, "lab");
  mkdirSync(join(state, "netboot"), { recursive: true, mode: 0o700 });
  writeFileSync(join(state, "netboot", "of-an-earlier-lab"), "");
  const machines = ["--machines", "2", "--firmware", "bios", "--memory", "512Mi", "--disk", "1Mi"];
  const options = [...machines, "--dir", state, "--assets", dir, "--console", "lab-2", "--log-level", "error"];
  const { lab, ended, out } = await startLab(t, options, bin, (said) => said.includes("ordered qmp_capabilities\n"));
  assert.match(out, /^Kubernetes API {3}https:\/\/127\.0\.0\.1:6443\nConsole {10}http:\/\/127\.0\.0\.1:8070 \(/);
  assert.match(out, /\nkubeconfig {7}\S+\/lab\/kubeconfig\n/);
  assert.match(out, /\nlab-1 {12}52:54:00:77:00:01 {2}bios {9}\S+\/lab-1\/console\.log\n/);
  assert.match(out, /\nInto its network: nsenter --target \d+ --net --user --preserve-credentials\n/);
  assert.match(out, /\nCtrl-C ends it; .*\n\nup: lab-2\n/);
  assert.doesNotMatch(out, /up: lab-1/);

  assert.match(readFileSync(join(state, "kubeconfig"), "utf8"), /server: "?https:\/\/127\.0\.0\.1:6443"?\n/);
  const door = connect({ path: join(state, "api.sock"), rejectUnauthorized: false });
  await once(door, "secureConnect");
  door.destroy();
  assert.equal(existsSync(join(state, "netboot", "of-an-earlier-lab")), false);
  const asked = await promisify(execFile)("bin/slipway", ["get", "hosts", "-o=json", "--dir", join(state, "netboot")]);
  assert.deepEqual(JSON.parse(asked.stdout), { hosts: [] });

  lab.kill("SIGINT");
  assert.deepEqual(await ended, [0, null]);
  for (const name of ["lab-1", "lab-2"]) {
    assert.deepEqual(readdirSync(join(state, name)), ["console.log"]);
    assert.match(readFileSync(join(state, name, "console.log"), "latin1"), new RegExp(`^up: ${name}\n`));
  }
  for (const socket of ["api.sock", "netboot/netboot.sock"])
    assert.equal(existsSync(join(state, socket)), false, socket);
});

test("a lab with a pool applies it to its machines, serves what they install, and leaves nothing of it", {
  skip: noNetwork(),
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const [bin, assets, state] = ["bin", "assets", "lab"].map((name) => join(dir, name)) as [string, string, string];
  for (const folder of [bin, join(assets, "agent/x86_64"), join(assets, "boot"), state])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  putQemu(bin, QEMU);
  for (const name of ["agent/x86_64/vmlinuz", "agent/x86_64/initrd", "agent/x86_64/rest", "boot/shimx64.efi"])
    writeFileSync(join(assets, name), name);
  writeFileSync(join(assets, "boot/grubx64.efi"), "grub");
  const options = ["--pool", "1", "--disk", "1Mi", "--dir", state, "--assets", assets, "--log-level", "error"];
  const { lab, ended, out } = await startLab(
    t,
    options,
    bin,
    (said) => /lab-pool-\w+: ordering/.test(said) && said.includes("lab-2  inspecting"),
  );
  assert.match(out, /\n +\d+\.\d s {2}lab-1 {2}\w+, -, node -\n/);
  assert.match(readFileSync(join(state, "pool.yaml"), "utf8"), /isoUrl: \S+\/stand-in\/harvester-v1\.8\.1-amd64\.iso/);
  assert.deepEqual(readdirSync(join(state, "stand-in")).sort(), ["stand-in.initrd", "stand-in.iso"]);

  lab.kill("SIGINT");
  assert.deepEqual(await ended, [0, null]);
  for (const name of ["lab-1", "lab-2"]) assert.deepEqual(readdirSync(join(state, name)), ["console.log"]);
});

test("a lab as users start it has its API at the port outside, and ends with what it has put there", {
  skip: noNetwork(),
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const [bin, state] = [join(dir, "bin"), join(dir, "lab")];
  mkdirSync(bin);
  putQemu(bin, QEMU);
  const missing = await missingPackages(["bios"], `${bin}:${process.env.PATH}`);
  if (missing.length > 0) return t.skip(`not installed: ${missing.join(", ")}`);
  const machines = ["--machines", "1", "--firmware", "bios", "--memory", "512Mi", "--disk", "1Mi"];
  const args = [
    "lab",
    ...machines,
    "--port",
    "0",
    "--console-port",
    "0",
    "--dir",
    state,
    "--assets",
    dir,
    "--log-level",
    "error",
  ];
  const isEnough = (said: string): boolean => said.includes("Ctrl-C ends it");
  const { lab, ended, out } = await startCommand(t, { command: resolve("bin/slipway"), args }, bin, isEnough);
  const [, port] = /^Kubernetes API {3}https:\/\/127\.0\.0\.1:(\d+)\n/.exec(out)!;
  const door = connect({ host: "127.0.0.1", port: Number(port), rejectUnauthorized: false });
  await once(door, "secureConnect");
  door.destroy();
  const [, web] = /\nConsole {10}(\S+) /.exec(out)!;
  assert.equal((await fetch(`${web}/console/session`)).status, 401);
  // Root has entered no user namespace, so none is to be entered to follow it.
  const user = process.getuid!() === 0 ? "" : " --user --preserve-credentials";
  assert.match(out, new RegExp(`\nInto its network: nsenter --target \\d+ --net${user}\n`));

  lab.kill("SIGINT");
  assert.deepEqual(await ended, [0, null]);
  assert.deepEqual(readdirSync(state), ["lab-1"]);
});
