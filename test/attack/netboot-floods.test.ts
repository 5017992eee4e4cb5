/** Floods of netboot by machines that nobody vouches for, and starts from what they left. No network is touched; each child is bounded in time and heap. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { cryptoRandom, type Fault, plain } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { memoryFiles } from "../../src/netboot/files/memory.ts";
import { inventoryOf, machinesAt, someHosts } from "../../src/netboot/hosts/testing.ts";
import { netbootHttp } from "../../src/netboot/http/server.ts";
import { AddressedLogs } from "../../src/netboot/logs/by-address.ts";
import { HostLogs, type LogLine } from "../../src/netboot/logs/host-logs.ts";
import { heapBytes } from "../netboot/heap.ts";
import { scratch } from "../netboot/served.ts";

const run = promisify(execFile);
const MB = 1024 * 1024;
const MAC = "52:54:00:00:00:0a";

/** Starts on a file of hosts as netboot does, in a process with this heap. Rejects with what it said where it does not come up. */
async function started(file: string, heapMb: number): Promise<{ hosts: number; kept: number; log: string }> {
  const args = [`--max-old-space-size=${heapMb}`, join(import.meta.dirname, "start-hosts.ts"), file];
  const { stdout, stderr } = await run(process.execPath, args, { timeout: 120_000, maxBuffer: 16 * MB });
  return { ...JSON.parse(stdout), log: stderr };
}

