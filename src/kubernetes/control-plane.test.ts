/** A control plane whose programs are scripts: what is started with what, when it is ready, and what is left of it. */
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault, systemClock } from "@slipway/base";
import { laptopIdentity } from "../laptop/identity.ts";
import { startControlPlane } from "./control-plane.ts";

const identity = await laptopIdentity(undefined, "127.0.0.1", systemClock);

const STAYS = "setInterval(() => {}, 60_000);";
/** Is ready at the second look. */
const SERVES = `
  const { readFileSync } = require("node:fs");
  const flag = (name) => process.argv.find((each) => each.startsWith("--" + name + "=")).split("=")[1];
  let looks = 0;
  const tls = { cert: readFileSync(flag("tls-cert-file")), key: readFileSync(flag("tls-private-key-file")) };
  require("node:https").createServer(tls, (request, response) => {
    response.writeHead(request.url === "/readyz" && ++looks > 1 ? 200 : 500).end("looked at " + looks);
  }).listen(Number(flag("secure-port")), flag("bind-address"));`;

/** A folder of programs that say with what they were started, and then do this. */
function assets(t: TestContext, programs: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "slipway-assets-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, program] of Object.entries(programs)) {
    writeFileSync(join(folder, `${name}.cjs`), `console.log(process.argv.slice(2).join("\\n"));\n${program}`);
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${process.execPath}' '${folder}/${name}.cjs' "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

const WHOLE = { etcd: STAYS, "kube-apiserver": SERVES, "kube-controller-manager": STAYS };

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "slipway-plane-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("it is started when the API server is ready, and started again at its address with the same keys", async (t) => {
  const [programs, dir] = [assets(t, WHOLE), scratch(t)];
  const plane = await startControlPlane({ assets: programs, clock: systemClock, identity, dir });
  t.after(() => plane.close());
  assert.equal(plane.url, `https://127.0.0.1:${plane.port}`);
  assert.match(plane.kubeconfig, new RegExp(`server: .*127\\.0\\.0\\.1:${plane.port}`));
  assert.equal(readFileSync(plane.kubeconfigFile, "utf8"), plane.kubeconfig);
  assert.equal(plane.pids().length, 2);
  const said = (name: string): string => readFileSync(join(dir, `${name}.log`), "utf8");
  assert.match(said("kube-apiserver"), new RegExp(`--etcd-servers=${plane.etcd}\n`));
  assert.match(said("etcd"), new RegExp(`--listen-client-urls=${plane.etcd}\n`));
  assert.ok(!existsSync(join(dir, "kube-controller-manager.log")));

  const { cert, key: served, clientCa } = identity.serving;
  for (const [name, text] of Object.entries({ "server.crt": cert, "server.key": served, "ca.crt": clientCa }))
    assert.equal(readFileSync(join(dir, name), "utf8"), text, name);
  const key = readFileSync(join(dir, "sa.key"), "utf8");
  assert.match(said("kube-apiserver"), new RegExp(`--service-account-signing-key-file=${dir}/sa.key\n`));
  assert.match(said("kube-apiserver"), new RegExp(`--service-account-key-file=${dir}/sa.pub\n`));
  assert.equal(statSync(join(dir, "sa.key")).mode & 0o077, 0);
  await plane.stopApiServer();
  assert.equal(plane.pids().length, 1);
  await plane.startApiServer();
  plane.startControllers(["namespace", "-job"]);
  assert.equal(plane.pids().length, 3);
  await plane.close();

  const again = await startControlPlane({ assets: programs, clock: systemClock, identity, dir, controllers: ["*"] });
  t.after(() => again.close());
  assert.equal(readFileSync(join(dir, "sa.key"), "utf8"), key);
  assert.equal(again.pids().length, 3);
  await again.close();
  assert.ok(existsSync(dir));
});

test("a part that ends by itself is reported with its last words; one that is ended is not", async (t) => {
  const ends = 'process.on("SIGUSR1", () => { console.log("the disk is full"); process.exit(3); });';
  const plane = await startControlPlane({
    ...{ assets: assets(t, { ...WHOLE, etcd: `${STAYS}${ends}` }), clock: systemClock, identity, dir: scratch(t) },
    apiServerFlags: ["--more"],
  });
  t.after(() => plane.close());
  assert.match(readFileSync(join(plane.dir, "kube-apiserver.log"), "utf8"), /\n--more\n/);
  await plane.stopApiServer("KILL");
  const [etcd] = plane.pids();
  process.kill(etcd!, "SIGUSR1");
  const fault = await plane.died;
  assert.equal(fault.on, "etcd");
  assert.match(fault.message, /ended with exit code 3\n(.*\n)*the disk is full$/);
});

test("without a folder nothing is left of it, and all of it is there until its end", async (t) => {
  const plane = await startControlPlane({ assets: assets(t, WHOLE), clock: systemClock, identity });
  await plane.stopApiServer();
  assert.ok(existsSync(plane.kubeconfigFile));
  await plane.startApiServer();
  await plane.close();
  assert.equal(existsSync(plane.dir), false);
});

test("an API server that ends before it is ready is reported with its last words, and nothing stays", async (t) => {
  const programs = assets(t, { ...WHOLE, "kube-apiserver": 'console.log("no such flag"); process.exit(1);' });
  const dir = scratch(t);
  await assert.rejects(startControlPlane({ assets: programs, clock: systemClock, identity, dir }), (error) => {
    assert.ok(isFault(error, "Unavailable"));
    return /^kube-apiserver: it ended\n(.*\n)*no such flag$/.test(error.message);
  });
});

test("a wanted port is kept", async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  const plane = await startControlPlane({ assets: assets(t, WHOLE), clock: systemClock, identity, port });
  t.after(() => plane.close());
  assert.equal(plane.port, port);
});
