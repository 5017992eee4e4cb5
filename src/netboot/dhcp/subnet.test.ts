import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { SubnetConfig } from "./config.ts";
import { Reservations } from "./reservations.ts";
import { compileSubnets } from "./subnet.ts";

const net = (network: string, ...pools: [string, string][]): SubnetConfig => ({
  network,
  pools: pools.map(([first, last]) => ({ first, last })),
});

/** What a person may get wrong, and what is said. */
const WRONG: [SubnetConfig[], string][] = [
  [
    [net("10.0.0.0")],
    'subnet 10.0.0.0: CIDR "10.0.0.0": not an address, a slash and a prefix length, such as 10.0.0.0/24',
  ],
  [[net("fd00::/64")], "subnet fd00::/64: DHCP is for IPv4"],
  [[net("10.0.0.0/24", ["10.0.1.1", "10.0.1.9"])], "subnet 10.0.0.0/24: pool 10.0.1.1 is not in it"],
  [
    [net("10.0.0.0/24", ["10.0.0.9", "10.0.0.1"])],
    "subnet 10.0.0.0/24: the pool 10.0.0.9 to 10.0.0.1 is in the wrong order",
  ],
  [
    [net("10.0.0.0/24", ["10.0.0.1", "10.0.0.9"], ["10.0.0.9", "10.0.0.20"])],
    "subnet 10.0.0.0/24: the pool 10.0.0.9 to 10.0.0.20 overlaps another one",
  ],
  [[net("10.0.0.0/8", ["10.0.0.0", "10.1.0.0"])], "subnet 10.0.0.0/8: pools of 65537 addresses; at most 65536"],
  [[net("10.0.0.0/8"), net("10.1.0.0/16")], "subnet 10.1.0.0/16: it overlaps 10.0.0.0/8"],
  [[{ ...net("10.0.0.0/24"), gateway: "10.0.1.1" }], "subnet 10.0.0.0/24: gateway 10.0.1.1 is not in it"],
  [
    [{ ...net("10.0.0.0/24"), leaseSeconds: 5 }],
    "subnet 10.0.0.0/24: leaseSeconds 5: a whole number of seconds, at least 10",
  ],
  [[{ ...net("10.0.0.0/24"), searchDomains: ["a..b"] }], 'subnet 10.0.0.0/24: DNS label ""'],
];

for (const [subnets, message] of WRONG) {
  test(`refused: ${message}`, () => {
    assert.throws(
      () => compileSubnets(subnets),
      (error) => isFault(error, "Invalid") && error.message === message,
    );
  });
}

test("routes are sent together with the gateway, which clients of option 121 would otherwise lose", () => {
  const routes = [{ network: "10.9.0.0/16", gateway: "10.0.0.9" }];
  const [subnet] = compileSubnets([{ ...net("10.0.0.0/24"), gateway: "10.0.0.1", routes }]);
  assert.deepEqual([...subnet!.options.get(121)!], [0, 10, 0, 0, 1, 16, 10, 9, 10, 0, 0, 9]);
});

test("N30 reservations are by MAC in any notation, one for a machine, one for an address", () => {
  const first = { mac: "52-54-00-AA-BB-CC", address: "10.0.0.5" };
  assert.equal(new Reservations([first]).of("52:54:00:aa:bb:cc")?.mac, "52:54:00:aa:bb:cc");
  assert.throws(() => new Reservations([first, { mac: "5254.00aa.bbcc" }]), /there are two for this machine/);
  assert.throws(
    () => new Reservations([first, { mac: "52:54:00:00:00:01", address: "10.0.0.5" }]),
    /10.0.0.5 is reserved for 52:54:00:aa:bb:cc/,
  );
});
