import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault, quietLog } from "@slipway/base";
import { clientOf } from "../dhcp/client.ts";
import { SENDS, say } from "../dhcp/testing.ts";
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
  const hears = (sends: keyof typeof SENDS): void =>
    recent.notify({ is: "seen", client: clientOf(say("discover", { sends: SENDS[sends], mac: MAC }))! });

  assert.equal(recent.has(MAC), false);
  hears("ipxeRom");
  assert.equal(recent.has(MAC), true);
  now = 30_000;
  assert.equal(recent.has(MAC), false);
  hears("ipxeRom");
  hears("system");
  assert.equal(recent.has(MAC), false);
});

test("an interface that there is not is told at once", async () => {
  const answering = answerSolicitations({ device: "nosuch0", answers: () => true, log: quietLog });
  await assert.rejects(answering, (error) => isFault(error, "Unavailable", "MissingInput"));
});
