import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { networkInterfaces } from "node:os";
import { test } from "node:test";
import type { InheritedSockets } from "../sockets/inherited.ts";
import { interfaceNamed, onlyInterface, openOn } from "./interface.ts";
import { formatIpv4, maskOf, parseIpv4 } from "./wire/ipv4.ts";

type All = ReturnType<typeof networkInterfaces>;

const card = (address: string, internal = false): NonNullable<All[string]>[number] => ({
  ...{ address, netmask: "255.255.255.0", mac: "52:54:00:00:00:01", internal, cidr: `${address}/24`, family: "IPv4" },
});

const ALL: All = {
  lo: [card("127.0.0.1", true)],
  eth0: [card("192.0.2.7")],
  eth1: [card("10.0.0.2"), card("10.1.0.2")],
};

test("an interface has its addresses in the system's order, and knows whether it is alone", () => {
  const { addresses, alone } = interfaceNamed("eth1", ALL);
  assert.deepEqual(
    addresses.map(({ address, mask }) => [formatIpv4(address), mask]),
    [
      ["10.0.0.2", maskOf(24)],
      ["10.1.0.2", maskOf(24)],
    ],
  );
  assert.equal(alone, false);
  assert.equal(interfaceNamed("eth0", { lo: ALL.lo, eth0: ALL.eth0 }).alone, true);
});

test("an interface that is not there is refused with those that are; so is a choice among several", () => {
  assert.throws(() => interfaceNamed("eth9", ALL), { remedy: "there are eth0, eth1" });
  assert.throws(() => interfaceNamed("lo", { lo: ALL.lo }), { remedy: /ip addr add/ });
  assert.throws(() => onlyInterface(ALL), /there are eth0, eth1/);
  assert.equal(onlyInterface({ lo: ALL.lo, eth0: ALL.eth0 }).name, "eth0");
});

test("N6 on a socket that was inherited, the service is stopped and started again, and sees nothing between", async () => {
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  const inherited: InheritedSockets = {
    find: (asked) => (asked === port ? socket : undefined),
    list: [],
    close: () => socket.close(),
  };
  const open = openOn(interfaceNamed("eth1", ALL), inherited);
  const address = parseIpv4("127.0.0.1");
  const received: string[] = [];
  try {
    for (const round of ["first", "second"]) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const service = await open(address, port, (bytes) => {
        received.push(`${round} sees ${Buffer.from(bytes).toString()}`);
        resolve();
      });
      await service.send(Buffer.from(round), { address, port });
      await promise;
      await service.close();
      socket.send("between", port, "127.0.0.1");
      await once(socket, "message");
    }
  } finally {
    inherited.close();
  }
  assert.deepEqual(received, ["first sees first", "second sees second"]);
});
