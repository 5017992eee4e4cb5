/** Machines' consoles and boot logs: who reads them, and what of them a reader gets. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { ConfigMap } from "@slipway/kube/core";
import type { OutputOf } from "../../inventory/outputs/outputs.ts";
import { OutputTail } from "../../inventory/outputs/tail.ts";
import { STREAM_TIMES } from "./event-stream.ts";
import { OutputStream } from "./output-stream.ts";
import { Browser, type TestConsole, TOKENS, testConsole } from "./testing.ts";

const AT = "configmaps?namespace=default&name=machine";

/** A console for an API in which a ConfigMap stands for a machine, whose serial console has said something. */
async function stage(
  t: TestContext,
  clock = systemClock,
): Promise<TestConsole & { tail: OutputTail; open: () => number }> {
  const tail = new OutputTail();
  let readers = 0;
  const serial: OutputOf = async ({ metadata: { name } }) => {
    if (name !== "machine") return undefined;
    readers++;
    return { tail, done: () => void readers-- };
  };
  const console = await testConsole({}, { clock, outputs: { serial } });
  t.after(() => console.close());
  await console.client.create(ConfigMap, { metadata: { name: "machine", namespace: "default" } });
  await console.client.create(ConfigMap, { metadata: { name: "silent", namespace: "default" } });
  tail.push(Buffer.from("\x1b[31mboot\r\n"));
  return { ...console, tail, open: () => readers };
}

test("who may get the machine's object reads its console, from what is kept of it on; who may not gets the API's words", async (t) => {
  const { url, tail, open } = await stage(t);
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const { features } = JSON.parse((await viewer.ask("/console/session")).body);
  assert.deepEqual(features, { serial: true, logs: false });
  const reading = await viewer.output(`/console/serial/${AT}`);
  assert.equal(reading.response.headers["content-type"], "text/event-stream; charset=utf-8");
  assert.match(String(reading.response.headers["content-security-policy"]), /sandbox/);
  await reading.until("what is kept", ({ output }) => output === "\x1b[31mboot\r\n");
  tail.push(Buffer.from("login: "));
  await reading.until("what comes", ({ output }) => output.endsWith("login: "));
  assert.equal(open(), 1);

  const nobody = await Browser.signIn(url, TOKENS.nobody);
  const refused = await nobody.ask(`/console/serial/${AT}`);
  assert.equal(refused.status, 403);
  assert.match(refused.body, /User \\"nobody\\" cannot get resource \\"configmaps\\"/);
  const elsewhere = await viewer.ask("/console/serial/configmaps?namespace=kube-system&name=machine");
  assert.equal(elsewhere.status, 403);
  assert.equal((await viewer.ask(`/console/logs/${AT}`)).status, 404);
  assert.equal((await viewer.ask("/console/serial/configmaps?namespace=default&name=silent")).status, 404);
  assert.equal((await viewer.ask("/console/serial/configmaps?namespace=default&name=none")).status, 404);
  assert.equal((await viewer.ask("/console/serial/secrets?namespace=default&name=machine")).status, 403);
  for (const bad of [
    "configmaps",
    "configmaps?name=../x",
    `${AT}&name=b`,
    "a%2fb?name=machine",
    "configmaps?name=machine",
  ])
    assert.equal((await viewer.ask(`/console/serial/${bad}`)).status, 400, bad);
  reading.close();
  await reading.until("end", ({ ended }) => ended);
  assert.equal((await fetch(`${url}/console/serial/${AT}`)).status, 401);
});

test("signing out ends a console, and so does the end of the output", async (t) => {
  const { url, tail, open } = await stage(t);
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const reading = await viewer.output(`/console/serial/${AT}`);
  await reading.until("text", ({ output }) => output !== "");
  await viewer.ask("/console/session", { method: "DELETE" });
  await reading.until("end", ({ ended }) => ended);
  const again = await Browser.signIn(url, TOKENS.viewer);
  const last = await again.output(`/console/serial/${AT}`);
  await last.until("text", ({ output }) => output !== "");
  tail.push(Buffer.from("bye"));
  tail.finish();
  await last.until("end", ({ ended }) => ended);
  assert.match(last.output, /bye$/);
  assert.equal(open(), 0);
});

