import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, type Fault, isFault } from "@slipway/base";
import { readDocument } from "../files/document.ts";
import { openSsh } from "../ssh/open-ssh.ts";
import { NO_SSHD, startSshd, type TestServer } from "../ssh/testing.ts";
import { refuseLocalCommands, type Task, tasksOf } from "./action.ts";
import { checkpointsIn } from "./checkpoint.ts";
import { oneFolder, wholeMachine } from "./here.ts";
import { parlay, type Report } from "./parlay.ts";

const options = NO_SSHD === undefined ? { timeout: 300_000 } : { skip: NO_SSHD };
const never = new AbortController().signal;

function tasks(...deployments: object[]): readonly Task[] {
  return tasksOf(readDocument(JSON.stringify({ deployments }), "test"), "test");
}

function setUp(server: TestServer, { recordsNew = true, connectMs = 60_000 } = {}) {
  const reports: Report[] = [];
  const checkpoints = checkpointsIn(join(server.folder, "checkpoint"));
  const { user, port, identity, knownHosts } = server;
  const open = openSsh({ clock, user, port, identity, knownHosts, recordsNew, connectMs });
  const ports = {
    open,
    here: wholeMachine(clock),
    clock,
    checkpoints,
    report: (report: Report) => void reports.push(report),
  };
  const run = (what: readonly Task[], more: { resume?: boolean; signal?: AbortSignal } = {}) =>
    parlay(what, ports, { signal: never, ...more });
  return { run, reports, ports, checkpoints };
}

const on = (...actions: object[]): object => ({ name: "d", hosts: ["127.0.0.1"], actions });
const command = (text: string, more: object = {}): object => ({
  name: text.slice(0, 20).replaceAll(/[^\w ]/g, "_"),
  type: "command",
  command: text,
  ...more,
});

async function world(t: TestContext) {
  const server = await startSshd(t);
  return { server, ...setUp(server) };
}

test("N31 every type of action does what it says, on a real sshd", options, async (t) => {
  const { server, run, reports } = await world(t);
  const here = (name: string): string => join(server.folder, name);
  const there = here("there");
  mkdirSync(there);
  const big = Buffer.alloc(300_000, "slipway\n");
  writeFileSync(here("in.bin"), big, { mode: 0o755 });
  writeFileSync(here("key.txt"), "a value of a file");
  const values = await run(
    tasks(
      on(
        { name: "up", type: "upload", source: here("in.bin"), destination: join(there, "it's here") },
        { name: "into a folder", type: "upload", source: here("key.txt"), destination: `${there}/new/` },
        { name: "down", type: "download", source: join(there, "it's here"), destination: here("a/b/out.bin") },
        command("printf 'abc def' | tr a-z A-Z", { commandSaveAsKey: "token", commandSaveFile: here("saved") }),
        { name: "key", type: "key", keyFile: here("key.txt"), keyName: "fromFile" },
        { name: "key is there", type: "key", keyName: "token" },
        command("cat", { commandPipeFile: here("key.txt"), commandSaveAsKey: "piped" }),
        command("cat", { commandPipeCmd: "echo made here; echo two", commandSaveAsKey: "pipedCmd" }),
        command("[[ $BASH_VERSION ]] && echo bash", { commandSaveAsKey: "shell" }),
        { name: "several", type: "command", commands: ["echo one", "echo two"], commandSaveAsKey: "several" },
        { name: "local", type: "command", command: "echo $PPID", commandLocal: true, commandSaveAsKey: "local" },
        command("echo 'echo run as saved' ", { commandSaveAsKey: "script" }),
        { name: "saved", type: "command", keyName: "script", commandSaveAsKey: "ran" },
      ),
    ),
  );
  assert.ok(readFileSync(join(there, "it's here")).equals(big));
  assert.equal(existsSync(join(there, "new", "key.txt")), true);
  assert.ok(readFileSync(here("a/b/out.bin")).equals(big));
  assert.equal(readFileSync(here("saved"), "utf8"), "ABC DEF");
  const { token, fromFile, piped, pipedCmd, shell, several, local, ran } = values.all();
  assert.deepEqual(
    [token, fromFile, piped, pipedCmd],
    ["ABC DEF", "a value of a file", "a value of a file", "made here\ntwo\n"],
  );
  assert.deepEqual([shell, several, ran], ["bash\n", "one\ntwo\n", "run as saved\n"]);
  assert.equal(Number(local), process.pid);
  assert.deepEqual(
    reports.filter(({ error }) => error !== undefined),
    [],
  );
  assert.ok(!JSON.stringify(reports).includes("ABC DEF"), "a saved value is in no report");
  assert.equal(existsSync(here("checkpoint")), false);
});

