/** The command as a person meets it: what it prints and the code it ends with. */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, type TestContext, test } from "node:test";
import { SYSTEMS } from "../../src/operator/systems.ts";
import { CommandProcess, type Ended } from "./command-process.ts";

const commands = new CommandProcess();
after(() => commands.close());

/** In a process of its own. */
function slipway(...args: string[]): Promise<Ended> {
  return new Promise((done) => {
    execFile("bin/slipway", args, { timeout: 120_000 }, (error, out, err) =>
      done({ code: error?.code ?? 0, out, err }),
    );
  });
}

/** Starts the command and waits for its first line. */
async function started(t: TestContext, ...args: string[]): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn("bin/slipway", args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: child.stdout! }), "line")) as [string];
  child.stdout!.resume();
  return { child, line };
}

async function folder(t: TestContext, files: Record<string, string> = {}): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-cli-"));
  t.after(() => rm(dir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return dir;
}

const REFUSED: [args: string, said: RegExp][] = [
  ["up --kubernetes embedded --port abc", /--port.*'abc' is invalid.*whole number/],
  ["up --kubernetes minikube", /--kubernetes.*Allowed choices are embedded, real/],
  ["up --port 99999", /--port.*from 0 to 65535/],
  ["up --sim openshift", /--sim.*There is no openshift; known: harvester/],
  ["up --speed 0", /--speed.*above 0/],
  ["up --log-level loud", /Allowed choices are debug, info, warn, error/],
  ["up --dir /dev/null/x --port 0", /\/dev\/null.*; /],
  ["up --repair --kubernetes real", /--repair: etcd keeps the objects/],
  ["wipe node-1", /required option '--yes'/],
  ["release node-1 --yes --timeout 0", /--timeout.*above 0/],
  ["power on node-1 --kubeconfig /nowhere/kubeconfig", /\/nowhere\/kubeconfig/],
  ["lab --machines 0", /lab: 0 machines; say 1 to 64/],
  ["lab --machines 65", /lab: 65 machines; say 1 to 64/],
  ["lab --memory 511Mi", /lab: the agent needs 512Mi/],
  ["lab --memory 512Mi --console lab-4", /there is no lab-4; say one of lab-1, lab-2, lab-3/],
  ["lab --machines 64 --console lab-65", /there is no lab-65; say one of lab-1, .*, lab-64/],
  ["lab --disk 1023Ki", /--disk.*Give a size such as 4Gi/],
  ["lab --disk 1Mi --memory 1", /--memory.*Give a size such as 4Gi/],
  ["lab --firmware amiga", /--firmware.*There is no amiga; known: bios, uefi/],
  ["sim", /missing required argument 'cloud'/],
  ["sim nimbus", /'nimbus' is invalid.*equinix, latitude/],
  ["sim equinix --capacity many", /--capacity.*metro\/plan=machines/],
  ["sim latitude --stale-lists 5", /--stale-lists.*leave it out/],
  ["sim equinix --host 192.0.2.1", /192\.0\.2\.1: this machine has no such address; /],
  ["operator", /--boot-url <url>' not specified/],
  ["operator --boot-url slipway.example", /--boot-url.*https:\/\/slipway.example:8443/],
  ["operator --boot-url http://a.example --systems harvester,nimbus", /no nimbus; known: harvester/],
  ["operator --boot-url http://a.example --boot-listen here", /--boot-listen.*address:port/],
  ["operator --boot-url http://a.example --kubeconfig /nowhere/kubeconfig", /\/nowhere\/kubeconfig.*can't be read/],
  ["demo --examples /nowhere", /\/nowhere: there is no such file or folder; correct the path/],
  ["completion tcsh", /'tcsh' is invalid.*bash, zsh, fish/],
  ["fly", /unknown command 'fly'/],
];

for (const [args, said] of REFUSED) {
  test(`slipway ${args}: refused in one line, with exit code 2`, async () => {
    const { code, out, err } = await commands.run(...args.split(" "));
    assert.equal(code, 2, err);
    assert.equal(out, "");
    assert.match(err, /^slipway: [^\n]+\n$/);
    assert.match(err, said);
  });
}

test("a refusal ends the process with exit code 2", async () => {
  const { code, out, err } = await slipway("fly");
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /^slipway: unknown command 'fly'/);
});

test("a taken port is named, with what to do", async (t) => {
  const holder = createServer().listen(0, "127.0.0.1");
  t.after(() => holder.close());
  await once(holder, "listening");
  const { port } = holder.address() as { port: number };
  const { code, err } = await slipway("sim", "equinix", "--port", String(port));
  assert.equal(code, 2);
  assert.equal(
    err,
    `slipway: 127.0.0.1:${port}: the port is taken; end what listens there, or choose another port (0: any free one)\n`,
  );
});

test("an operator that can't start ends with what to do, also where a part of it listens already", async (t) => {
  const kubeconfig = `
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: some-token}}]`;
  const dir = await folder(t, { kubeconfig });
  const holder = createServer().listen(0, "127.0.0.1");
  t.after(() => holder.close());
  await once(holder, "listening");
  const taken = `127.0.0.1:${(holder.address() as { port: number }).port}`;
  const given = ["--boot-url", "http://a.example", "--kubeconfig", join(dir, "kubeconfig"), "--log-level", "error"];
  for (const [boot, health, more, said] of [
    [undefined, undefined, [], /^slipway: .*127\.0\.0\.1:1\b.*; check .*\n$/],
    [taken, undefined, [], /^slipway: 127\.0\.0\.1:\d+: the port is taken; .*\n$/],
    [undefined, taken, [], /^slipway: 127\.0\.0\.1:\d+: the port is taken; .*\n$/],
    [
      undefined,
      undefined,
      ["--boot-cert", "tls.crt"],
      /^slipway: .* --boot-key belong together; give both, or none\n$/,
    ],
    [undefined, undefined, ["--boot-key", "tls.key"], /^slipway: .* --boot-key belong together; give both, or none\n$/],
  ] as const) {
    const listen = ["--boot-listen", boot ?? "127.0.0.1:0", "--health-listen", health ?? "127.0.0.1:0"];
    const { code, out, err } = await commands.run("operator", ...given, ...listen, ...more);
    assert.deepEqual([code, out], [2, ""], err);
    assert.match(err, said);
  }
});

test("a manifest that is not YAML, or not an object, is named with its line", async (t) => {
  const broken = await folder(t, { "pool.yaml": "a: 1\nb: [1,\n---\n" });
  const { code, err } = await commands.run("demo", "--examples", broken);
  assert.equal(code, 2);
  assert.match(err, /pool\.yaml:\d: not YAML: /);
  const strange = await folder(t, { "pool.yaml": "apiVersion: v1\nkind: Secret\n" });
  assert.match(
    (await commands.run("demo", "--examples", strange)).err,
    /pool\.yaml: document 1: .*metadata\.name is missing/,
  );
});

test("a demo that is out of time ends with 1 and shows of each object what it waits for", async () => {
  const { code, out, err } = await slipway("demo", "--timeout", "0.3", "--speed", "1");
  assert.equal(code, 1);
  assert.match(out, /0 of 2 machines have joined/);
  const shown = err.split("\n").filter((line) => line.startsWith("  "));
  assert.ok(shown.filter((line) => line.startsWith("  InstancePool ")).length >= 3, err);
  const acts = shown.splice(shown.findIndex((line) => line.includes(": playing: ")));
  assert.equal(acts.length, SYSTEMS.filter(({ act }) => act !== undefined).length, "the acts that play beside them");
  for (const line of acts) assert.match(line, /^ {2}\S.*: playing: \S.*/);
  for (const line of shown) assert.match(line, /^ {2}\w+ \S+: \S+: \S.*/);
});

test("Ctrl-C ends a demo with 130", async (t) => {
  const { child } = await started(t, "demo", "--speed", "1");
  child.kill("SIGINT");
  assert.deepEqual(await once(child, "exit"), [130, null]);
});

test("a simulated cloud says where it is and with what key, serves it, and ends at Ctrl-C", async (t) => {
  const { child, line } = await started(t, "sim", "equinix", "--project", "p-1", "--token", "my-own-key", "-o=json");
  const { endpoint, token, project } = JSON.parse(line) as Record<string, string>;
  assert.deepEqual([token, project], ["my-own-key", "p-1"]);
  const headers = { "x-auth-token": token!, "content-type": "application/json" };
  assert.equal((await fetch(`${endpoint}/projects/p-1/devices`)).status, 401);
  const vlan = { method: "POST", headers, body: JSON.stringify({ vxlan: 1234, metro: "sg" }) };
  assert.equal((await fetch(`${endpoint}/projects/p-1/virtual-networks`, vlan)).status, 201);
  child.kill("SIGINT");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("a simulated cloud sells no more than it is set to, and plenty of what is not named", async (t) => {
  const { child, line } = await started(t, "sim", "latitude", "-o=json", "--capacity", "SAO/c2-small-x86=0");
  const { endpoint, token } = JSON.parse(line) as Record<string, string>;
  const answer = await fetch(`${endpoint}/plans`, { headers: { authorization: token! } });
  const { data } = (await answer.json()) as {
    data: { id: string; attributes: { regions: { locations: { in_stock: string[] } }[] } }[];
  };
  const sites = (plan: string): string[] =>
    data.find(({ id }) => id === plan)!.attributes.regions[0]!.locations.in_stock;
  const [told, other] = [sites("plan_c2-small-x86"), sites("plan_c2-large-x86")];
  assert.deepEqual([told.includes("SAO"), told.includes("NYC"), other.includes("SAO")], [false, true, true]);
  child.kill("SIGINT");
  await once(child, "exit");
});

test("help has every verb, in the order in which people meet them", async () => {
  const { out } = await slipway("--help");
  const [, commands = ""] = /Commands:\n((?:.|\n)*?)\n\n/.exec(out) ?? [];
  const verbs = [...commands.matchAll(/^ {2}((?!help)[a-z]+) /gm)].map(([, verb]) => verb!);
  assert.deepEqual(verbs, [
    ...["up", "demo", "operator", "netboot", "lab", "status", "tree", "events", "top", "doctor", "export", "get"],
    ...["logs", "order", "approve"],
    ...["power", "inspect", "wipe", "release", "parlay", "plunder"],
    ...["kubeconfig", "describe", "plan", "convert", "sim", "crds", "version", "completion"],
  ]);
});

test("a reader that has seen enough ends it without a word, with the exit code of other commands", async () => {
  for (const verb of ["--help", "crds"]) {
    const piped = `bin/slipway ${verb} | true; exit "\${PIPESTATUS[0]}"`;
    assert.deepEqual(await run("bash", "-c", piped), { code: 141, out: "", err: "" }, verb);
  }
});

test("a running one whose reader has gone is stopped in order", async (t) => {
  const child = spawn("bin/slipway", ["sim", "latitude", "--port", "0"], { stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  child.stdout.destroy();
  let err = "";
  child.stderr.on("data", (text) => (err += text));
  const [code] = await once(child, "exit");
  assert.deepEqual({ code, err }, { code: 0, err: "" });
});

test("-o=json is read as kubectl reads it", async () => {
  assert.deepEqual((await commands.run("version", "-o=json")).out, (await commands.run("version", "-o", "json")).out);
});

/** What a shell offers after `slipway` and these words. */
const BASH = `eval "$1"; shift; complete -p slipway
COMP_WORDS=(slipway "$@"); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _slipway; printf '%s\\n' "\${COMPREPLY[@]}"`;

function run(command: string, ...args: string[]): Promise<Ended> {
  return new Promise((done) => {
    execFile(command, args, (error, out, err) => done({ code: error?.code ?? 0, out, err }));
  });
}

const last = (text: string): string[] => text.trim().split(/\s+/);

test("bash completes verbs, what they take, options and their values", async () => {
  const script = (await commands.run("completion", "bash")).out;
  const verbs = await run("bash", "-c", BASH, "bash", script, "o");
  assert.deepEqual([verbs.out, verbs.err], ["complete -o default -F _slipway slipway\noperator\norder\n", ""]);
  const completed = async (...words: string[]) =>
    last((await run("bash", "-c", BASH, "bash", script, ...words)).out).slice(6);
  assert.deepEqual(await completed("sim", "--ca"), ["--capacity"]);
  assert.deepEqual(await completed("get", "un"), ["unleased"]);
  assert.deepEqual(await completed("sim", "--capacity", "3", "l"), ["latitude"]);
  assert.deepEqual(await completed("get", "unleased", "-o", ""), ["wide", "json", "yaml", "name"]);
});

const ZSH = `compdef() { true }; eval "$1"; shift
_describe() { print -l -- \${(P)2} }; compadd() { print -l -- \${@[2,-1]} }; _files() { true }
words=(slipway "$@"); CURRENT=$#words; _slipway`;

test("zsh completes them, too", async (t) => {
  if ((await run("zsh", "-c", "true")).code !== 0) return t.skip("zsh is not here");
  const script = (await commands.run("completion", "zsh")).out;
  const offered = async (...words: string[]) => (await run("zsh", "-c", ZSH, "zsh", script, ...words)).out.split("\n");
  assert.ok((await offered("get", "")).includes("unleased:Machines that were seen on the network, the latest first."));
  assert.deepEqual(await offered("get", "unleased", "-o", ""), ["wide", "json", "yaml", "name", ""]);
  assert.ok((await offered("sim", "--")).includes("--capacity"));
});

test("fish completes them, too", async (t) => {
  if ((await run("fish", "-c", "true")).code !== 0) return t.skip("fish is not here");
  const script = (await commands.run("completion", "fish")).out;
  const offered = async (line: string) =>
    (await run("fish", "-c", "echo $argv[1] | source; complete -C $argv[2]", script, line)).out;
  assert.match(await offered("slipway get "), /^unleased\tMachines that were seen/m);
  assert.equal(await offered("slipway get unleased -o "), "json\nname\nwide\nyaml\n");
  assert.match(await offered("slipway sim --ca"), /^--capacity$/m);
  assert.doesNotMatch(await offered("slipway get "), /^operator/m);
});

test("zsh takes its completion script", async (t) => {
  if ((await run("zsh", "-c", "true")).code !== 0) return t.skip("zsh is not here");
  const script = "autoload -U compinit; compinit -u -D; bin/slipway completion zsh | source /dev/stdin";
  assert.deepEqual(await run("zsh", "-c", script), { code: 0, out: "", err: "" });
});
