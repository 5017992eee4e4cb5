import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client } from "../dhcp/client.ts";
import type { DhcpEvent } from "../dhcp/event.ts";
import { parseIpv4 } from "../dhcp/wire/ipv4.ts";
import { someHosts } from "../hosts/testing.ts";
import { hearing } from "./hearing.ts";

const A = "52:54:00:00:00:0a";
const ADDRESS = parseIpv4("10.0.0.100");

function client(more: Partial<Client> = {}): Client {
  return {
    ...{ key: "1/52540000000a", mac: A, uuid: undefined, architecture: 0, raspberryPi: false },
    ...{ loader: undefined, ipxe: undefined, ...more },
  };
}

function stage() {
  const hosts = someHosts(new VirtualClock());
  const lines: string[] = [];
  const notify = hearing({ hosts, note: (mac, line) => void lines.push(`${mac} ${line}`) });
  return { hosts, lines, notify };
}

const IPXE = { userClasses: ["iPXE"], http: true };
const MACHINES: [
  said: string,
  client: Partial<Client>,
  architecture: string | undefined,
  firmware: string | undefined,
][] = [
  ["BIOS", { loader: "PXEClient", architecture: 0 }, "x86_64", "bios"],
  ["UEFI for x64", { loader: "PXEClient", architecture: 7 }, "x86_64", "uefi"],
  ["UEFI for x64 by HTTP", { loader: "HTTPClient", architecture: 16 }, "x86_64", "uefi"],
  ["UEFI for ARM64", { loader: "PXEClient", architecture: 11 }, "aarch64", "uefi"],
  ["iPXE", { ipxe: IPXE, architecture: 7 }, "x86_64", "uefi"],
  ["something else", { loader: "PXEClient", architecture: 999 }, undefined, undefined],
];

for (const [said, more, architecture, firmware] of MACHINES) {
  test(`a machine that says it boots by ${said} becomes a host of that kind`, () => {
    const { hosts, notify } = stage();
    notify({ is: "seen", client: client(more) });
    const host = hosts.get(A);
    assert.deepEqual([host?.architecture, host?.firmware], [architecture, firmware]);
  });
}

test("an operating system that wants an address is no host, and changes nothing of one but when it was seen", () => {
  const { hosts, lines, notify } = stage();
  notify({ is: "seen", client: client() });
  notify({ is: "bound", client: client(), address: ADDRESS, expiresAt: 0 });
  assert.deepEqual([hosts.list(), lines], [[], []]);

  notify({ is: "seen", client: client({ loader: "PXEClient", architecture: 7 }) });
  notify({ is: "seen", client: client() });
  assert.deepEqual([hosts.get(A)?.architecture, hosts.get(A)?.firmware], ["x86_64", "uefi"]);
  notify({ is: "bound", client: client(), address: ADDRESS, expiresAt: 0 });
  assert.equal(hosts.get(A)?.address, "10.0.0.100");
});

test("what DHCP did for a host is reported in its log, each in its words", () => {
  const { lines, notify } = stage();
  const boots = client({ loader: "PXEClient" });
  notify({ is: "seen", client: boots });
  const events: DhcpEvent[] = [
    { is: "bound", client: boots, address: ADDRESS, expiresAt: 0 },
    { is: "released", client: boots, address: ADDRESS },
    { is: "declined", client: boots, address: ADDRESS },
    { is: "inUse", address: ADDRESS },
    { is: "elsewhere", client: boots, server: parseIpv4("10.0.0.9") },
    { is: "refused", client: boots, address: ADDRESS, because: "not of this network" },
    { is: "noAddress", client: boots, subnet: "10.0.0.0/24", because: "the pool is full" },
  ];
  for (const event of events) notify(event);
  assert.deepEqual(lines, [
    `${A} 10.0.0.100 is given until 1970-01-01T00:00:00.000Z`,
    `${A} 10.0.0.100 is given back`,
    `${A} 10.0.0.100 is in use already, the machine says`,
    `${A} it takes what another DHCP server, 10.0.0.9, offers`,
    `${A} 10.0.0.100 is refused: not of this network`,
    `${A} no address in 10.0.0.0/24: the pool is full`,
  ]);
});

test("a client without an Ethernet address is no host", () => {
  const { hosts, notify } = stage();
  notify({ is: "seen", client: client({ mac: undefined, loader: "PXEClient" }) });
  assert.deepEqual(hosts.list(), []);
});

test("a machine is noted as one of its link, or of the port of its relay", () => {
  const sources: unknown[] = [];
  const hosts = { get: () => undefined, seen: ({ source }: { source?: string }) => void sources.push(source) };
  const notify = hearing({ hosts, note: () => {} });
  const boots = client({ loader: "PXEClient" });
  notify({ is: "seen", client: boots });
  notify({ is: "seen", client: boots, via: { giaddr: parseIpv4("10.8.0.1"), circuit: "0a", remote: "ff" } });
  notify({ is: "seen", client: boots, via: { giaddr: parseIpv4("10.8.0.1"), remote: "ff" } });
  assert.deepEqual(sources, ["link", "relay:10.8.0.1/0a", "relay:10.8.0.1/"]);
});
