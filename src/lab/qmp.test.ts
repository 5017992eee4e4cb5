import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { Qmp } from "./qmp.ts";

test("orders are answered in their order, whatever events come between", async () => {
  const [ours, qemu] = duplexPair();
  const qmp = new Qmp(ours);
  const asked: string[] = [];
  qemu.setEncoding("utf8").on("data", (text: string) => {
    for (const line of text.trim().split("\n")) {
      const { execute, arguments: given } = JSON.parse(line) as { execute: string; arguments?: object };
      asked.push(given === undefined ? execute : `${execute} ${JSON.stringify(given)}`);
      const answer = execute === "quit" ? { error: { class: "GenericError", desc: "not now" } } : { return: {} };
      qemu.write(`{"event":"RESET"}\n${JSON.stringify(answer)}\n`);
    }
  });
  qemu.write('{"QMP":{"version":{}}}\n');
  const events: string[] = [];
  qmp.onEvent((event) => events.push(event));
  await qmp.execute("system_reset");
  await assert.rejects(qmp.execute("quit"), /not now/);
  await qmp.execute("eject", { id: "cd0", force: true });
  assert.deepEqual(asked, ["qmp_capabilities", "system_reset", "quit", 'eject {"id":"cd0","force":true}']);
  assert.deepEqual(events.slice(-3), ["RESET", "RESET", "RESET"]);
});

test("an order to a machine that has gone is refused, also where it had taken orders before", async () => {
  const [ours, qemu] = duplexPair();
  const qmp = new Qmp(ours);
  qemu.write('{"QMP":{}}\n{"return":{}}\n');
  await qmp.ready;
  const reset = qmp.execute("system_reset");
  qemu.destroy();
  ours.destroy();
  await assert.rejects(reset, /the machine is off/);
  await assert.rejects(qmp.execute("system_reset"), /the machine is off/);
});

test("what is no answer, however long it goes on, ends the conversation", async () => {
  const [ours, qemu] = duplexPair();
  const qmp = new Qmp(ours);
  qemu.write("x".repeat(300_000));
  await assert.rejects(qmp.ready, /the machine is off/);
});
