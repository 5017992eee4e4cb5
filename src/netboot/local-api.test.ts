import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { Fault } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { inventoryOf, someHosts } from "./hosts/testing.ts";
import { localApi, type ShownHost } from "./local-api.ts";
import { HostLogs } from "./logs/host-logs.ts";
import { fingerprint } from "./protocol/key.ts";
import type { OrderBody } from "./protocol/messages.ts";
import type { UserOrder } from "./protocol/order.ts";

const A = "52:54:00:00:00:0a";
const HOST = "host-52-54-00-00-00-0a";

interface Answer {
  status: number;
  body: string;
}

async function stage(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-api-"));
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  const logs = new HostLogs({ hosts });
  const ordered: UserOrder[] = [];
  const order = async (host: string, wanted: UserOrder): Promise<string> => {
    ordered.push(wanted);
    const body: OrderBody =
      wanted.order === "write"
        ? { order: "write", disk: "ata-1", format: "raw", url: "https://10.0.0.1:8443/private/slc_secret/1/image" }
        : wanted;
    return hosts.give(host, body).id;
  };
  const socketPath = join(folder, "api.sock");
  const { handler, stream } = localApi({ hosts, logs, order });
  const server = await serveHttp(handler, { socket: socketPath, stream });
  t.after(async () => {
    logs.close();
    await server.close();
    hosts.close();
    rmSync(folder, { recursive: true });
  });
  const open = async (method: string, path: string, body?: unknown, headers = {}): Promise<IncomingMessage> => {
    const asked = request({ socketPath, method, path, headers, agent: false });
    asked.end(typeof body === "string" ? body : body && JSON.stringify(body));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return answer;
  };
  const ask = async (...given: Parameters<typeof open>): Promise<Answer> => {
    const answer = await open(...given);
    return { status: answer.statusCode!, body: await text(answer) };
  };
  return { hosts, logs, ordered, open, ask };
}

test("N30 hosts are shown by their names and by any of their cards, and forgotten once", async (t) => {
  const { hosts, ask } = await stage(t);
  hosts.seen({ mac: A });
  for (const name of [HOST, A, A.toUpperCase(), A.replaceAll(":", "-")])
    assert.equal(JSON.parse((await ask("GET", `/v1/hosts/${name}`)).body).name, HOST, name);
  assert.deepEqual(await ask("DELETE", `/v1/hosts/${A}`), { status: 200, body: '{"forgotten":true}' });
  assert.deepEqual(JSON.parse((await ask("GET", "/v1/hosts")).body), { hosts: [] });
  assert.equal((await ask("DELETE", `/v1/hosts/${A}`)).status, 404);
});

test("N3 an order is shown without the addresses that are as good as passwords", async (t) => {
  const { hosts, ask } = await stage(t);
  hosts.register(inventoryOf(A), A);
  hosts.approve(A);
  assert.equal((await ask("POST", `/v1/hosts/${HOST}/orders`, { order: "write", image: "/disk.raw" })).status, 200);
  for (const path of ["/v1/hosts", `/v1/hosts/${HOST}`]) {
    const { body } = await ask("GET", path);
    assert.match(body, /"order":"write"/);
    assert.doesNotMatch(body, /slc_|private|slh_/);
  }
});

const REFUSED: [what: string, path: string, body: unknown, status: number, said: string][] = [
  ["PUT", `/v1/hosts/${HOST}/boot`, "{", 400, "the body is not JSON"],
  ["PUT", `/v1/hosts/${HOST}/boot`, '"floppy"', 400, "agent, disk, wait or the URL of a script is needed"],
  ["PUT", `/v1/hosts/${HOST}/boot`, { chain: "ftp://a" }, 400, "chain: http:// or https:// and more is needed"],
  ["PUT", "/v1/hosts/other/boot", '"disk"', 404, "other: no such host was seen"],
  ["POST", `/v1/hosts/${HOST}/orders`, { order: "write" }, 400, "image: Invalid input: expected string"],
  ["POST", `/v1/hosts/${HOST}/orders`, { order: "write", image: "a", checksum: "x" }, 400, "checksum: md5:, sha256:"],
  ["POST", `/v1/hosts/${HOST}/orders`, { order: "wipe", how: "full", disks: [] }, 400, "disks: "],
];

for (const [method, path, body, status, said] of REFUSED) {
  test(`${method} ${path} ${JSON.stringify(body)} is refused with ${status} and what is needed`, async (t) => {
    const { hosts, ordered, ask } = await stage(t);
    hosts.seen({ mac: A });
    const answer = await ask(method, path, body);
    assert.equal(answer.status, status);
    assert.ok(JSON.parse(answer.body).message.startsWith(said), answer.body);
    assert.deepEqual(ordered, []);
  });
}

test("an answer names a few of the mistakes of a body, however many it has", async (t) => {
  const { hosts, ask } = await stage(t);
  hosts.seen({ mac: A });
  const disks = Array.from({ length: 100_000 }, () => 0);
  const { status, body } = await ask("POST", `/v1/hosts/${HOST}/orders`, { order: "wipe", how: "full", disks });
  assert.equal(status, 400);
  assert.ok(body.length < 2_000, `${body.length} characters`);
});

