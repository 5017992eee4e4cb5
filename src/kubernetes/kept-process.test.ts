import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "@slipway/base";
import { KeptProcess } from "./kept-process.ts";

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "kept-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test("a program that ends by itself shows its code and its last words", async (t) => {
  const logFile = join(folder(t), "log");
  const part = new KeptProcess({ command: "/bin/sh", args: ["-c", "echo one; echo two >&2; exit 7"], logFile });
  assert.equal(await part.gone, 7);
  assert.equal(part.running, false);
  assert.equal(await part.lastWords(1), "two");
});

test("a program that is not there ends at once and says so", async (t) => {
  const part = new KeptProcess({ command: "/nowhere/etcd", args: [], logFile: join(folder(t), "log") });
  assert.equal(await part.gone, 127);
  assert.match(await part.lastWords(), /\/nowhere\/etcd/);
});

test("a stopped program is gone when stop returns, whichever the signal, and its folder is removed", async (t) => {
  for (const signal of ["TERM", "KILL"] as const) {
    const dir = folder(t);
    const removeAfter = join(dir, "state");
    mkdirSync(removeAfter);
    const pidFile = join(dir, "pid");
    const args = ["-c", `echo $$ > ${pidFile}; exec sleep 600`];
    const part = new KeptProcess({ command: "/bin/sh", args, logFile: join(dir, "log"), removeAfter });
    const pid = await pidIn(pidFile);
    await part.stop(signal);
    assert.equal(isAlive(pid), false, signal);
    assert.equal(existsSync(removeAfter), false);
  }
});

test("when we are killed, the program ends and its folder goes", async (t) => {
  const dir = folder(t);
  const removeAfter = join(dir, "state");
  mkdirSync(removeAfter);
  const pidFile = join(dir, "pid");
  const source = `
    import { KeptProcess } from ${JSON.stringify(new URL("./kept-process.ts", import.meta.url).href)};
    const args = ["-c", "echo $$ > ${pidFile}; exec sleep 600"];
    new KeptProcess({ command: "/bin/sh", args, logFile: "${join(dir, "log")}", removeAfter: "${removeAfter}" });
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "inherit" });
  const pid = await pidIn(pidFile);
  owner.kill("SIGKILL");
  await once(owner, "exit");
  await until("the program to end", () => !isAlive(pid));
  await until("its folder to be removed", () => !existsSync(removeAfter));
});

test("when we are killed, a program is ended by TERM, or by the signal that was asked for", async (t) => {
  for (const orphaned of [undefined, "KILL"] as const) {
    const dir = folder(t);
    const [pidFile, toldFile] = [join(dir, "pid"), join(dir, "told")];
    const source = `
      import { KeptProcess } from ${JSON.stringify(new URL("./kept-process.ts", import.meta.url).href)};
      const args = ["-c", "trap 'echo TERM > ${toldFile}; exit' TERM; echo $$ > ${pidFile}; while :; do sleep 0.1; done"];
      new KeptProcess({ command: "/bin/sh", args, logFile: "${join(dir, "log")}"${orphaned ? `, orphaned: "${orphaned}"` : ""} });
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "inherit" });
    const pid = await pidIn(pidFile);
    owner.kill("SIGKILL");
    await once(owner, "exit");
    await until("the program to end", () => !isAlive(pid));
    assert.equal(existsSync(toldFile), orphaned === undefined);
  }
});

test("a program has its variables beside ours, is known by its id, and nobody else reads its log", async (t) => {
  const dir = folder(t);
  const [logFile, pidFile] = [join(dir, "log"), join(dir, "pid")];
  const args = ["-c", `echo "$WORD in $PATH"; echo $$ > ${pidFile}; exec sleep 600`];
  const part = new KeptProcess({ command: "/bin/sh", args, env: { WORD: "ahoy" }, logFile });
  assert.equal(await pidIn(pidFile), part.pid());
  assert.equal(part.running, true);
  assert.equal(await part.lastWords(), `ahoy in ${process.env.PATH}`);
  assert.equal(statSync(logFile).mode & 0o777, 0o600);
  await part.stop();
  await part.stop();
  assert.equal(part.running, false);
});

async function pidIn(file: string): Promise<number> {
  await until(`a process id in ${file}`, () => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
  return Number(readFileSync(file, "utf8"));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const end = systemClock.now() + 20_000;
  while (!holds()) {
    assert.ok(systemClock.now() < end, `not within 20 s: ${what}`);
    await systemClock.sleep(20);
  }
}
