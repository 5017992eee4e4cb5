import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { AskedBoots } from "../hosts/asked-boots.ts";
import { inventoryOf, machinesAt, someHosts } from "../hosts/testing.ts";
import { Capabilities } from "../http/boot-capability.ts";
import type { Order, Registered } from "../protocol/messages.ts";
import { agentHandler } from "./handler.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";
const C = "52:54:00:00:00:0c";
/** Where they are; nobody is anywhere else. */
const AT = { [A]: "10.0.0.1", [B]: "10.0.0.2", [C]: "10.0.0.3" };

interface Sent {
  token?: string;
  body?: unknown;
  remote?: string;
  signal?: AbortSignal;
}

function stage(more: Record<string, string> = {}) {
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  const capabilities = new Capabilities(new Uint8Array(32), clock);
  const lines: [string, string][] = [];
  const places = Object.entries(AT).map(([mac, address]) => [address, mac]);
  const presences = machinesAt({ ...Object.fromEntries(places), ...more });
  const onLine = (host: string, line: string): void => void lines.push([host, line]);
  const asked = new AskedBoots(clock, seededRandom(2));
  const handler = agentHandler({ hosts, capabilities, asked, presences, clock, random: seededRandom(1), onLine });
  const send = (method: "GET" | "POST" | "PUT", path: string, { token, body, remote = AT[A], signal }: Sent = {}) =>
    handler({
      method,
      url: `http://10.0.0.254/agent/v1/${path}`,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      remote,
    });
  const capability = (mac: keyof typeof AT, address = AT[mac]) =>
    capabilities.grant({ mac, address, to: "agent", until: clock.now() + 60_000 });
  const register = async (mac: keyof typeof AT): Promise<Registered> => {
    const answer = await send("POST", "hosts", { token: capability(mac), body: inventoryOf(mac), remote: AT[mac] });
    assert.equal(answer.status, 200, answer.body);
    return JSON.parse(answer.body) as Registered;
  };
  return { clock, hosts, asked, send, capability, register, lines };
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
  assert.deepEqual(
    hosts.get(A)?.inventory?.cards.map(({ mac }) => mac),
    [A, B],
  );
});

test("N1 nobody registers without a capability, with one that is over, with one for something else, or or from another address", async () => {
  const { clock, hosts, send, capability } = stage();
  const body = inventoryOf(A);
  const late = capability(A);

  assert.equal((await send("POST", "hosts", { body })).status, 401);
  assert.equal((await send("POST", "hosts", { body, token: "slc_made-up" })).status, 401);
  for (const remote of [AT[B], "10.0.0.99"])
    assert.equal((await send("POST", "hosts", { body, token: late, remote })).status, 403, remote);
  await clock.run(61_000);
  assert.equal((await send("POST", "hosts", { body, token: late })).status, 401);
  assert.equal(hosts.get(A), undefined);
});

test("N1 a token speaks for its own host only, and only from where it registered", async () => {
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
    assert.equal((await send(method, path, { token: a.token, remote: AT[B] })).status, 403, path);
    assert.equal((await send(method, path, { token: a.token, remote: "10.0.0.99" })).status, 403, path);
  }
  assert.equal((await send("GET", "hosts/host-unknown/orders", { token: b.token })).status, 403);
  assert.equal(hosts.get(A)?.order?.result, undefined);
  assert.equal((await send("GET", `hosts/${a.host}/orders`, { token: a.token, remote: AT[A] })).status, 200);
});

