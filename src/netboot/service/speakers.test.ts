import assert from "node:assert/strict";
import { test } from "node:test";
import { type Log, quietLog } from "@slipway/base";
import type { Interface } from "../dhcp/interface.ts";
import { maskOf, parseIpv4 } from "../dhcp/wire/ipv4.ts";
import { netbootSettings } from "../settings.ts";
import { foreignNetworks, networkText, speakers } from "./speakers.ts";

const ON: Interface = {
  name: "nowhere0",
  addresses: [{ address: parseIpv4("10.9.0.1"), mask: maskOf(24) }],
  alone: true,
};

test("where we give no addresses our own link is foreign, beside the networks that are declared", () => {
  const networks = (dhcp: object) =>
    foreignNetworks(netbootSettings({ dhcp: { subnets: [{ network: "10.9.0.0/24" }], ...dhcp } }, "test"), ON).map(
      networkText,
    );
  assert.deepEqual(networks({}), []);
  assert.deepEqual(networks({ mode: "reservations", foreign: ["10.7.0.0/16"] }), ["10.7.0.0/16"]);
  assert.deepEqual(networks({ mode: "proxy", foreign: ["10.7.0.0/16"] }), ["10.7.0.0/16", "10.9.0.0/24"]);
  assert.deepEqual(networks({ mode: "off" }), ["10.9.0.0/24"]);
});

test("of an address that is refused the log has one warning an hour, with what to do, and of a flood of them a few", () => {
  const said: string[] = [];
  const log: Log = { ...quietLog, warn: (fields, message) => void said.push(`${message} ${JSON.stringify(fields)}`) };
  let now = 0;
  const settings = netbootSettings({ dhcp: { mode: "off", foreign: ["10.7.0.0/16"] } }, "test");
  const who = speakers({ settings, on: ON, dhcp: undefined, clock: { monotonic: () => now }, log });
  assert.deepEqual(who.of("10.7.1.2"), { is: "foreign", address: "10.7.1.2" });
  assert.deepEqual(said, []);
  for (let n = 0; n < 3; n++) assert.equal(who.of("::ffff:198.51.100.7").is, "refused");
  assert.equal(said.length, 1);
  assert.match(said[0]!, /198\.51\.100\.7.*it has no lease.*--foreign/);
  for (let n = 0; n < 200; n++) who.of(`198.51.100.${n}`);
  assert.equal(said.length, 16);
  now = 3_600_000;
  who.of("198.51.100.7");
  assert.equal(said.length, 17);
});

test("what is no IPv4 address is neither on the link nor in a foreign network", () => {
  const settings = netbootSettings({ dhcp: { mode: "off", foreign: ["0.0.0.0/0"] } }, "test");
  const who = speakers({ settings, on: ON, dhcp: undefined, clock: { monotonic: () => 0 }, log: quietLog });
  for (const address of ["fe80::1", "", "10.9.0", "10.9.0.5.6"])
    assert.deepEqual(who.of(address), { is: "refused", address, because: "it has no lease", unleased: {} });
});