test("what an order meets is reported by its code and status; a defect is not the asker's fault", async (t) => {
  const { hosts, ask } = await stage(t);
  hosts.seen({ mac: A });
  const give = () => ask("POST", `/v1/hosts/${HOST}/orders`, { order: "reboot" });
  assert.equal((await give()).status, 200);
  const second = await give();
  assert.deepEqual([second.status, JSON.parse(second.body).code], [409, "Conflict"]);
  hosts.setBoot = () => {
    throw new Fault("Bug", HOST, "broken");
  };
  const broken = await ask("PUT", `/v1/hosts/${HOST}/boot`, '"disk"');
  assert.deepEqual([broken.status, JSON.parse(broken.body).code], [500, "Bug"]);
});

test("paths and methods that are not of the API are answered, whatever they are", async (t) => {
  const { hosts, ask } = await stage(t);
  hosts.seen({ mac: A });
  for (const path of ["//", "///v1/hosts", "/", "/v1/hosts/", `/v1/hosts/${HOST}/`, "/v1/hosts/%2e%2e", "/v1/hostsx"])
    assert.equal((await ask("GET", path)).status, 404, path);
  assert.equal((await ask("GET", "/v1/hosts", undefined, { host: "a:99999" })).status, 404);
  assert.equal((await ask("DELETE", "/v1/hosts")).status, 405);
  assert.equal((await ask("POST", `/v1/hosts/${HOST}/boot`, '"disk"')).status, 405);
  assert.equal((await ask("POST", `/v1/hosts/${HOST}/logs`)).status, 405);
  assert.equal((await ask("GET", "/v1/hosts/other/logs")).status, 404);
});

test("a log is a stream of lines that ends by itself, and with follow goes on until netboot ends", async (t) => {
  const { hosts, logs, open, ask } = await stage(t);
  hosts.seen({ mac: A });
  logs.append(A, "dhcp", "first", 1);
  assert.equal((await ask("GET", `/v1/hosts/${A}/logs`)).body, '{"at":1,"source":"dhcp","line":"first"}\n');

  const answer = await open("GET", `/v1/hosts/${A}/logs?follow=1`);
  const lines = createInterface({ input: answer })[Symbol.asyncIterator]();
  assert.match((await lines.next()).value!, /first/);
  const next = lines.next();
  logs.append(A, "agent", "second", 2);
  assert.match((await next).value!, /second/);
  logs.close();
  assert.equal((await lines.next()).done, true);
  assert.equal(answer.complete, true);
});

test("a follower that goes leaves nothing behind", async (t) => {
  const { hosts, logs, open } = await stage(t);
  hosts.seen({ mac: A });
  const left = Promise.withResolvers<void>();
  const read = logs.read.bind(logs);
  logs.read = async function* (...given) {
    try {
      yield* read(...given);
    } finally {
      left.resolve();
    }
  };
  const answer = await open("GET", `/v1/hosts/${A}/logs?follow=1`);
  answer.on("error", () => {});
  answer.destroy();
  await left.promise;
});

test("N1 a host is approved and the approval taken back; how far it is trusted and its key's fingerprint are shown", async (t) => {
  const { hosts, ask } = await stage(t);
  const inventory = inventoryOf(A);
  const key = `age1${"q".repeat(58)}`;
  hosts.register({ ...inventory, agent: { ...inventory.agent, key } }, A, { address: "10.0.0.5", proof: "lease" });
  const host = async () => JSON.parse((await ask("GET", `/v1/hosts/${HOST}`)).body) as ShownHost;
  const { keyFingerprint, standing, waitsFor } = await host();
  assert.deepEqual([standing.trust, keyFingerprint], ["discovered", fingerprint(key)]);
  assert.match(waitsFor ?? "", /^to be declared or approved: /);
  const wipe = await ask("POST", `/v1/hosts/${HOST}/orders`, { order: "wipe", how: "full", disks: "all" });
  assert.deepEqual([wipe.status, JSON.parse(wipe.body).code], [403, "Forbidden"]);
  assert.match(JSON.parse(wipe.body).message, new RegExp(`slipway approve host/${HOST}`));

  const approve = (body: object) => ask("PUT", `/v1/hosts/${HOST}/approval`, body);
  assert.match((await approve({ key: "3f2a" })).body, /six groups of four/);
  assert.equal((await approve({ key: "0000-0000-0000-0000-0000-0000" })).status, 409);
  assert.equal((await approve({ key: keyFingerprint?.toUpperCase() })).status, 200);
  assert.equal((await host()).standing.trust, "approved");
  assert.equal((await ask("DELETE", `/v1/hosts/${HOST}/approval`)).status, 200);
  assert.equal((await host()).standing.trust, "discovered");
  assert.equal((await approve({})).status, 200);
  assert.equal((await host()).standing.because, "whatever key it has");
});
