import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { json } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { SOCKET } from "../netboot/service/place.ts";
import { plunderWorld } from "../plunder/api/testing.ts";
import { readClientFile } from "../plunder/client/client-file.ts";
import { verb } from "./plunder.ts";
import { going, spoken } from "./testing.ts";

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "slipway-plunder-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** A netboot's socket, with plunder's API on it. */
async function netboot(t: TestContext) {
  const world = await plunderWorld(t);
  const dir = folder(t);
  const socket = await serveHttp(
    async (request) =>
      world.more.answersLocally(new URL(request.url).pathname) ? world.more.local(request) : json(200, { hosts: [] }),
    { socket: join(dir, SOCKET) },
  );
  t.after(() => socket.close());
  return { ...world, dir };
}

test("plunder import shows what each field becomes, and writes what it made", async (t) => {
  const dir = folder(t);
  const file = join(dir, "deployments.yaml");
  writeFileSync(
    file,
    "deployments:\n- mac: 00:50:56:a5:b5:f1\n  bootConfigName: preseed\n  config:\n    hostname: web-1\n",
  );
  const out = join(dir, "out");
  const { out: told } = await spoken(t, verb, "plunder", "import", file, "--out", out);
  assert.match(told, /deployments\.yaml:5 {2}deployments\[0\]\.config\.hostname {2}→ the name of the BareMetalHost/);
  assert.match(readFileSync(join(out, "hosts.yaml"), "utf8"), /externallyProvisioned: true/);
  assert.equal(statSync(join(out, "hosts.yaml")).mode & 0o077, 0);
  await assert.rejects(spoken(t, verb, "plunder", "import", join(dir, "absent")), /absent: can't be read/);
});

test("plunder client --issue writes a certificate, and plunder clients lists and revokes it", async (t) => {
  const { dir } = await netboot(t);
  const file = join(dir, "ci.yaml");
  const { out } = await spoken(t, verb, "plunder", "client", "--issue", "ci", "--out", file, "--dir", dir);
  assert.match(out, /a certificate for ci; it is a secret/);
  assert.equal(statSync(file).mode & 0o077, 0);
  assert.ok(readClientFile(readFileSync(file, "utf8"), file).credentials !== undefined);
  assert.match((await spoken(t, verb, "plunder", "clients", "--dir", dir)).out, /^ci {2}issued \d+s ago$/m);
  assert.match((await spoken(t, verb, "plunder", "clients", "--revoke", "ci", "--dir", dir)).out, /^ci: revoked$/m);
  assert.match((await spoken(t, verb, "plunder", "clients", "--dir", dir)).out, /^ci {2}issued .*, revoked \d+s ago$/m);
  await assert.rejects(
    spoken(t, verb, "plunder", "clients", "--revoke", "ci", "--dir", dir),
    /there is no such client/,
  );
});

test("plunder client writes a plunderclient.yaml of three fields, and its certificate is revoked at its end", async (t) => {
  const { dir, local } = await netboot(t);
  const file = join(dir, "plunderclient.yaml");
  const client = going(t, verb, "plunder", "client", "--out", file, "--dir", dir);
  await client.line(/plunder's clients are served at https:\/\/127\.0\.0\.1:\d+, as this user alone/);
  const text = readFileSync(file, "utf8");
  assert.deepEqual(text.match(/^\w+/gm), ["address", "port", "cert"]);
  assert.equal(statSync(file).mode & 0o077, 0);
  await client.stop();
  const { clients } = (await local("/v1/plunder/clients")).body as { clients: { revokedAt?: number }[] };
  assert.deepEqual(
    clients.map(({ revokedAt }) => revokedAt !== undefined),
    [true],
  );
});