test("N31 pkg runs the package manager that it names, for these packages", options, async (t) => {
  const { server, run, reports } = await world(t);
  const log = join(server.folder, "yum.log");
  // In the place of yum, found by the path of the session.
  const shell = `mkdir -p ~/.slipway-test && :`;
  await run(tasks(on(command(shell))));
  const [task] = tasks(
    on({
      name: "packages",
      type: "pkg",
      packageManager: "yum",
      packageOperation: "install",
      packages: "vim, htop=1.2",
    }),
  );
  const [action] = task!.actions;
  assert.ok(action?.do === "command" && action.command.is === "text");
  assert.equal(action.command.text, "yum -q -y install -- 'vim' 'htop=1.2'");
  const stub = `yum() { printf '%s\\n' "$@" >${log}; }; ${action.command.text}`;
  await run([{ ...task!, actions: [{ ...action, command: { is: "text", text: stub } }] }]);
  assert.equal(readFileSync(log, "utf8"), "-q\n-y\ninstall\n--\nvim\nhtop=1.2\n");
  assert.equal(reports.length, 2);
});

test(
  "N5 an unknown host key is refused unless it is to be recorded; a recorded one is checked ever after",
  options,
  async (t) => {
    const server = await startSshd(t);
    const strict = setUp(server, { recordsNew: false });
    const lax = setUp(server);
    const refusal = async (run: typeof strict.run, reports: Report[], words: RegExp): Promise<void> => {
      await assert.rejects(run(tasks(on(command("true")))), /failed on 127\.0\.0\.1/);
      const { error } = reports.at(-1)!;
      assert.ok(isFault(error, "UntrustedCertificate"), String(error));
      assert.match(error.advice, words);
    };
    await refusal(strict.run, strict.reports, /no host key is recorded.*--accept-new/);
    await lax.run(tasks(on(command("true"))));
    assert.match(readFileSync(server.knownHosts, "utf8"), /^\[127\.0\.0\.1\]:\d+ ssh-ed25519 /);
    await strict.run(tasks(on(command("true"))));
    await server.anew();
    await refusal(strict.run, strict.reports, /another host key.*forget/);
    await refusal(lax.run, lax.reports, /another host key.*forget/);
  },
);

test("N31 a command ends at its time-out, here and on the machine, and says so", options, async (t) => {
  const { server, run, reports } = await world(t);
  const pid = join(server.folder, "pid-of-sleep");
  await assert.rejects(run(tasks(on({ ...command(`echo $$ >${pid}; exec sleep 1000`), timeout: 8 }))));
  const { error } = reports.at(-1)!;
  assert.ok(isFault(error, "Timeout"), String(error));
  assert.match(error.message, /has not ended in 8 s/);
  const left = Number(readFileSync(pid, "utf8"));
  const until = clock.now() + 60_000;
  while (existsSync(`/proc/${left}`) && clock.now() < until) await clock.sleep(20);
  assert.equal(existsSync(`/proc/${left}`), false, "the command still runs on the machine after 60 s");
});

test("N31 what failed is gone on with where it was, and what is done is not done again", options, async (t) => {
  const { server, run, reports, checkpoints } = await world(t);
  const log = join(server.folder, "log");
  const flag = join(server.folder, "flag");
  const map = tasks(
    on(
      command(`echo first >>${log}; echo secret-token`, { commandSaveAsKey: "token" }),
      command(`echo second >>${log}; test -e ${flag}`),
      {
        ...command(`cat >>${log}`),
        commandPipeCmd: "echo third",
      },
    ),
    { ...on(command(`echo fourth >>${log}`)), name: "later" },
  );
  await assert.rejects(run(map), (error) => isFault(error, "Refused") && /resume/.test(error.advice));
  assert.equal(readFileSync(log, "utf8"), "first\nsecond\n");
  assert.match(reports.at(-1)!.error!.message, /ended with 1/);
  writeFileSync(flag, "");
  assert.deepEqual((await checkpoints.read())?.done, { "0/127.0.0.1": 1 });
  await assert.rejects(run(tasks(on(command("true"))), { resume: true }), (error) => isFault(error, "Conflict"));
  const values = await run(map, { resume: true });
  assert.equal(values.get("token"), "secret-token\n");
  assert.equal(readFileSync(log, "utf8"), "first\nsecond\nsecond\nthird\nfourth\n");
  await assert.rejects(run(map, { resume: true }), (error) => isFault(error, "NotFound"));
});

test("N31 a failure that the map ignores is told, and the map goes on", options, async (t) => {
  const { run, reports } = await world(t);
  await run(tasks(on(command("echo no >&2; exit 3", { ignoreFail: true }), command("echo yes"))));
  assert.deepEqual(
    reports.map(({ output, error, isIgnored }) => [output, error?.message, isIgnored]),
    [
      ["", "127.0.0.1: ended with 3: no", true],
      ["yes\n", undefined, undefined],
    ],
  );
});

