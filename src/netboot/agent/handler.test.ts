import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isMac } from "../../base/mac.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { inventoryOf, someHosts } from "../hosts/testing.ts";
import { Capabilities } from "../http/capability.ts";
import { agentHandler } from "./handler.ts";
import type { Order, Registered } from "./protocol.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";

interface Sent {
  token?: string;
  body?: unknown;
  remote?: string;
  signal?: AbortSignal;
}

function stage() {
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  const capabilities = new Capabilities(new Uint8Array(32), clock);
  const lines: [string, string][] = [];
  // In these tests a machine's address tells its MAC.
  const whoIs = async (address: string) => (isMac(address) ? address : undefined);
  const onLine = (host: string, line: string): void => void lines.push([host, line]);
  const handler = agentHandler({ hosts, capabilities, whoIs, clock, onLine });
  const send = (
    method: "GET" | "POST" | "PUT",
    path: string,
    { token, body, remote = "10.0.0.1", signal }: Sent = {},
  ) =>
    handler({
      method,
      url: `http://10.0.0.254/agent/v1/${path}`,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      remote,
    });
  const capability = (mac: string) => capabilities.grant({ mac, to: "agent", until: clock.now() + 60_000 });
  const register = async (mac: string): Promise<Registered> => {
    const answer = await send("POST", "hosts", { token: capability(mac), body: inventoryOf(mac) });
    assert.equal(answer.status, 200, answer.body);
    return JSON.parse(answer.body) as Registered;
  };
  return { clock, hosts, send, capability, register, lines };
}

test("a machine registers by its boot's capability and is known from then on", async () => {
  const { hosts, register } = stage();
  const { host, token } = await register(A);

  assert.equal(host, "host-52-54-00-00-00-0a");
  assert.match(token, /^slh_[\w-]{43}$/);
  assert.equal(hosts.get(host)?.inventory?.disks.length, 1);
});

test("N30 a report may write its MACs as it likes", async () => {
  const { hosts, send, capability } = stage();
  const inventory = inventoryOf("52-54-00-00-00-0A", "5254.0000.000b");
  const answer = await send("POST", "hosts", { token: capability(A), body: inventory });

  assert.equal((JSON.parse(answer.body) as Registered).host, "host-52-54-00-00-00-0a");
  assert.deepEqual(hosts.get(B)?.macs, [A, B]);
});

test("N1 nobody registers without a capability, with one that is over, with one for something else, or from another's address", async () => {
  const { clock, hosts, send, capability, register } = stage();
  const body = inventoryOf(A);
  const late = capability(A);

  assert.equal((await send("POST", "hosts", { body })).status, 401);
  assert.equal((await send("POST", "hosts", { body, token: "slc_made-up" })).status, 401);
  await register(B);
  assert.equal((await send("POST", "hosts", { body, token: late, remote: B })).status, 403);
  await clock.run(61_000);
  assert.equal((await send("POST", "hosts", { body, token: late })).status, 401);
  assert.equal(hosts.get(A), undefined);
});

test("N1 a token speaks for its own host only, and only from an address that is not another's", async () => {
  const { hosts, send, register } = stage();
  const a = await register(A);
  const b = await register(B);
  const order = hosts.give(a.host, { order: "reboot" });
  const paths = [
    ["GET", `hosts/${a.host}/orders?wait=0`],
    ["PUT", `hosts/${a.host}/inventory`],
    ["POST", `hosts/${a.host}/orders/${order.id}/progress`],
    ["POST", `hosts/${a.host}/orders/${order.id}/result`],
    ["POST", `hosts/${a.host}/logs`],
  ] as const;

  for (const [method, path] of paths) {
    assert.equal((await send(method, path)).status, 401, path);
    assert.equal((await send(method, path, { token: "slh_made-up" })).status, 401, path);
    assert.equal((await send(method, path, { token: b.token })).status, 403, path);
    assert.equal((await send(method, path, { token: a.token, remote: B })).status, 403, path);
  }
  assert.equal((await send("GET", "hosts/host-unknown/orders", { token: b.token })).status, 403);
  assert.equal(hosts.get(A)?.order?.result, undefined);
  assert.equal((await send("GET", `hosts/${a.host}/orders`, { token: a.token, remote: A })).status, 200);
});

test("N23 a host without work waits on its request and gets its order on it; else it is told to ask again", async () => {
  const { clock, hosts, send, register } = stage();
  const { host, token } = await register(A);
  const asked = send("GET", `hosts/${host}/orders?wait=55`, { token });
  await clock.run(54_000);
  const order = hosts.give(host, { order: "poweroff" });
  const answer = await asked;
  assert.deepEqual([answer.status, JSON.parse(answer.body)], [200, order]);
  assert.equal(answer.headers["cache-control"], "no-store");

  const result = `hosts/${host}/orders/${order.id}/result`;
  assert.equal((await send("POST", result, { token, body: { ok: true, message: "" } })).status, 204);
  assert.equal((await send("POST", result, { token, body: { ok: false, message: "again" } })).status, 204);
  assert.equal(hosts.get(A)?.order?.result?.ok, true);
  const silent = send("GET", `hosts/${host}/orders?wait=999`, { token });
  await clock.run(60_000);
  assert.equal((await silent).status, 204);
  const impatient = send("GET", `hosts/${host}/orders?wait=0`, { token });
  await clock.run(0);
  assert.equal((await impatient).status, 204);
});

