import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { cryptoRandom, json, systemClock } from "@slipway/base";
import { createAuthority, issueServer } from "../../pki/authority.ts";
import { agentHandler } from "../agent/handler.ts";
import { folderFiles } from "../files/disk.ts";
import { memoryFiles } from "../files/memory.ts";
import { firstOf } from "../files/source.ts";
import { inventoryOf, machinesAt, someHosts } from "../hosts/testing.ts";
import type { Registered } from "../protocol/messages.ts";
import { Capabilities } from "./boot-capability.ts";
import { PrivateFiles } from "./private-files.ts";
import { type Answered, netbootHttp } from "./server.ts";

const A = "52:54:00:00:00:0a";
const HOST = "host-52-54-00-00-00-0a";
const folder = mkdtempSync(join(tmpdir(), "slipway-http-"));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "own.efi"), "the user's own");

const hosts = someHosts(systemClock);
const capabilities = new Capabilities(new Uint8Array(32), systemClock);
const [HERE, B] = ["127.0.0.1", "52:54:00:00:00:0b"];
const presences = machinesAt({ [HERE]: A, "10.0.0.6": B });
const registered = () => {
  hosts.register(inventoryOf(A), A, { address: HERE, proof: "lease" });
  hosts.approve(A);
};
const privateFiles = new PrivateFiles({ hosts, capabilities, presences, clock: systemClock });
const reported = new EventEmitter<{ answered: [Answered] }>();
const authority = await createAuthority({ commonName: "test", clock: systemClock });
const issued = await issueServer(authority, { commonName: "test", hosts: ["127.0.0.1"], clock: systemClock });
const server = await netbootHttp({
  files: firstOf(memoryFiles({ "shimx64.efi": Buffer.from("shim") }), folderFiles(folder), privateFiles),
  handlers: {
    "/agent/v1/": agentHandler({ hosts, capabilities, presences, clock: systemClock, random: cryptoRandom }),
    "/boot.ipxe": async ({ method, url }) => json(200, { method, url }),
  },
  host: "127.0.0.1",
  port: 0,
  tls: { port: 0, key: issued.keyPem, cert: issued.certificatePem },
  onAnswered: (each) => reported.emit("answered", each),
});
after(async () => {
  await server.close();
  hosts.close();
});

