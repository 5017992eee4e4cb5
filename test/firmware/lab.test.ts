/** The command `slipway lab` as a user runs it. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { createClient, type Draft } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { loadAll } from "js-yaml";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { bareMetalHosts } from "./stage.ts";

const SLIPWAY = join(import.meta.dirname, "../../bin/slipway");

test("a lab's machines are seen from outside of their network, and at Ctrl-C nothing of it stays but the consoles", async (t) => {
  const { lab, dir, says } = await start(t);
  await says(/lab-1 {2}has registered as (\S+):/, 180);
  const kubeconfig = join(dir, "kubeconfig");
  const transport = createHttpTransport(await loadConnection({ kubeconfig, env: {}, clock }));
  const hosts = await bareMetalHosts(createClient(transport, { clock, random, log: quietLog }));
  await transport.close();
  assert.deepEqual([...hosts.keys()], ["52:54:00:77:00:01"]);

  lab.kill("SIGINT");
  assert.deepEqual(await once(lab, "exit"), [0, null]);
  assert.deepEqual(processesOf(dir), []);
  assert.deepEqual(filesIn(dir), ["console.log"]);
});

test("with BMCs the machines are off until these switch them on, which the hosts in the lab's own file ask for", async (t) => {
  const { lab, dir, says } = await start(t, ["--bmc"]);
  const [, file] = await says(/kubectl apply -f (\S+)/, 60);
  await says(
    /lab-1 +https:\/\/10\.77\.1\.1\/redfish\/v1\/Systems\/\S+ {2}user admin, password in \S+\/lab-1\.password/,
    5,
  );
  const transport = createHttpTransport(await loadConnection({ kubeconfig: join(dir, "kubeconfig"), env: {}, clock }));
  const client = createClient(transport, { clock, random, log: quietLog });
  for (const each of loadAll(readFileSync(file!, "utf8")) as (Draft<Secret> & Draft<BareMetalHost>)[])
    await ("spec" in each ? client.create(BareMetalHost, each) : client.create(Secret, each));
  await says(/lab-1 {2}has registered as (\S+):/, 180);
  const [host] = (await bareMetalHosts(client)).values();
  await transport.close();
  assert.deepEqual([host?.metadata.name, host?.status?.goodCredentials?.credentials?.name], ["lab-1", "lab-1-bmc"]);

  lab.kill("SIGINT");
  assert.deepEqual(await once(lab, "exit"), [0, null]);
  assert.deepEqual(filesIn(dir), ["console.log"]);
});

test("a lab that is killed takes its machines and its network with it", async (t) => {
  const { lab, dir, says } = await start(t);
  await says(/lab-1 {2}is seen/, 60);
  assert.ok(processesOf(dir).length > 0);
  lab.kill("SIGKILL");
  const late = AbortSignal.timeout(20_000);
  while (processesOf(dir).length > 0) {
    if (late.aborted) assert.fail(`still there: ${processesOf(dir).join("; ")}`);
    await pause(100);
  }
});

interface Started {
  lab: ChildProcess;
  dir: string;
  /** Resolves with the match as soon as a line has one. */
  says(pattern: RegExp, seconds: number): Promise<RegExpExecArray>;
}

async function start(t: TestContext, more: readonly string[] = []): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-lab-"));
  const dir = join(folder, "lab");
  const options = [
    "--machines",
    "1",
    "--firmware",
    "uefi",
    "--memory",
    "768Mi",
    "--disk",
    "1Gi",
    "--port",
    "0",
    ...more,
  ];
  const lab = spawn(SLIPWAY, ["lab", ...options, "--dir", dir], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  t.after(async () => {
    lab.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true, maxRetries: 20 });
  });
  const lines: string[] = [];
  const news = new EventTarget();
  createInterface({ input: lab.stdout! }).on("line", (line) => {
    lines.push(line);
    news.dispatchEvent(new Event("line"));
  });
  const says: Started["says"] = async (pattern, seconds) => {
    const late = AbortSignal.timeout(seconds * 1000);
    while (true) {
      const match = lines.map((line) => pattern.exec(line)).find((each) => each !== null);
      if (match !== undefined) return match;
      if (late.aborted || lab.exitCode !== null) assert.fail(`${pattern} was not said:\n${lines.join("\n")}`);
      await Promise.race([once(news, "line"), once(late, "abort"), once(lab, "exit")]);
    }
  };
  return { lab, dir, says };
}

function filesIn(dir: string): string[] {
  return globSync("**/*", { cwd: dir, withFileTypes: true }).flatMap((each) => (each.isDirectory() ? [] : [each.name]));
}

/** Command lines, shortened, of the processes that were started with this folder. */
function processesOf(dir: string): string[] {
  return globSync("/proc/[0-9]*/cmdline")
    .map((file) => {
      try {
        return readFileSync(file, "latin1").replaceAll("\0", " ");
      } catch {
        // It has just ended.
        return "";
      }
    })
    .filter((line) => line.includes(dir))
    .map((line) => line.slice(0, 80));
}