test("an order goes from the server to its result, with progress on the way", async () => {
  const { hosts, send, register } = stage();
  const { host, token } = await register(A);
  hosts.give(host, { order: "inspect" });
  const { id } = JSON.parse((await send("GET", `hosts/${host}/orders`, { token })).body) as Order;

  const told = (what: string, body: unknown) => send("POST", `hosts/${host}/orders/${id}/${what}`, { token, body });
  assert.equal((await told("progress", { phase: "disks", bytes: 1, total: 2 })).status, 204);
  assert.deepEqual(hosts.get(A)?.order?.progress, { phase: "disks", bytes: 1, total: 2 });
  assert.equal((await send("PUT", `hosts/${host}/inventory`, { token, body: inventoryOf(A, B) })).status, 204);
  assert.deepEqual(hosts.get(A)?.macs, [A, B]);
  assert.equal((await told("result", { ok: true, message: "done" })).status, 204);
  assert.equal(hosts.isOpen(host, id), false);
});

test("what is not as the protocol has it is refused by the field's name, and what would show on a screen is made harmless", async () => {
  const { hosts, send, register, capability } = stage();
  const broken = { ...inventoryOf(A), memoryBytes: "much" };
  const refused = await send("POST", "hosts", { token: capability(A), body: broken });
  assert.deepEqual(
    [refused.status, refused.body],
    [400, "memoryBytes: Invalid input: expected number, received string\n"],
  );
  assert.equal((await send("POST", "hosts", { token: capability(A), body: "{" })).status, 400);

  const loud = { ...inventoryOf(A), system: { product: "\u001b]0;evil\u0007 R640\n" } };
  await send("POST", "hosts", { token: capability(A), body: loud });
  assert.equal(hosts.get(A)?.inventory?.system.product, " ]0;evil  R640 ");
  const { host, token } = await register(A);
  assert.equal((await send("PUT", `hosts/${host}/inventory`, { token, body: "[]" })).status, 400);
});

test("whatever a machine sends is either taken or refused", async () => {
  const { send, register } = stage();
  const { host, token } = await register(A);
  const paths = ["inventory", "orders/x/progress", "orders/x/result"];
  const body = fc.oneof(fc.json(), fc.string(), fc.record({ ok: fc.anything(), message: fc.string() }));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), body, async (path, said) => {
      const method = path === "inventory" ? "PUT" : "POST";
      const { status } = await send(method, `hosts/${host}/${path}`, { token, body: said });
      assert.ok(status === 204 || status === 400, String(status));
    }),
  );
});

test("log lines reach the host's log", async () => {
  const { send, register, lines } = stage();
  const { host, token } = await register(A);

  assert.equal((await send("POST", `hosts/${host}/logs`, { token, body: "one\n\ntwo\n" })).status, 204);
  assert.deepEqual(lines, [
    [host, "one"],
    [host, "two"],
  ]);
});

test("N1 a capability that a machine has used is of no use to whoever overheard it", async () => {
  const { clock, hosts, send, capability } = stage();
  const token = capability(A);
  const from = async (remote: string, by = token): Promise<number> =>
    (await send("POST", "hosts", { token: by, body: inventoryOf(A), remote })).status;

  assert.deepEqual([await from("10.0.0.5"), await from("::ffff:10.0.0.5"), await from("10.0.0.66")], [200, 200, 403]);
  const { token: own } = JSON.parse(
    (await send("POST", "hosts", { token, body: inventoryOf(A), remote: "10.0.0.5" })).body,
  ) as Registered;
  assert.equal(await from("10.0.0.6", own), 200);
  assert.equal(await from("10.0.0.66"), 403);
  await clock.run(1_000);
  assert.equal(await from("10.0.0.7", capability(A)), 200);
  assert.equal(hosts.list().length, 1);
});

test("a machine that outlived its capability registers by the token that it has", async () => {
  const { clock, send, register } = stage();
  const { host, token } = await register(A);
  await clock.run(86_400_000);
  const again = await send("POST", "hosts", { token, body: inventoryOf(A) });

  assert.equal((JSON.parse(again.body) as Registered).host, host);
  assert.equal((await send("GET", `hosts/${host}/orders`, { token })).status, 401);
});

test("other paths and methods are no part of the protocol", async () => {
  const { send } = stage();

  for (const path of ["", "hosts/", "hosts/a/secrets", "hosts/a/orders/b", "hosts/../hosts", "hosts/A/orders"])
    assert.equal((await send("GET", path)).status, path === "hosts/../hosts" ? 405 : 404, path);
  assert.equal((await send("POST", "hosts/a/orders")).headers.allow, "GET");
});

test("a store that fails is told as such, and the agent comes again", async () => {
  const { hosts, send, capability } = stage();
  hosts.close();

  const answer = await send("POST", "hosts", { token: capability(A), body: inventoryOf(A) });
  assert.deepEqual([answer.status, answer.headers["retry-after"]], [503, "10"]);
});