interface Options {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** The path goes out as it is written: `fetch` would tidy it up. */
async function send(path: string, { body, ...options }: Options = {}): Promise<{ status: number; body: string }> {
  const request = httpRequest({ host: "127.0.0.1", port: server.port, path, agent: false, ...options });
  request.end(body);
  const [response] = await once(request, "response");
  let text = "";
  for await (const part of response) text += part;
  return { status: response.statusCode, body: text };
}

test("files and handlers are answered under their own paths", async () => {
  assert.deepEqual(await send("/shimx64.efi"), { status: 200, body: "shim" });
  assert.deepEqual(await send("/OWN.EFI?x=1", { headers: { range: "bytes=4-7" } }), { status: 206, body: "user" });
  const { body } = await send("/boot.ipxe?mac=1");
  assert.deepEqual(JSON.parse(body), { method: "GET", url: `${server.url}/boot.ipxe?mac=1` });
});

test("N2 nothing is served but what is declared: no listing, no way out, no working directory, no dot files", async () => {
  writeFileSync(join(folder, ".hidden"), "hidden");
  const paths = [
    "/",
    "/.",
    "/agent",
    "/agent/v1",
    "/agent/v1/",
    "/private/",
    "/boot.ipxe/",
    "/boot.ipxe/x",
    "/package.json",
    "/.hidden",
    "/..",
    "/../package.json",
    "/x/../../package.json",
    "/%2e%2e/package.json",
    "/..%2fpackage.json",
    "/..\\package.json",
    "//etc/passwd",
    "/etc/passwd",
    "/agent/v1/../../etc/passwd",
    "/agent/v1/%2e%2e/%2e%2e/shimx64.efi",
    "/shimx64.efi%00",
    "/%",
    "/shimx64.efi/x",
    "/agent/v1/hosts/../../../own.efi",
  ];
  for (const path of paths) {
    const { status, body } = await send(path);
    assert.ok(status === 404, `${path}: ${status} ${body}`);
  }
  assert.equal((await send("/shimx64.efi", { method: "PUT", body: "x" })).status, 405);
  assert.equal((await send("/new.efi", { method: "POST", body: "x" })).status, 405);
});

test("N1 the agent's protocol is answered on the same port, to who has the right token", async () => {
  const token = capabilities.grant({ mac: A, address: HERE, to: "agent", until: systemClock.now() + 60_000 });
  const body = JSON.stringify(inventoryOf(A));
  const answer = await send("/agent/v1/hosts", {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${token}` },
  });
  const { host, token: own } = JSON.parse(answer.body) as Registered;

  assert.equal((await send("/agent/v1/hosts", { method: "POST", body })).status, 401);
  assert.equal((await send(`/agent/v1/hosts/${host}/orders?wait=0`)).status, 401);
  assert.equal(
    (await send(`/agent/v1/hosts/${host}/orders?wait=0`, { headers: { authorization: `Bearer ${own}` } })).status,
    204,
  );
  const tooLong = await send("/agent/v1/hosts", { method: "POST", body: "x".repeat(2_000_000) }).catch((error) => {
    // The connection may be closed before all of it is sent.
    assert.match(error.code, /^(ECONNRESET|EPIPE)$/);
    return undefined;
  });
  assert.ok(tooLong === undefined || tooLong.status === 413);
});

test("N4 what is sent is taken of a host that is known, up to a MiB, and no name of it reaches the disk", async () => {
  const before = readdirSync(folder);
  const token = capabilities.grant({ mac: A, address: HERE, to: "agent", until: systemClock.now() + 60_000 });
  const headers = { authorization: `Bearer ${token}` };
  const registers = await send("/agent/v1/hosts", { method: "POST", body: JSON.stringify(inventoryOf(A)), headers });
  const own = { authorization: `Bearer ${(JSON.parse(registers.body) as Registered).token}` };
  const sent = async (path: string, more: Options): Promise<number> => {
    try {
      return (await send(path, { method: "POST", body: "said", ...more })).status;
    } catch (error) {
      // The connection may be closed before all of it is sent.
      assert.match((error as NodeJS.ErrnoException).code ?? "", /^(ECONNRESET|EPIPE)$/);
      return 413;
    }
  };
  const logs = `/agent/v1/hosts/${HOST}/logs`;
  assert.equal(await sent(logs, { headers: own }), 204);
  for (const none of [{}, { authorization: "Bearer slh_none" }]) assert.equal(await sent(logs, { headers: none }), 401);
  assert.equal(await sent(logs, { headers: own, body: "x".repeat(1024 * 1024 + 1) }), 413);
  for (const name of ["..", ".", "a/b", "../../own.efi", "%2e%2e", "..%2f..%2fown.efi", "a%00b", "image"])
    for (const path of [`/agent/v1/hosts/${HOST}/${name}`, `/agent/v1/hosts/${name}/logs`, `/${name}`, "/image"])
      for (const method of ["POST", "PUT"]) {
        const status = await sent(path, { method, headers: own });
        assert.ok([403, 404, 405].includes(status), `${method} ${path}: ${status}`);
      }
  assert.deepEqual(readdirSync(folder), before);
  assert.deepEqual(await send("/own.efi"), { status: 200, body: "the user's own" });
});

test("N23 a host that waits is given its new work within a second", async () => {
  const token = capabilities.grant({ mac: A, address: HERE, to: "agent", until: systemClock.now() + 60_000 });
  const registered = await send("/agent/v1/hosts", {
    method: "POST",
    body: JSON.stringify(inventoryOf(A)),
    headers: { authorization: `Bearer ${token}` },
  });
  const { token: own } = JSON.parse(registered.body) as Registered;
  const asked = send(`/agent/v1/hosts/${HOST}/orders?wait=55`, { headers: { authorization: `Bearer ${own}` } });
  const silent = await Promise.race([asked, systemClock.sleep(200)]);
  assert.equal(silent, undefined);

  const givenAt = systemClock.now();
  const order = hosts.give(HOST, { order: "inspect" });
  assert.deepEqual(JSON.parse((await asked).body), order);
  assert.ok(systemClock.now() - givenAt < 1_000);
  hosts.result(HOST, order.id, { ok: true, message: "" });
});

test("N3 private files are given to their host, while its order runs, and to nobody else", async () => {
  registered();
  let path = (_: string): string => "";
  const { id } = hosts.give(HOST, (order) => {
    path = privateFiles.offer(HOST, order, memoryFiles({ "user-data": Buffer.from("#cloud-config") }));
    return { order: "write", disk: "sda", url: `${server.url}${path("user-data")}`, format: "raw" };
  });
  const good = path("user-data");
  assert.deepEqual(await send(good), { status: 200, body: "#cloud-config" });
  assert.equal((await send(good, { headers: { range: "bytes=0-0" } })).status, 206);

  const other = capabilities.grant({
    mac: B,
    to: `private:${id}`,
    until: systemClock.now() + 60_000,
  });
  const agent = capabilities.grant({ mac: A, to: "agent", until: systemClock.now() + 60_000 });
  const late = capabilities.grant({ mac: A, to: `private:${id}`, until: systemClock.now() });
  for (const wrong of [other, agent, late, `${good.split("/")[2]}x`, "slc_made-up"])
    assert.equal((await send(`/private/${wrong}/${id}/user-data`)).status, 404);
  assert.equal((await send(path("absent"))).status, 404);
  assert.equal((await send(good.slice(0, good.lastIndexOf("/") + 1))).status, 404);
  assert.equal((await send(good.replace(id, "another"))).status, 404);

  hosts.result(HOST, id, { ok: true, message: "written" });
  assert.equal((await send(good)).status, 404);
});

test("N3 who has the address of a private file and is not where the machine registered does not get it, nor does a machine that is not trusted", async () => {
  registered();
  let name = "";
  const { id } = hosts.give(HOST, (order) => {
    name = privateFiles
      .offer(
        HOST,
        order,
        memoryFiles({ seed: Buffer.from("s") }),
      )("seed")
      .slice(1);
    return { order: "inspect" };
  });

  assert.ok((await privateFiles.open(name, { address: HERE })) !== undefined);
  assert.equal(await privateFiles.open(name, { address: "10.0.0.6" }), undefined);
  hosts.withdraw(A);
  assert.equal(await privateFiles.open(name, { address: HERE }), undefined, "it is not trusted any more");
  hosts.result(HOST, id, { ok: true, message: "" });
});

test("N3 N10 what is offered again after a restart is found under the address that the machine has", async () => {
  registered();
  const offer = (files: PrivateFiles, order: string) =>
    files.offer(HOST, order, memoryFiles({ seed: Buffer.from("s") }));
  let name = "";
  const { id } = hosts.give(HOST, (order) => {
    name = offer(privateFiles, order)("seed").slice(1);
    return { order: "inspect" };
  });
  const restarted = new PrivateFiles({ hosts, capabilities, presences, clock: systemClock });
  assert.equal(await restarted.open(name, { address: HERE }), undefined);
  offer(restarted, id);
  assert.ok((await restarted.open(name, { address: HERE })) !== undefined);
  restarted.close();
  assert.equal(await restarted.open(name, { address: HERE }), undefined);
  hosts.result(HOST, id, { ok: true, message: "" });
});

test("the same is answered over TLS by a certificate of Slipway's own authority", async () => {
  const agent = new Agent({ ca: authority.certificatePem });
  const get = async (path: string): Promise<string> => {
    const request = httpsRequest(`${server.tls?.url}${path}`, { agent });
    request.end();
    const [response] = await once(request, "response");
    let text = "";
    for await (const part of response) text += part;
    return text;
  };

  assert.equal(await get("/shimx64.efi"), "shim");
  assert.equal((JSON.parse(await get("/boot.ipxe")) as { url: string }).url, `${server.tls?.url}/boot.ipxe`);
  agent.destroy();
});

test("every answer is reported, with the client's address and whether it went out whole", async () => {
  for (const [path, status] of [
    ["/shimx64.efi", 200],
    ["/absent", 404],
  ] as const) {
    const next = once(reported, "answered", { signal: AbortSignal.timeout(60_000) });
    await send(`${path}?a=1`);
    const [{ bytes, ms, ...rest }] = (await next) as [Answered];
    assert.deepEqual(rest, { remote: "127.0.0.1", method: "GET", path, status, complete: true });
    assert.ok(bytes > 4);
    assert.ok(ms >= 0);
  }
});

test("what is no HTTP ends its own connection only", async () => {
  const socket = connect(server.port, "127.0.0.1");
  socket.end("\x16\x03\x01 nonsense\r\n\r\n");
  await once(socket.resume(), "close");

  assert.equal((await send("/shimx64.efi")).status, 200);
});

test("a port that is taken is reported, and nothing stays open", async () => {
  const files = memoryFiles({});
  const tls = { port: server.port, key: issued.keyPem, cert: issued.certificatePem };
  await assert.rejects(netbootHttp({ files, host: "127.0.0.1", port: server.port }), /EADDRINUSE/);
  await assert.rejects(netbootHttp({ files, host: "127.0.0.1", port: 0, tls }), /EADDRINUSE/);
});

test("N4 a body is read only of a host that is known, and 64 MiB of them at one time", async (t) => {
  const events = new EventEmitter();
  const bodies: string[] = [];
  const guarded = await netbootHttp({
    ...{ files: memoryFiles({}), host: "127.0.0.1", port: 0 },
    handlers: {
      "/agent/v1/": async ({ body }) => {
        bodies.push(body ?? "");
        return json(200, body ?? "");
      },
    },
    hostOf({ authorization }) {
      events.emit("asked");
      return authorization.startsWith("Bearer h") ? authorization : undefined;
    },
    onAnswered: () => events.emit("ended"),
  });
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    return guarded.close();
  });
  /** A request with this token that says so about its body, and is at its server. */
  const begins = async (token: string, length: string, body = ""): Promise<Socket> => {
    const asked = once(events, "asked");
    const socket = connect(guarded.port, "127.0.0.1").on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
    socket.write(`POST /agent/v1/x HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n${length}\r\n\r\n${body}`);
    await asked;
    return socket;
  };
  const answer = async (socket: Socket): Promise<string> => String((await once(socket, "data"))[0]);
  const CHUNKED = "transfer-encoding: chunked";

  for (const [length, body] of [
    ["content-length: 4", "body"],
    [CHUNKED, "4\r\nbody\r\n0\r\n\r\n"],
  ] as const)
    assert.match(
      await answer(await begins("nobody", length, body)),
      /^HTTP\/1\.1 401 .*connection: close.*www-authenticate: Bearer.*\r\n\r\nnot authorized\n$/is,
    );
  for (let at = 0; at < 63; at++) await begins(`h${at}`, CHUNKED);
  const last = await begins("h63", "content-length: 1048576");
  const refused = await answer(await begins("h64", "content-length: 1"));
  assert.match(refused, /^HTTP\/1\.1 503 .*retry-after: 10.*\r\n\r\ntry again\n$/is);
  assert.match(await answer(await begins("h65", "x-no: body")), /^HTTP\/1\.1 200 /);

  const ended = once(events, "ended");
  last.destroy();
  await ended;
  assert.match(await answer(await begins("h66", "content-length: 4", "body")), /^HTTP\/1\.1 200 .*"body"/s);
  assert.deepEqual(bodies, ["", "body"], "nothing that was refused was handed on");
});
