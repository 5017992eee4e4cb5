import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { systemClock as clock, quietLog as log } from "@slipway/base";
import { plunderWorld } from "../api/testing.ts";
import { type ClientFile, readClientFile } from "./client-file.ts";
import { startProxy } from "./proxy.ts";

/** As plunder's own clients: they trust the one certificate that their file has, and nothing else, and show none. */
function asPlunders(
  { address, port, certificatePem }: ClientFile,
  path: string,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: address, port, path, ca: certificatePem, allowPartialTrustChain: true, agent: false },
      async (answer) => {
        let body = "";
        for await (const chunk of answer) body += chunk;
        resolve({ status: answer.statusCode!, body });
      },
    );
    asked.once("error", reject).end();
  });
}

const CURL = ["/usr/bin/curl", "/usr/local/bin/curl"].find((path) => existsSync(path));

test("plunder's clients, which know the server's own certificate alone, are served on loopback, until their certificate is revoked", async (t) => {
  const world = await plunderWorld(t);
  world.hosts.seen({ mac: "52:54:00:00:00:01" });
  const { file } = (await world.local("/v1/plunder/clients", "POST", { name: "proxy" })).body as { file: string };
  const upstream = { ...readClientFile(file, "answer"), port: world.server.port };
  const proxy = await startProxy({ upstream, port: 0, clock, log, uid: process.geteuid?.() });
  t.after(() => proxy.close());
  assert.equal(proxy.file.credentials, undefined);
  const { status, body } = await asPlunders(proxy.file, "/dhcp/unleased");
  assert.deepEqual(
    [status, (JSON.parse(body) as { payload: { mac: string }[] }).payload[0]?.mac],
    [200, "52:54:00:00:00:01"],
  );
  // The server's own certificate, without a client's, is not enough.
  await assert.rejects(asPlunders(upstream, "/dhcp/unleased"), /alert|socket|ECONN|EPIPE/i);
  if (CURL === undefined) t.diagnostic("curl is not asked: there is none");
  else {
    const pinned = join(world.folder, "pinned.pem");
    writeFileSync(pinned, proxy.file.certificatePem);
    const url = `https://127.0.0.1:${proxy.file.port}/api`;
    const { stdout } = await promisify(execFile)(CURL, ["-sS", "--cacert", pinned, url]);
    assert.equal((JSON.parse(stdout) as { success: string }).success, "true");
  }
  await world.local("/v1/plunder/clients/proxy", "DELETE");
  assert.equal((await asPlunders(proxy.file, "/dhcp/unleased")).status, 403);
});

const asRoot =
  process.geteuid?.() === 0 && CURL !== undefined ? {} : { skip: "needs root, to be another user, and curl" };

test("another user of the machine is not served by the loopback port", asRoot, async (t) => {
  const world = await plunderWorld(t);
  const { file } = (await world.local("/v1/plunder/clients", "POST", { name: "proxy" })).body as { file: string };
  const upstream = { ...readClientFile(file, "answer"), port: world.server.port };
  const proxy = await startProxy({ upstream, port: 0, clock, log, uid: 0 });
  t.after(() => proxy.close());
  const args = ["-sk", "-o", "/dev/null", "-w", "%{http_code}", `https://127.0.0.1:${proxy.file.port}/api`];
  const codeAs = async (uid: number): Promise<string> => {
    const child = spawn(CURL!, args, { uid, gid: uid, stdio: ["ignore", "pipe", "ignore"] });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk;
    });
    await once(child, "close");
    return out;
  };
  assert.deepEqual([await codeAs(0), await codeAs(65534)], ["200", "403"]);
});