test("who does not see the machine any more, or another one of its name, loses its console: it is asked every 30 seconds", async (t) => {
  let slept = Promise.withResolvers<() => void>();
  const sleep: typeof systemClock.sleep = (ms, signal) =>
    ms === 30_000 ? new Promise((resolve) => slept.resolve(resolve)) : systemClock.sleep(ms, signal);
  const { url, client } = await stage(t, Object.assign(Object.create(systemClock), { sleep }));
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const reading = await viewer.output(`/console/serial/${AT}`);
  await reading.until("text", ({ output }) => output !== "");
  const pass = await slept.promise;
  slept = Promise.withResolvers();
  pass();
  const passAgain = await slept.promise;
  assert.equal(reading.ended, false);
  await client.delete(ConfigMap, { namespace: "default", name: "machine" });
  await client.create(ConfigMap, { metadata: { name: "machine", namespace: "default" } });
  passAgain();
  await reading.until("end", ({ ended }) => ended);
});

test("a session has at most 12 pages and consoles open", async (t) => {
  const { url } = await stage(t);
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const open = [];
  for (let i = 0; i < 12; i++) {
    open.push(await viewer.output(`/console/serial/${AT}`));
    await open[i]!.until("text", ({ output }) => output !== "");
  }
  assert.equal((await viewer.ask(`/console/serial/${AT}`)).status, 429);
  for (const each of open) each.close();
});

/** A reader by hand: it takes what is written until it is full. */
function reader() {
  const clock = new VirtualClock();
  const tail = new OutputTail(1_000);
  const at = { isFull: false, text: "", events: 0, destroyed: false, ended: false };
  const sink = {
    write(text: string) {
      if (text.startsWith("data: ")) at.events++;
      at.text += [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => Buffer.from(data!, "base64")).join("");
      return !at.isFull;
    },
    destroy() {
      at.destroyed = true;
    },
    end() {
      at.ended = true;
    },
  };
  return { clock, tail, at, stream: new OutputStream(sink, tail, clock, STREAM_TIMES) };
}

test("a reader who is slow gets the rest when he has room; nothing is held for him beside what is kept anyway", () => {
  const { tail, at, stream } = reader();
  at.isFull = true;
  tail.push(Buffer.from("one"));
  tail.push(Buffer.from("two"));
  assert.equal(at.text, "one");
  at.isFull = false;
  stream.drained();
  assert.equal(at.text, "onetwo");
  stream.close();
});

test("bytes that come one by one are read at once, then together every 40 ms; much, and the end, do not wait", async () => {
  const { clock, tail, at } = reader();
  for (const byte of "login: ") tail.push(Buffer.from(byte));
  assert.deepEqual([at.text, at.events], ["l", 1]);
  await clock.run(40);
  assert.deepEqual([at.text, at.events], ["login: ", 2]);
  tail.push(Buffer.from("x"));
  await clock.run(39);
  assert.equal(at.events, 2);
  await clock.run(1);
  assert.deepEqual([at.text, at.events], ["login: x", 3]);
  tail.push(Buffer.from("bye"));
  tail.finish();
  assert.deepEqual([at.text, at.ended], ["login: xbye", true]);
});

test("a reader of whose next bytes nothing is kept any more is cut off, and so is one that takes nothing for 30 seconds", async () => {
  const overtaken = reader();
  overtaken.at.isFull = true;
  for (let i = 0; i < 20; i++) overtaken.tail.push(Buffer.alloc(100));
  assert.equal(overtaken.at.destroyed, true);
  const stalled = reader();
  stalled.at.isFull = true;
  stalled.tail.push(Buffer.from("one"));
  await stalled.clock.run(29_999);
  assert.equal(stalled.at.destroyed, false);
  await stalled.clock.run(1);
  assert.equal(stalled.at.destroyed, true);
});