/** A file as Slipway 0.1 left it: whole reports as text, as many as a flood made. */
function floodedFile(t: TestContext, bytes: number, each: number): string {
  const file = join(scratch(t), "hosts.db");
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA user_version = 1;
    CREATE TABLE hosts (name TEXT PRIMARY KEY, state TEXT NOT NULL, inventory TEXT)`);
  const insert = db.prepare("INSERT INTO hosts VALUES (?, ?, ?)");
  db.exec("BEGIN");
  const flags = Array.from({ length: Math.ceil(each / 5) }, (_, i) => String(i % 100).padStart(2, "0"));
  for (let i = 0; i * each < bytes; i++) {
    const mac = `52:54:01:${[16, 8, 0].map((shift) => ((i >> shift) & 255).toString(16).padStart(2, "0")).join(":")}`;
    const name = `host-${mac.replaceAll(":", "-")}`;
    const host = { name, mac, macs: [mac], firstSeen: i, lastSeen: i, boot: "agent", inventoryAt: i };
    const inventory = inventoryOf(mac);
    const cpu = { ...inventory.cpu, flags };
    insert.run(name, JSON.stringify({ host, bootChosen: false }), JSON.stringify({ ...inventory, cpu }));
  }
  db.exec("COMMIT");
  db.close();
  return file;
}

test("a start succeeds from 220 MB of hosts that a flood left, in 128 MB of heap", async (t) => {
  const file = floodedFile(t, 220 * MB, 22_000);
  assert.ok(statSync(file).size > 200 * MB);

  const { hosts } = await started(file, 128);
  assert.ok(hosts > 0 && hosts <= 10_000, `${hosts} hosts`);
});

test("uploads of logs take what the logs may take, not the bodies that they came in", () => {
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  const logs = new HostLogs({ hosts });
  hosts.seen({ mac: MAC });
  const before = heapBytes();
  for (let i = 0; i < 300; i++) {
    const body = `line ${i} of some length\n${"x".repeat(MB)}`;
    for (const line of body.split("\n", 1)) logs.append(MAC, "agent", line, 1);
  }
  assert.ok(heapBytes() - before < 20 * MB, `${(heapBytes() - before) / MB} MB`);
  logs.close();
});

test("lines from unknown addresses take no memory, and leave room for those of known ones", async () => {
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  const logs = new HostLogs({ hosts });
  hosts.seen({ mac: MAC });
  const said = new AddressedLogs({ logs, presences: machinesAt({ "10.0.0.5": MAC }), clock });
  const before = heapBytes();
  for (let i = 0; i < 20_000; i++) said.append("10.0.0.66", "syslog", `${i}${"\u4e00".repeat(8_000)}`);
  assert.ok(heapBytes() - before < 20 * MB, `${(heapBytes() - before) / MB} MB`);
  said.append("10.0.0.5", "syslog", "it boots");
  assert.deepEqual(await linesOf(logs.read(MAC)), ["it boots"]);
  logs.close();
});

test("a flood of registrations with the largest inventory stays within the bounds, and a machine that boots meanwhile gets its order", async (t) => {
  const clock = new VirtualClock();
  const file = join(scratch(t), "hosts.db");
  const bounds = { hosts: 200, bytes: 4 * MB, hostsPerSource: 150, bytesPerSource: 3 * MB };
  const hosts = someHosts(clock, { file, bounds });
  const before = heapBytes();
  const unpackable = Array.from({ length: 512 }, () => Buffer.from(cryptoRandom.bytes(180)).toString("base64"));
  const refused = new Map<string, number>();
  const tried = (work: () => unknown): void => {
    try {
      work();
    } catch (error) {
      const { code } = error as Fault;
      refused.set(code, (refused.get(code) ?? 0) + 1);
    }
  };
  const legitimate = hosts.register(inventoryOf(MAC), MAC);
  for (let i = 0; i < 500; i++) {
    const mac = `02:00:00:00:${(i >> 8).toString(16).padStart(2, "0")}:${(i & 255).toString(16).padStart(2, "0")}`;
    const flags = Array.from({ length: 512 }, (_, at) => `${i}-${at * 7919}`);
    const inventory = inventoryOf(mac);
    hosts.seen({ mac, source: `relay:10.0.0.1/${i % 3}` });
    tried(() => hosts.register({ ...inventory, cpu: { ...inventory.cpu, flags } }, mac));
    if (i % 20 === 0) tried(() => hosts.register({ ...inventory, cpu: { ...inventory.cpu, flags: unpackable } }, mac));
    if (i % 100 === 0) for (let again = 0; again < 12; again++) tried(() => hosts.register(inventory, mac));
    assert.ok(hosts.size.hosts <= bounds.hosts && hosts.size.bytes <= bounds.bytes);
    if (i % 50 === 0) {
      hosts.seen({ mac: MAC });
      await clock.run(1_000);
    }
  }
  assert.ok(heapBytes() - before < 40 * MB, `${(heapBytes() - before) / MB} MB`);
  assert.deepEqual([...refused.keys()].sort(), ["Invalid", "Throttled"]);
  assert.equal(hosts.byToken(legitimate.token)?.name, legitimate.host);
  const order = hosts.give(MAC, { order: "inspect" });
  assert.deepEqual(await hosts.nextOrder(legitimate.host, new AbortController().signal), order);
  hosts.close();
  assert.ok(statSync(file).size < 3 * bounds.bytes);
  assert.ok((await started(file, 64)).hosts > 0);
});

async function linesOf(read: AsyncIterable<LogLine>): Promise<string[]> {
  const lines: string[] = [];
  for await (const { line } of read) lines.push(line);
  return lines;
}

test("400 hosts behind one address keep their connections beside 300 that say nothing, whose bodies nobody reads", async (t) => {
  const server = await netbootHttp({
    files: memoryFiles({}),
    handlers: { "/agent/v1/": async () => plain(200, "served") },
    hostOf: ({ authorization }) => (authorization === "" ? undefined : authorization),
    host: "127.0.0.1",
    port: 0,
  });
  const open: Socket[] = [];
  t.after(async () => {
    for (const socket of open) socket.destroy();
    await server.close();
  });
  const connected = async (says: string): Promise<Socket> => {
    const socket = connect(server.port, "127.0.0.1").on("error", () => {});
    open.push(socket);
    await once(socket, "connect");
    socket.write(says);
    return socket;
  };
  const answer = async (socket: Socket): Promise<string> =>
    String(await Promise.race([once(socket, "data"), once(socket, "close")]));
  for (let host = 0; host < 400; host++) {
    const asking = await connected(`GET /agent/v1/x HTTP/1.1\r\nhost: x\r\nauthorization: h${host}\r\n\r\n`);
    assert.match(await answer(asking), /served/);
  }
  const posting = await connected("POST /agent/v1/x HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\nx");
  assert.match(await answer(posting), /401 Unauthorized/);
  const ended = new Set(open.filter((socket) => socket.closed));
  for (let slow = 0; slow < 300; slow++) await connected("GET /agent/v1/x HTTP/1.1\r\nx-slow: ");
  for (const [host, socket] of open.slice(0, 400).entries()) {
    // Ended by itself: nothing was asked on it for five seconds.
    if (ended.has(socket) || socket.readableEnded) continue;
    socket.write(`GET /agent/v1/x HTTP/1.1\r\nhost: x\r\nauthorization: h${host}\r\n\r\n`);
    assert.match(await answer(socket), /served/, `host ${host}`);
  }
});
