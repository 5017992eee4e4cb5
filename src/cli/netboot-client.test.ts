import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { SOCKET } from "../netboot/service/place.ts";
import { type NetbootClient, netbootClient } from "./netboot-client.ts";

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "slipway-client-"));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

/** A netboot that answers everything but its hosts as it is reported. */
async function netboot(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const dir = folder(t);
  const server = createServer((request, response) => {
    if (request.url === "/v1/hosts") response.end('{"hosts":[]}');
    else answer(request, response);
  }).listen(join(dir, SOCKET));
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return dir;
}

async function client(t: TestContext, ...folders: string[]): Promise<NetbootClient> {
  return clientAt(t, undefined, folders);
}

async function clientAt(t: TestContext, clock: Clock | undefined, folders: string[]): Promise<NetbootClient> {
  const made = await netbootClient(folders, clock);
  t.after(() => made.close());
  return made;
}

const LINE = '{"at":1,"source":"dhcp","line":"first"}\n';
const never = new AbortController().signal;

test("the first folder whose netboot answers is asked, past empty ones and sockets of the dead", async (t) => {
  const dead = folder(t);
  writeFileSync(join(dead, SOCKET), "");
  const dir = await netboot(t, (_, response) => response.end('{"name":"here"}'));
  assert.deepEqual(await (await client(t, folder(t), dead, dir)).ask("GET", "/hosts/a"), { name: "here" });
});

test("a log that is cut off is not taken for one that has ended", async (t) => {
  const dir = await netboot(t, ({ url }, response) => {
    if (!url!.includes("/logs")) return void response.end("{}");
    response.write(LINE, () => response.destroy());
  });
  const { logs } = await client(t, dir);
  const lines: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const { line } of logs("a", { follow: true, signal: never })) lines.push(line);
  };
  await assert.rejects(reading(), (error) => isFault(error, "LostAnswer"));
  assert.deepEqual(lines, ["first"]);
});

test("a host that is forgotten before its log is read is reported as such", async (t) => {
  const dir = await netboot(t, ({ url }, response) => {
    if (!url!.includes("/logs")) return void response.end("{}");
    response.writeHead(404).end('{"code":"NotFound","message":"a: no such host was seen"}');
  });
  const { logs } = await client(t, dir);
  const lines = logs("a", { follow: false, signal: never })[Symbol.asyncIterator]();
  await assert.rejects(
    lines.next(),
    (error) => isFault(error, "NotFound") && error.message === "a: no such host was seen",
  );
});

test("a reader that stops in the midst of a log lets go of it", async (t) => {
  const gone = Promise.withResolvers<void>();
  const dir = await netboot(t, ({ url }, response) => {
    if (!url!.includes("/logs")) return void response.end("{}");
    response.once("close", gone.resolve);
    response.write(LINE);
  });
  const { logs } = await client(t, dir);
  for await (const _ of logs("a", { follow: true, signal: never })) break;
  await gone.promise;
});

test("what is no answer of the API is reported as it came", async (t) => {
  const dir = await netboot(t, (_, response) => response.writeHead(500).end("internal error\n"));
  const asked = (await client(t, dir)).ask("PUT", "/hosts/a/boot", "disk");
  await assert.rejects(asked, (error) => isFault(error, "Internal") && error.message === "a: internal error");
});

test("an order may take two hours to be answered, as long as an image takes to be fetched; a question half a minute", async (t) => {
  const asked = new Map<string, PromiseWithResolvers<ServerResponse>>(
    ["GET", "POST"].map((method) => [method, Promise.withResolvers<ServerResponse>()]),
  );
  const dir = await netboot(t, ({ method }, response) => asked.get(method!)!.resolve(response));
  const clock = new VirtualClock();
  const { ask } = await clientAt(t, clock, [dir]);

  const question = assert.rejects(ask("GET", "/hosts/a"), (error) => isFault(error, "LostAnswer"));
  await asked.get("GET")!.promise;
  await clock.run(30_000);
  await question;

  const order = ask<{ id: string }>("POST", "/hosts/a/orders", { order: "inspect" });
  const answer = await asked.get("POST")!.promise;
  await clock.run(2 * 60 * 60_000 - 1);
  answer.end('{"id":"1"}');
  assert.deepEqual(await order, { id: "1" });

  const late = assert.rejects(ask("POST", "/hosts/b/orders", {}), (error) =>
    isFault(error, "LostAnswer", "Unavailable"),
  );
  await clock.run(2 * 60 * 60_000);
  await late;
});
