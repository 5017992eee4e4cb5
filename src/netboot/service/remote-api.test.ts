import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { someHosts } from "../hosts/testing.ts";
import { HostLogs } from "../logs/host-logs.ts";
import { netbootIdentity } from "./identity.ts";
import { serveRemoteApi } from "./remote-api.ts";

const MAC = "52:54:00:12:34:56";

async function remote(t: TestContext, hasDhcp = true) {
  const dir = await mkdtemp(join(tmpdir(), "slipway-remote-"));
  const identity = await netbootIdentity(dir, "127.0.0.1", { clock, random });
  const hosts = someHosts(clock);
  const { name } = hosts.seen({ mac: MAC })!;
  const logs = new HostLogs({ hosts });
  const leases = { leases: () => [{ mac: MAC, at: 1_700_000_000_000 }] };
  const dhcp = hasDhcp ? leases : undefined;
  const order = async (): Promise<string> => "1";
  const server = await serveRemoteApi({ host: "127.0.0.1", port: 0, identity, dhcp, log }, { hosts, logs, order });
  t.after(async () => {
    await server.close();
    hosts.close();
    await rm(dir, { recursive: true });
  });
  const own = { key: await readFile(join(dir, "client-key.pem")), cert: await readFile(join(dir, "client.pem")) };
  const ask = (path: string, { client = own as object, method = "GET", body = "" } = {}) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const asked = request(`${server.url}${path}`, { ca: identity.authority, method, ...client }, async (answer) => {
        let text = "";
        for await (const chunk of answer) text += chunk;
        resolve({ status: answer.statusCode!, body: text });
      });
      asked.once("error", reject).end(body);
    });
  return { ask, name, hosts };
}

test("N1 without a certificate of this netboot's authority no request is read, on the native API and on plunder's", async (t) => {
  const { ask } = await remote(t);
  const other = await mkdtemp(join(tmpdir(), "slipway-remote-"));
  t.after(() => rm(other, { recursive: true }));
  await netbootIdentity(other, "127.0.0.1", { clock, random });
  const foreign = {
    key: await readFile(join(other, "client-key.pem")),
    cert: await readFile(join(other, "client.pem")),
  };
  for (const path of ["/v1/hosts", "/dhcp/unleased"])
    for (const client of [{}, foreign]) await assert.rejects(ask(path, { client }), /alert|socket|ECONN|EPIPE/i);
});

test("N9 the native API speaks by status codes, plunder's by its envelope", async (t) => {
  const { ask, name } = await remote(t);
  assert.equal((await ask("/v1/hosts")).status, 200);
  assert.equal((await ask("/v1/hosts/nobody")).status, 404);
  assert.equal((await ask(`/v1/hosts/${name}/orders`, { method: "POST", body: "{" })).status, 400);
  assert.equal((await ask(`/v1/hosts/${name}/boot`, { method: "PUT", body: '"moon"' })).status, 400);
  const unleased = await ask("/dhcp/unleased");
  assert.equal(unleased.status, 200);
  assert.equal(JSON.parse(unleased.body).payload[0].mac, MAC);
  const refused = await ask("/deployments", { method: "POST", body: "{}" });
  assert.equal(refused.status, 200);
  assert.match(JSON.parse(refused.body).friendlyError, /not served/);
});

test("N7 whichever of the machines that wait is forgotten, exactly that one leaves the list", async (t) => {
  const { ask, hosts, name } = await remote(t);
  hosts.forget(name);
  const macs = [1, 2, 3, 4].map((n) => `52:54:00:00:00:0${n}`);
  const listed = async (path: string): Promise<string[]> => {
    const read = JSON.parse((await ask(path)).body) as { payload?: { mac: string }[]; hosts?: { mac: string }[] };
    return (read.payload ?? read.hosts!).map(({ mac }) => mac).sort();
  };
  // The first, the last, one in the midst, and the only one.
  for (const order of [macs, macs.toReversed(), [macs[1]!, macs[2]!, macs[0]!, macs[3]!]]) {
    for (const mac of macs) hosts.seen({ mac });
    let left = [...macs];
    for (const mac of order) {
      assert.equal((await ask(`/v1/hosts/${mac}`, { method: "DELETE" })).status, 200);
      left = left.filter((each) => each !== mac);
      for (const path of ["/dhcp/unleased", "/v1/hosts"]) assert.deepEqual(await listed(path), left);
    }
  }
});

const WRONG_PATHS = [
  ...["/config", "/image", "/dhcp/leases", "/dhcp/unleased", "/deployment", "/deployments", "/api", "/parlay/logs/x"],
  ...["/v1/hosts", "/v1/hosts/nobody", "/v1/hosts/..", "/v1/hosts/%2e%2e%2f", "/v1/hosts/%", "/", "//"],
  ...["orders", "boot", "approval"].flatMap((what) => [`/v1/hosts/x/${what}`, `/v1/hosts/${MAC}/${what}`]),
];
const WRONG_BODIES = ["", "{", "null", "[]", '{"order":null}', JSON.stringify({ a: "x".repeat(100_000) })];

for (const hasDhcp of [true, false])
  test(`N6 no request ends the service, valid or not, repeated or not, ${hasDhcp ? "with" : "without"} DHCP`, async (t) => {
    const { ask } = await remote(t, hasDhcp);
    const requests = WRONG_PATHS.flatMap((path) => [
      { path, method: "GET", body: "" },
      ...["POST", "PUT", "DELETE"].flatMap((method) => WRONG_BODIES.map((body) => ({ path, method, body }))),
    ]);
    for (const { path, ...how } of requests) {
      // The connection may be closed before a body that is too long is sent.
      const { status } = await ask(path, how).catch(({ code }: NodeJS.ErrnoException) => {
        assert.ok(how.body.length > 1_000 && /^(ECONNRESET|EPIPE)$/.test(code ?? ""), `${how.method} ${path}: ${code}`);
        return { status: 413 };
      });
      assert.ok(status >= 200 && status < 500, `${how.method} ${path} ${how.body.slice(0, 20)}: ${status}`);
    }
    assert.equal((await ask("/v1/hosts")).status, 200);
  });

test("over the network nobody names files of this machine", async (t) => {
  const { ask, name } = await remote(t);
  const body = JSON.stringify({ order: "write", image: "/etc/shadow" });
  assert.equal((await ask(`/v1/hosts/${name}/orders`, { method: "POST", body })).status, 400);
});