test("N23 a host without work waits on its request and gets its order on it; else it is answered to ask again", async () => {
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

  const reported = (what: string, body: unknown) => send("POST", `hosts/${host}/orders/${id}/${what}`, { token, body });
  assert.equal((await reported("progress", { phase: "disks", bytes: 1, total: 2 })).status, 204);
  assert.deepEqual(hosts.get(A)?.order?.progress, { phase: "disks", bytes: 1, total: 2 });
  assert.equal((await send("PUT", `hosts/${host}/inventory`, { token, body: inventoryOf(A, B) })).status, 204);
  assert.equal(hosts.get(A)?.inventory?.cards.length, 2);
  assert.equal((await reported("result", { ok: true, message: "done" })).status, 204);
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

test("N1 a capability is good from the address that it was handed to, and a token takes its machine to another", async () => {
  const { hosts, send, capability } = stage({ "10.0.0.5": A });
  const token = capability(A);
  const from = async (remote: string, by = token) => send("POST", "hosts", { token: by, body: inventoryOf(A), remote });

  assert.equal((await from("10.0.0.5")).status, 403);
  const { host, token: own } = JSON.parse((await from(`::ffff:${AT[A]}`)).body) as Registered;
  const ask = async (remote: string, by = own) =>
    (await send("GET", `hosts/${host}/orders?wait=0`, { token: by, remote })).status;
  hosts.give(host, { order: "inspect" });
  assert.deepEqual([await ask(AT[A]), await ask("10.0.0.5")], [200, 403]);
  const moved = JSON.parse((await from("10.0.0.5", own)).body) as Registered;
  assert.equal((await from(AT[B], moved.token)).status, 403);
  hosts.give(host, { order: "inspect" });
  assert.deepEqual(
    [await ask("10.0.0.5", moved.token), await ask(AT[A], moved.token), await ask("10.0.0.5")],
    [200, 403, 401],
  );
  assert.deepEqual([hosts.list().length, hosts.get(A)?.address], [1, "10.0.0.5"]);
});

test("N1 nobody takes the place of an agent that carries out an order and speaks; the host is asked about who tried", async () => {
  const { clock, hosts, send, capability, register } = stage();
  const { host, token } = await register(A);
  const refused: string[] = [];
  hosts.onChange((change) => void (change.is === "refused" && refused.push(`${change.host.name} ${change.because}`)));
  hosts.approve(host);
  const { id } = hosts.give(host, { order: "wipe", how: "full", disks: "all" });
  assert.equal((await send("GET", `hosts/${host}/orders`, { token })).status, 200);
  await clock.run(59_000);
  const again = () => send("POST", "hosts", { token: capability(A), body: inventoryOf(A) });
  const report = `hosts/${host}/orders/${id}/progress`;
  assert.equal((await send("POST", report, { token, body: { phase: "wiping" } })).status, 204);
  await clock.run(59_000);
  const answer = await again();
  assert.deepEqual([answer.status, answer.headers["retry-after"]], [503, "10"]);
  assert.equal((await send("POST", report, { token, body: { phase: "wiping" } })).status, 204);
  assert.deepEqual(refused, [
    `${host} a registration from ${AT[A]} was refused: its agent at ${AT[A]} carries out "wipe"`,
  ]);

  // A machine that has really started again gets in when its former life is silent.
  await clock.run(60_000);
  assert.equal((await again()).status, 200);
  assert.equal(hosts.get(host)?.order?.result?.ok, false);
});

test("N1 a card that a machine names is its own once it has spoken by it, and not before", async () => {
  const { hosts, send, register, capability } = stage();
  hosts.seen({ mac: B });
  const { host, token } = JSON.parse(
    (await send("POST", "hosts", { token: capability(A), body: inventoryOf(A, B) })).body,
  ) as Registered;
  assert.deepEqual([hosts.get(A)?.macs, hosts.get(B)?.name], [[A], "host-52-54-00-00-00-0b"]);

  const join = async (remote: string) => (await send("POST", `hosts/${host}/cards`, { token, remote })).status;
  assert.equal(await join("10.0.0.99"), 403);
  assert.equal(await join(AT[C]), 403, "it does not name that one");
  assert.deepEqual([await join(AT[B]), await join(AT[A])], [204, 204]);
  assert.deepEqual([hosts.get(A)?.macs, hosts.get(B)?.name, hosts.list().length], [[A, B], host, 1]);

  const other = await register(C);
  await send("PUT", `hosts/${other.host}/inventory`, { token: other.token, body: inventoryOf(C, B), remote: AT[C] });
  const taking = await send("POST", `hosts/${other.host}/cards`, { token: other.token, remote: AT[B] });
  assert.deepEqual([taking.status, hosts.get(B)?.name, hosts.get(C)?.macs], [409, host, [C]]);
});

test("a machine that outlived its capability registers by the token that it has", async () => {
  const { clock, send, register } = stage();
  const { host, token } = await register(A);
  await clock.run(86_400_000);
  const again = await send("POST", "hosts", { token, body: inventoryOf(A) });

  assert.equal((JSON.parse(again.body) as Registered).host, host);
  assert.equal((await send("GET", `hosts/${host}/orders`, { token })).status, 401);
});

test("N1 a second report by the token brings the key: same card, same place, an order in between stays, and nothing is refused", async () => {
  const { hosts, send, capability } = stage();
  const changes: string[] = [];
  hosts.onChange(({ is }) => void changes.push(is));
  const { agent, ...inventory } = inventoryOf(A);
  const { key, ...keyless } = agent;
  const report = (token: string, withKey: boolean, remote = AT[A]) =>
    send("POST", "hosts", { token, body: { ...inventory, agent: withKey ? agent : keyless }, remote });

  const first = JSON.parse((await report(capability(A), false)).body) as Registered;
  assert.equal(hosts.get(A)?.agentKey, undefined);
  const { id } = hosts.give(first.host, { order: "inspect" });
  for (const remote of [AT[B], "10.0.0.99"])
    assert.equal((await report(first.token, true, remote)).status, 403, remote);
  const second = JSON.parse((await report(first.token, true)).body) as Registered;
  const { agentKey, session, order } = hosts.get(A)!;
  assert.deepEqual([agentKey, session?.card, session?.address, session?.proof], [key, A, AT[A], "lease"]);
  assert.deepEqual([order?.is.id, order?.result], [id, undefined]);
  assert.deepEqual(changes, ["changed", "changed", "changed"]);
  assert.equal((await report(first.token, true)).status, 401);
  assert.equal((await send("GET", `hosts/${second.host}/orders`, { token: second.token })).status, 200);
});

test("other paths and methods are no part of the protocol", async () => {
  const { send } = stage();

  for (const path of ["", "hosts/", "hosts/a/secrets", "hosts/a/orders/b", "hosts/../hosts", "hosts/A/orders"])
    assert.equal((await send("GET", path)).status, path === "hosts/../hosts" ? 405 : 404, path);
  assert.equal((await send("POST", "hosts/a/orders")).headers.allow, "GET");
});

test("a store that fails is reported as such, and the agent comes again", async () => {
  const { hosts, send, capability } = stage();
  hosts.close();

  const answer = await send("POST", "hosts", { token: capability(A), body: inventoryOf(A) });
  assert.deepEqual([answer.status, answer.headers["retry-after"]], [503, "10"]);
});

test("a TPM is asked anew by each session, and answers that prove nothing are refused and change nothing", async () => {
  const { hosts, send, register } = stage();
  const { host, token } = await register(A);
  const tpm = (body: string, by = token) => send("POST", `hosts/${host}/tpm`, { token: by, body });
  const first = await tpm("");
  assert.equal(first.status, 200);
  const commands = first.body.trim().split("\n");
  assert.ok(
    commands.every((each) => /^80(01|02)[0-9a-f@]+$/.test(each)),
    first.body,
  );
  // A command's second field is its length in bytes; what stands for a handle is half as long as a handle.
  for (const each of commands)
    assert.equal(Number.parseInt(each.slice(4, 12), 16), each.replace(/@\d/g, "00000000").length / 2);
  assert.equal((await tpm("8001\n")).status, 400);
  // After a refusal it begins anew, whatever is sent.
  assert.equal((await tpm("8001\n")).status, 200);
  const again = await register(A);
  assert.equal((await tpm("8001\n", again.token)).status, 200);
  assert.equal((await tpm("", token)).status, 401);
  assert.equal(hosts.get(A)?.tpm, undefined);
});

test("a megabyte in the place of a TPM's answers, in one line or in very many, is refused, and nothing of it is kept", async () => {
  const { hosts, send, register } = stage();
  const { host, token } = await register(A);
  const tpm = (body: string) => send("POST", `hosts/${host}/tpm`, { token, body });
  for (const megabyte of [
    "80010000".repeat(128 * 1024),
    "00\n".repeat(300_000),
    "\n".repeat(1024 * 1024),
    "\u00e9".repeat(500_000),
  ]) {
    assert.equal((await tpm("")).status, 200);
    const { status, body } = await tpm(megabyte);
    assert.ok(status === 400 || (status === 200 && /^80/.test(body)), `${status}`);
    assert.ok(body.length < 4_096);
  }
  assert.equal(hosts.get(A)?.tpm, undefined);
});

test("what a TPM has proven is its session's, and an approval from then on demands that TPM", async () => {
  const { hosts, register } = stage();
  const { host } = await register(A);
  const tpm = { endorsementKey: "a".repeat(64), pcrs: {} };
  hosts.proved(host, tpm);
  hosts.approve(host);
  const { endorsementKey } = tpm;
  const because = `by its TPM ${endorsementKey}`;
  assert.deepEqual(hosts.standing(host), { trust: "approved", because, tpm: endorsementKey });
  await register(A);
  assert.match(hosts.standing(host).because, /has proven none/);
  hosts.proved(host, { ...tpm, endorsementKey: "b".repeat(64) });
  assert.equal(hosts.standing(host).trust, "discovered");
  hosts.proved(host, tpm);
  assert.equal(hosts.standing(host).trust, "approved");
});

test("N1 an agent of a boot that its BMC was asked for is trusted for that, once, and for as long as it comes by its token", async () => {
  const { clock, hosts, asked, send, capability } = stage();
  const value = asked.ask(A);
  const own = capability(A);
  asked.shown(A, value, AT[A]!);
  asked.granted(A, AT[A]!, own);
  const comes = async (token: string): Promise<{ token: string; trust: string }> => {
    const answer = await send("POST", "hosts", { token, body: inventoryOf(A) });
    assert.equal(answer.status, 200, answer.body);
    const { host, token: next } = JSON.parse(answer.body) as Registered;
    return { token: next, trust: hosts.standing(host).trust };
  };
  // A report that is refused takes nothing.
  assert.equal((await send("POST", "hosts", { token: own, body: "{}" })).status, 400);
  const first = await comes(own);
  assert.equal(first.trust, "bmc");
  assert.equal((await comes(first.token)).trust, "bmc");
  assert.equal((await comes(own)).trust, "discovered", "it has been taken");

  await clock.run(5_000);
  asked.shown(A, asked.ask(A), AT[A]!);
  assert.equal((await comes(capability(A))).trust, "discovered", "it was granted before, or to nobody");
});
