import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import fc from "fast-check";
import type { OpenDatagrams } from "../tftp/datagrams.ts";
import { syslogLine } from "./message.ts";
import { serveSyslog } from "./server.ts";

const line = (text: string): string => syslogLine(Buffer.from(text));

test("both formats of syslog, and what firmware makes of them, become program and text", () => {
  assert.equal(line("<34>1 2026-11-21T10:00:00.003Z host su 77 ID47 - 'su root' failed"), "su[77]: 'su root' failed");
  assert.equal(line('<165>1 2026-11-21T10:00:00Z host app - - [a@1 k="]\\"x"][b@1] \ufefftext'), "app: text");
  assert.equal(line("<13>1 - - - - - -"), "");
  assert.equal(line("<34>Nov 21 10:00:00 mymachine su: failed"), "su: failed");
  assert.equal(line("<6>Nov  1 10:00:00 kernel: [ 0.1] up\n"), "kernel: [ 0.1] up");
  assert.equal(line("<134>ipxe: http://10.0.0.1/boot.ipxe... ok"), "ipxe: http://10.0.0.1/boot.ipxe... ok");
  assert.equal(line("just text"), "just text");
  assert.equal(line("x".repeat(9_000)), "x".repeat(8_192));
});

test("whatever arrives becomes a text, in time that does not depend on what it is", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => assert.equal(typeof syslogLine(bytes), "string")),
  );
  fc.assert(fc.property(fc.string(), (text) => assert.equal(typeof line(`<1>1 - - - - - [${text}`), "string")));
  assert.ok(line(`<1>1 - - a - - ${"[".repeat(60_000)}`).length < 8_192);
});

test("lines are seen with the address that they came from", async () => {
  const seen = Promise.withResolvers<[string, string]>();
  const onLine = (address: string, text: string): void => seen.resolve([address, text]);
  const server = await serveSyslog({ address: "127.0.0.1", port: 0, onLine });
  const client = createSocket("udp4");
  client.send("<6>", server.port, "127.0.0.1");
  client.send("<6>kernel: hello", server.port, "127.0.0.1");

  assert.deepEqual(await seen.promise, ["127.0.0.1", "kernel: hello"]);
  client.close();
  await server.close();
});

test("the port is syslog's own unless another is given", async () => {
  const ports: number[] = [];
  const datagrams: OpenDatagrams = async ({ port }) => {
    ports.push(port);
    return { port, send() {}, close: async () => {} };
  };
  for (const port of [undefined, 1514])
    await serveSyslog({ address: "127.0.0.1", ...(port && { port }), onLine() {}, datagrams });
  assert.deepEqual(ports, [514, 1514]);
});

const missing = spawnSync("logger", ["--version"]).status === 0 ? false : "no logger: apt-get install bsdutils";
test("what util-linux's logger sends is read, in either format", { skip: missing }, async () => {
  const seen = new EventEmitter<{ line: [string] }>();
  const server = await serveSyslog({ address: "127.0.0.1", port: 0, onLine: (_, text) => seen.emit("line", text) });
  for (const format of ["--rfc3164", "--rfc5424"]) {
    const said = once(seen, "line", { signal: AbortSignal.timeout(60_000) });
    const at = ["--server", "127.0.0.1", "--port", String(server.port), "--udp"];
    const logger = spawn("logger", [format, ...at, "--tag", "agent", "the disk is written"], { stdio: "ignore" });
    assert.deepEqual(await said, ["agent: the disk is written"], format);
    if (logger.exitCode === null) await once(logger, "close");
  }
  await server.close();
});
