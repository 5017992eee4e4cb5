/** `slipway get unleased` against a netboot's socket. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault } from "@slipway/base";
import { load } from "js-yaml";
import { SOCKET } from "../netboot/service/place.ts";
import { verb as approve } from "./approve.ts";
import { verb as get } from "./get.ts";
import { verb as logs } from "./logs.ts";
import { verb as order } from "./order.ts";
import { going, spoken } from "./testing.ts";

const NOW = Date.UTC(2026, 0, 31, 12);

function host(at: number, trust: string) {
  const mac = `52:54:00:00:00:0${at}`;
  const standing = { trust, because: "so" };
  return { name: `host-${at}`, mac, macs: [mac], firstSeen: NOW, lastSeen: NOW + at, boot: "agent", standing };
}

/** A netboot that has seen two hosts, of which one is declared. */
async function netboot(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-unleased-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const hosts = new Map([host(1, "declared"), host(2, "none")].map((one) => [one.name, one as object]));
  const server = createServer(({ url = "" }, response) => {
    const name = /^\/v1\/hosts\/(.+)$/.exec(url)?.[1];
    const one = name === undefined ? { hosts: [...hosts.values()] } : hosts.get(name);
    if (one === undefined) response.writeHead(404).end('{"code":"NotFound","message":"no such host was seen"}');
    else response.end(JSON.stringify(name === undefined ? one : { ...one, inventory: { cpus: 4 } }));
  }).listen(join(dir, SOCKET));
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const slipway = async (...args: string[]) => (await spoken(t, get, "get", "unleased", "--dir", dir, ...args)).out;
  return { dir, hosts, slipway };
}

test("get unleased has the formats of every listing, and the hosts whose fields are asked for", async (t) => {
  const { slipway } = await netboot(t);
  assert.equal(await slipway("-o", "name"), "host/host-2\nhost/host-1\n");
  const { hosts } = JSON.parse(await slipway("-o", "json"));
  assert.deepEqual(
    hosts.map(({ name, inventory }: { name: string; inventory: object }) => [name, inventory]),
    [
      ["host-2", { cpus: 4 }],
      ["host-1", { cpus: 4 }],
    ],
  );
  assert.deepEqual(load(await slipway("-o", "yaml")), { hosts });
  const chosen = (fields: string) => slipway("-o", "name", "--field-selector", fields);
  assert.equal(await chosen("standing.trust=declared"), "host/host-1\n");
  assert.equal(await chosen("standing.trust!=declared,boot==agent"), "host/host-2\n");
  assert.equal(await chosen("mac=52:54:00:00:00:01"), "host/host-1\n");
  assert.equal(await chosen("product=other"), "");
});

test("get unleased --watch shows a host that comes, one that changes, and one that is forgotten; of JSON a document a line", async (t) => {
  const { dir, hosts } = await netboot(t);
  const watch = (...args: string[]) => going(t, get, "get", "unleased", "--dir", dir, "--watch", ...args);
  const people = watch();
  await people.line(/^Mac Address .* Name$/);
  await people.line(/host-1$/);
  hosts.set("host-3", host(3, "none"));
  await people.line(/host-3$/);
  hosts.delete("host-1");
  await people.line(/host-1 {2}\(gone\)$/);
  assert.equal((await people.stop()).code, 0);

  const programs = watch("-o", "json");
  await programs.line(/"host-3"/);
  hosts.set("host-2", { ...host(2, "approved"), lastSeen: NOW + 9 });
  await programs.line(/"approved"/);
  const documents = (await programs.stop()).out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    documents.map(({ name }) => name),
    ["host-3", "host-2", "host-2"],
  );
});

test("get unleased says why it takes neither labels nor a namespace", async (t) => {
  const { slipway } = await netboot(t);
  await assert.rejects(slipway("-l", "rack=a"), /has no labels.*slipway get machines -l LABELS/);
  await assert.rejects(slipway("-n", "default"), /is in no namespace.*slipway get machines -n NAMESPACE/);
});

test("an address that is none is named before a netboot is looked for", async (t) => {
  const wrong = (error: unknown) =>
    isFault(error, "BadRequest") && /^host\/zz:zz: is no address of a card; write six pairs of hex/.test(error.advice);
  await assert.rejects(spoken(t, approve, "approve", "host/zz:zz", "--dir", "/nowhere"), wrong);
  await assert.rejects(spoken(t, logs, "logs", "host/zz:zz"), wrong);
  await assert.rejects(spoken(t, order, "order", "boot", "host/zz:zz", "disk"), wrong);
});
