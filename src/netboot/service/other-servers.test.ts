import assert from "node:assert/strict";
import { test } from "node:test";
import { type Log, quietLog } from "@slipway/base";
import { clientOf } from "../dhcp/client.ts";
import { say } from "../dhcp/testing.ts";
import { parseIpv4 } from "../dhcp/wire/ipv4.ts";
import { warningOfOthers } from "./other-servers.ts";

const MINUTE = 60_000;

function stage() {
  const time = { now: 0 };
  const warned: object[] = [];
  const log: Log = { ...quietLog, warn: (fields) => void warned.push(fields) };
  const notify = warningOfOthers({ clock: { monotonic: () => time.now }, log });
  const client = clientOf(say("request"))!;
  return { time, warned, takes: (server: string) => notify({ is: "elsewhere", client, server: parseIpv4(server) }) };
}

test("another DHCP server is warned of once an hour, with what to do", () => {
  const { time, warned, takes } = stage();
  for (const now of [0, 1, 59 * MINUTE, 60 * MINUTE, 61 * MINUTE]) {
    time.now = now;
    takes("10.0.0.9");
  }
  assert.equal(warned.length, 2);
  const remedy = "use --dhcp proxy beside it, or stop it";
  assert.deepEqual(warned[0], { server: "10.0.0.9", client: "52:54:00:00:00:01", remedy });
});

test("who names servers that there are not can't fill the log", () => {
  const { warned, takes } = stage();
  for (let i = 0; i < 200; i++) takes(`10.0.1.${i}`);
  assert.equal(warned.length, 16);
});
