import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isFault, quietLog, systemClock } from "@slipway/base";
import { startSharedEtcd } from "./shared-etcd.ts";

/** A port at which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

test("an etcd that ends before it answers is waited for until then, and refused with its last words", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-etcd-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const program = join(dir, "etcd");
  writeFileSync(program, "#!/bin/sh\nsleep 0.3\necho 'no room on the device' >&2\nexit 3\n");
  chmodSync(program, 0o755);
  const ports = { port: await freePort(), peerPort: await freePort() };
  const starting = startSharedEtcd({
    clock: systemClock,
    log: quietLog,
    dir: join(dir, "state"),
    assets: dir,
    ...ports,
  });
  await assert.rejects(
    starting,
    (error) => isFault(error, "Unavailable") && /exit code 3: no room on the device$/.test(error.message),
  );
});

/** An etcd that knows what concerns its authentication: it is on once it was asked for. Its folder has what it was asked and its arguments. */
const ETCD = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
const [, , folder, ...args] = process.argv;
writeFileSync(folder + "/args.json", JSON.stringify(args));
const flag = (of) => args.find((each) => each.startsWith("--" + of + "=")).slice(of.length + 3);
const tls = { cert: flag("cert-file"), key: flag("key-file"), ca: flag("trusted-ca-file") };
const files = Object.fromEntries(Object.entries(tls).map(([of, path]) => [of, readFileSync(path)]));
const server = createSecureServer({ ...files, requestCert: true, rejectUnauthorized: true });
server.on("stream", (stream, headers) => {
  const method = headers[":path"].split("/").at(-1);
  const log = folder + "/asked";
  const isOn = existsSync(log) && readFileSync(log, "utf8").includes("AuthEnable");
  const refused = existsSync(folder + "/refuse") && method === "UserAdd";
  if (method !== "AuthStatus") appendFileSync(log, method + " ");
  stream.resume();
  stream.respond({ ":status": 200 }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(refused ? { "grpc-status": "9", "grpc-message": "no quorum" } : { "grpc-status": "0" }));
  stream.end(Buffer.from(method === "AuthStatus" && isOn ? [0, 0, 0, 0, 2, 16, 1] : [0, 0, 0, 0, 0]));
});
const { hostname, port } = new URL(flag("listen-client-urls"));
server.listen(Number(port), hostname);
`;

async function etcdIn(dir: string, host?: string) {
  writeFileSync(join(dir, "etcd.mjs"), ETCD);
  writeFileSync(join(dir, "etcd"), `#!/bin/sh\nexec "${process.execPath}" "${dir}/etcd.mjs" "${dir}" "$@"\n`);
  chmodSync(join(dir, "etcd"), 0o755);
  const [port, peerPort] = [await freePort(), await freePort()];
  const start = () =>
    startSharedEtcd({
      ...{ clock: systemClock, log: quietLog, dir: join(dir, "state"), assets: dir },
      ...{ port, peerPort, ...(host !== undefined && { host }) },
    });
  return { start, port, peerPort, read: (name: string) => readFileSync(join(dir, name), "utf8") };
}

test("an etcd for tenants asks who one is before the first of them comes, and is the same one after a restart", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-etcd-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const { start, port, peerPort, read } = await etcdIn(dir);
  const first = await start();
  t.after(() => first.close());
  assert.equal(first.endpoint, `127.0.0.1:${port}`);
  assert.equal(read("asked"), "UserAdd RoleAdd UserGrantRole AuthEnable ");
  const [own, shelf] = [`https://127.0.0.1:${port}`, join(dir, "state", "pki")];
  const peer = `https://127.0.0.1:${peerPort}`;
  assert.deepEqual(JSON.parse(read("args.json")), [
    ...[`--data-dir=${join(dir, "state", "data")}`, `--listen-client-urls=${own}`, `--advertise-client-urls=${own}`],
    ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`, `--initial-cluster=default=${peer}`],
    ...["--client-cert-auth", `--trusted-ca-file=${join(shelf, "ca.pem")}`],
    ...[`--cert-file=${join(shelf, "server.pem")}`, `--key-file=${join(shelf, "server-key.pem")}`],
    ...["--peer-client-cert-auth", `--peer-trusted-ca-file=${join(shelf, "peer-ca.pem")}`],
    ...[`--peer-cert-file=${join(shelf, "peer.pem")}`, `--peer-key-file=${join(shelf, "peer-key.pem")}`],
    ...["--auto-compaction-mode=periodic", "--auto-compaction-retention=5m", "--log-level=warn"],
  ]);
  assert.notEqual(read("state/pki/peer-ca.pem"), read("state/pki/ca.pem"), "no tenant is a peer");
  await first.close();

  const again = await start();
  assert.equal(read("asked"), "UserAdd RoleAdd UserGrantRole AuthEnable ", "nothing is asked for a second time");
  assert.deepEqual(
    [again.authority.certificatePem, again.root.certificatePem],
    [first.authority.certificatePem, first.root.certificatePem],
  );
  await again.close();
});

test("an etcd at another address is known by that one, and by those of this machine", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-etcd-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const { start, port, read } = await etcdIn(dir, "127.0.0.2");
  const etcd = await start();
  t.after(() => etcd.close());
  assert.equal(etcd.endpoint, `127.0.0.2:${port}`);
  const names = new X509Certificate(read("state/pki/server.pem")).subjectAltName?.split(", ").toSorted();
  assert.deepEqual(names, ["DNS:localhost", "IP Address:127.0.0.1", "IP Address:127.0.0.2"]);
});

test("an etcd that refuses to know its administrator is ended, and the refusal passed on", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-etcd-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const { start, port } = await etcdIn(dir);
  writeFileSync(join(dir, "refuse"), "");
  await assert.rejects(start(), /no quorum/);
  const server = createServer();
  await new Promise<void>((resolve, reject) => void server.once("error", reject).listen(port, "127.0.0.1", resolve));
  server.close();
});