test(
  "N31 hosts are worked on in parallel, as many as the map says, and one that fails stops no other; connections are closed",
  options,
  async (t) => {
    const { server, run, reports } = await world(t);
    const hosts = ["127.0.0.1", "::1", "localhost"];
    // Each waits until the others are there: one after the other, they would wait in vain.
    const meet = `mkdir -p ${server.folder}/met; touch ${server.folder}/met/$$; n=0; while [ $(ls ${server.folder}/met | wc -l) -lt 3 ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done; [ $n -lt 600 ]`;
    await run(tasks({ name: "p", hosts, parallel: true, actions: [command(meet)] }));
    assert.equal(reports.length, 3);
    const [first] = hosts;
    const map = tasks({
      name: "p",
      hosts: [first, "no-such-host.invalid", "::1"],
      parallel: true,
      parallelSessions: 1,
      actions: [command("true")],
    });
    await assert.rejects(run(map), /no-such-host\.invalid/);
    const until = clock.now() + 60_000;
    while (server.connections() > 0 && clock.now() < until) await clock.sleep(20);
    assert.equal(server.connections(), 0, "a connection still stands after 60 s");
  },
);

test("N31 Ctrl-C ends what is under way, and the record of how far it is stays", options, async (t) => {
  const { server, run, checkpoints } = await world(t);
  const stopping = new AbortController();
  const begun = join(server.folder, "begun");
  const running = run(tasks(on(command("true"), command(`touch ${begun}; sleep 1000`))), { signal: stopping.signal });
  const until = clock.now() + 60_000;
  while (!existsSync(begun) && clock.now() < until) await clock.sleep(20);
  assert.ok(existsSync(begun), "the second command has not begun in 60 s");
  stopping.abort(new Error("stopped"));
  await assert.rejects(running, /stopped/);
  assert.deepEqual((await checkpoints.read())?.done, { "0/127.0.0.1": 1 });
});

test("no command, value or file name is on a command line of this machine", options, async (t) => {
  const { server, run } = await world(t);
  const seen = join(server.folder, "processes");
  await run(
    tasks(
      on(command(`: geheim-7; ps -eo args >${seen}; :`), {
        name: "x",
        type: "command",
        command: ": geheim-8; sleep 0",
        commandLocal: true,
      }),
    ),
  );
  const lines = readFileSync(seen, "utf8").split("\n");
  assert.ok(
    lines.some((line) => line.includes("SLIPWAY_COMMAND")),
    "the wrapper is seen",
  );
  assert.deepEqual(
    lines.filter((line) => line.includes("geheim")),
    [],
  );
});

test("a file that breaks off takes the place of none", options, async (t) => {
  const { server, ports } = await world(t);
  const target = join(server.folder, "target");
  writeFileSync(target, "as it was");
  const here = {
    ...ports.here,
    read: async (path: string) => ({ ...(await ports.here.read(path)), size: 999 }),
  };
  writeFileSync(join(server.folder, "short"), "short");
  const map = tasks(on({ name: "up", type: "upload", source: join(server.folder, "short"), destination: target }));
  await assert.rejects(parlay(map, { ...ports, here }, { signal: never }));
  assert.equal(readFileSync(target, "utf8"), "as it was");
});

test("over the network a map names no file beside its folder, and no command of this machine", async (t) => {
  const { mkdtempSync, rmSync, symlinkSync } = await import("node:fs");
  const folder = mkdtempSync("/tmp/slipway-here-");
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "own"), "mine");
  symlinkSync("/etc", join(folder, "etc"));
  symlinkSync("/etc/passwd", join(folder, "passwd"));
  const here = oneFolder(folder);
  const { bytes } = await here.read("own");
  bytes.destroy();
  for (const path of [
    "../x",
    "/etc/passwd",
    "a/../../x",
    "etc/passwd",
    "passwd",
    "",
    ".",
    "a//b",
    "./own",
    "..",
    "a\\b",
    "a\u0000b",
  ])
    for (const way of [here.read, here.write])
      await assert.rejects(way(path), (error) => isFault(error, "Forbidden"), path);
  await assert.rejects(here.read("absent"), (error) => isFault(error, "NotFound"));
  await assert.rejects(here.run("id", { timeoutMs: 1, signal: never }), (error) => isFault(error, "Forbidden"));
  for (const more of [{ commandLocal: true }, { commandPipeCmd: "id" }])
    assert.throws(
      () => refuseLocalCommands(tasks(on(command("x", more)))),
      (error: Fault) => error.code === "Forbidden",
    );
});
