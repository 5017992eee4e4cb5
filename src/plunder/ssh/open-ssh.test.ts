/** How connections begin, end and break, with a script in the place of ssh(1). */
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { openSsh, type SshOptions } from "./open-ssh.ts";
import type { Run } from "./shell.ts";

const never = new AbortController().signal;
/** As ssh(1) does: a connection says that it stands and ends with its input; a command goes to a shell of this machine. */
const WELL =
  'case " $* " in *" -M "*) echo slipway-ready; exec cat;; *) for last; do :; done; exec sh -c "$last";; esac';

/** Connections by a program that does this; `args`: those that it was given, call by call. */
function world(t: TestContext, script: string, more: Partial<SshOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-ssh-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const ssh = join(folder, "ssh");
  writeFileSync(ssh, `#!/bin/sh\nprintf '%s\\n' "$*" >>${folder}/args\n${script}\n`);
  chmodSync(ssh, 0o755);
  const knownHosts = join(folder, "known_hosts");
  const open = openSsh({ ...{ clock: systemClock, user: "admin", knownHosts, recordsNew: false, ssh }, ...more });
  const args = () => readFileSync(join(folder, "args"), "utf8").trimEnd().split("\n");
  return { open, args, knownHosts };
}
const how = (more: Partial<Run> = {}): Run => ({ timeoutMs: 60_000, signal: never, ...more });
const left = (): string[] => readdirSync(tmpdir()).filter((name) => /^slipway-ssh-[A-Za-z0-9]{6}$/.test(name));

test("commands of a machine share its connection, which leaves nothing when it is closed", async (t) => {
  const before = left();
  const { open, args, knownHosts } = world(t, WELL);
  const shell = await open("192.0.2.1", never);
  assert.deepEqual(await shell.run("printf $((40+2)); echo e >&2; exit 3", how()), {
    ...{ code: 3, output: "42", errors: "e\n", isCut: false },
  });
  assert.equal((await shell.run("cat", how({ input: [Buffer.from("its input")] }))).output, "its input");
  await shell.close();
  assert.deepEqual(left(), before);
  const [master, first] = args();
  assert.match(master!, /^-F none -T -l admin -p 22 -o BatchMode=yes -o StrictHostKeyChecking=yes /);
  assert.ok(master!.includes(`-o UserKnownHostsFile="${knownHosts}" -o GlobalKnownHostsFile=none`));
  assert.match(master!, /-o ConnectTimeout=20 .* -M -S \S+\/s -- 192\.0\.2\.1 echo slipway-ready; exec cat$/);
  assert.ok(!master!.includes("IdentityFile"));
  assert.match(first!, /-o ProxyCommand=exit 1 -S \S+\/s -- 192\.0\.2\.1 sh -c /);
});

test("a key, a port and a way with new host keys are told to ssh", async (t) => {
  const { open, args } = world(t, WELL, { identity: "/k%d", port: 2222, recordsNew: true, connectMs: 1_500 });
  await (await open("h", never)).close();
  const [master] = args();
  assert.match(master!, /-p 2222 .*StrictHostKeyChecking=accept-new .*ConnectTimeout=2 /);
  assert.ok(master!.includes('-o IdentityFile="/k%%d" -o IdentitiesOnly=yes -o IdentityAgent=none'));
});

test("a connection that is refused says why, and what to do", async (t) => {
  const before = left();
  const refused = async (script: string, fault: object) => {
    const { open } = world(t, script);
    await assert.rejects(open("h", never), fault);
  };
  await refused("echo 'admin@h: Permission denied (publickey).' >&2; exit 255", {
    ...{ code: "BadCredentials", message: "h: it takes none of the keys" },
  });
  await refused("echo first >&2; echo 'ssh: no route to h' >&2; exit 255", {
    ...{ code: "Unavailable", message: "h: no connection: ssh: no route to h" },
  });
  await refused("exit 255", { code: "Unavailable", message: "h: no connection" });
  const { open } = world(t, WELL, { ssh: "no-such-ssh" });
  await assert.rejects(open("h", never), { code: "MissingInput", message: "h: there is no program no-such-ssh" });
  assert.deepEqual(left(), before);
});

test("a connection that does not stand in time, or is no longer wanted, is given up", async (t) => {
  const clock = new VirtualClock();
  const { open } = world(t, "exec cat", { clock, connectMs: 5_000 });
  let isOver = false;
  const late = assert
    .rejects(open("h", never), { code: "Unavailable", message: "h: no connection in 5 s" })
    .finally(() => {
      isOver = true;
    });
  while (clock.pending === 0) await systemClock.sleep(1);
  await clock.run(4_999);
  assert.equal(isOver, false);
  await clock.run(1);
  await late;
  assert.equal(clock.pending, 0);
  const stopping = new AbortController();
  const stopped = assert.rejects(open("h", stopping.signal), /enough/);
  while (clock.pending === 0) await systemClock.sleep(1);
  stopping.abort(new Error("enough"));
  await stopped;
  assert.equal(clock.pending, 0);
  await assert.rejects(open("h", stopping.signal), /enough/);
});

test("a connection that breaks under a command is told apart from a command that ends with 255", async (t) => {
  const { open } = world(t, WELL);
  const shell = await open("h", never);
  assert.equal((await shell.run("exit 255", how())).code, 255);
  await shell.close();
  const broken = world(t, 'case " $* " in *" -M "*) echo slipway-ready;; *) exit 255;; esac');
  const gone = await broken.open("h", never);
  const result = await (async () => {
    for (;;) {
      const ended = await gone.run("true", how()).catch((error: unknown) => error);
      if (ended instanceof Error) return ended;
    }
  })();
  assert.match(result.message, /^h: the connection broke before the command had ended$/);
  await gone.close();
});

test("a command that the other side ended for its time is a time-out, and one that is too long is not sent", async (t) => {
  const { open, args } = world(t, WELL);
  const shell = await open("h", never);
  await assert.rejects(shell.run("exit 124", how({ timeoutMs: 7_000 })), {
    ...{ code: "Timeout", message: "h: it has not ended in 7 s, and was ended" },
  });
  const long = ":".padEnd(100_000, " ");
  assert.equal((await shell.run(long, how())).code, 0);
  const calls = args().length;
  await assert.rejects(shell.run(`${long} `, how()), { code: "TooLarge", message: /more than 100000 bytes/ });
  assert.equal(args().length, calls);
  await shell.close();
});
