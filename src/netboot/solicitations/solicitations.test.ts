import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault, type Log, quietLog } from "@slipway/base";
import { clientOf } from "../dhcp/client.ts";
import { SENDS, say } from "../dhcp/testing.ts";
import { perlIs } from "../sockets/testing.ts";
import { macOfLinkLocal } from "./link-local.ts";
import { RecentIpxe } from "./recent-ipxe.ts";
import { answerSolicitations } from "./responder.ts";

const MAC = "52:54:00:00:00:01";

test("the card shows in a link-local address that was made of it, and in no other address", () => {
  assert.equal(macOfLinkLocal("fe80000000000000505400fffe000001"), MAC);
  for (const other of [
    "fe80000000000000505400fffd000001",
    "fe80000000000001505400fffe000001",
    "20010db800000000505400fffe000001",
    "00000000000000000000000000000000",
    "",
  ])
    assert.equal(macOfLinkLocal(other), undefined);
});

test("a machine counts as one in iPXE from what it says to DHCP, until it says something else or time has passed", () => {
  let now = 0;
  const recent = new RecentIpxe({ monotonic: () => now });
  const sees = (sends: keyof typeof SENDS): void =>
    recent.notify({ is: "seen", client: clientOf(say("discover", { sends: SENDS[sends], mac: MAC }))! });

  assert.equal(recent.has(MAC), false);
  sees("ipxeRom");
  assert.equal(recent.has(MAC), true);
  now = 30_000;
  assert.equal(recent.has(MAC), false);
  sees("ipxeRom");
  sees("system");
  assert.equal(recent.has(MAC), false);
});

test("an interface that there is not is reported at once", async () => {
  const answering = answerSolicitations({ device: "nosuch0", answers: () => true, log: quietLog });
  await assert.rejects(answering, (error) => isFault(error, "Unavailable", "MissingInput"));
});

test("it is a warning when answering ends by itself, and none when it is closed", async (t) => {
  const warned = Promise.withResolvers<object>();
  let warnings = 0;
  const log: Log = {
    ...quietLog,
    warn(fields) {
      warnings++;
      warned.resolve(fields);
    },
  };
  const options = { device: "eth1", answers: () => true, log };
  perlIs(t, "echo ready; read line");
  await (await answerSolicitations(options)).close();
  assert.equal(warnings, 0);
  perlIs(t, "echo ready; printf 'no memory' >&2; exit 1");
  await answerSolicitations(options);
  assert.deepEqual(await warned.promise, { device: "eth1", said: "no memory" });
});

test("what keeps solicitations from being answered is named with its step, whatever perl ends with", async (t) => {
  const refusal = async (): Promise<unknown> =>
    answerSolicitations({ device: "eth1", answers: () => true, log: quietLog }).catch((error: unknown) => error);
  perlIs(t, "printf '1 socket' >&2; exit 1");
  const denied = await refusal();
  assert.ok(isFault(denied, "Unavailable"));
  assert.equal(denied.message, "router solicitations on eth1: socket: EPERM");
  assert.match(denied.remedy ?? "", /CAP_NET_RAW/);
  perlIs(t, "printf 'syntax error' >&2; exit 255");
  assert.match(String(await refusal()), /perl ended: syntax error/);
  perlIs(t, undefined);
  assert.ok(isFault(await refusal(), "MissingInput"));
});
