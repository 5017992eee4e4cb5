import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { networkData } from "../../bootstrap/cloud-init/network-data.ts";
import type { Network } from "../../bootstrap/installation/installation.ts";
import { FULL, SMALL } from "../../bootstrap/installation/testing.ts";
import { installerNetwork } from "./installer-network.ts";

const MAC = "52:54:00:12:34:56";
const LINK = { id: "eno1", type: "phy", ethernet_mac_address: MAC };
const IPV4 = { link: "eno1", type: "ipv4", ip_address: "10.0.0.5", netmask: "255.255.255.0" };
const read = (data: object): Network => installerNetwork(JSON.stringify(data), "52:54:00:00:00:01");

test("without networkData it is DHCP on the card that the host boots from", () => {
  assert.deepEqual(installerNetwork(undefined, "52-54-00-AB-00-01"), { mac: "52:54:00:ab:00:01", method: "dhcp" });
  assert.deepEqual(installerNetwork("# nothing\n", MAC), { mac: MAC, method: "dhcp" });
});

test("what we write for an image is read back", () => {
  for (const { network } of [FULL, SMALL]) assert.deepEqual(read(networkData(network)), network);
});

test("one card with a static address, as Cluster API's Metal3 provider writes it", () => {
  const text = `
links:
  - {id: eno1, type: phy, ethernet_mac_address: "52:54:00:12:34:56", mtu: 1500}
networks:
  - id: n
    link: eno1
    type: ipv4
    ip_address: 10.0.0.5
    netmask: 255.255.255.0
    routes: [{network: 0.0.0.0, netmask: 0.0.0.0, gateway: 10.0.0.1, services: []}]
services: [{type: dns, address: 10.0.0.2}, {type: ntp, address: 10.0.0.9}]
`;
  assert.deepEqual(installerNetwork(text, MAC), {
    mac: MAC,
    method: "static",
    address: "10.0.0.5/24",
    gateway: "10.0.0.1",
    nameServers: ["10.0.0.2"],
  });
});

test("other notations of mask, gateway and name servers", () => {
  const services = [{ type: "dns", address: "10.0.0.2" }];
  const expected = { mac: MAC, method: "static", address: "10.0.0.5/25", nameServers: ["10.0.0.2"] };
  const network = { ...IPV4, netmask: "25", services };
  assert.deepEqual(read({ links: [LINK], networks: [network], services }), expected);
  const alone = read({ links: [LINK], networks: [{ ...IPV4, netmask: "255.255.255.255" }] });
  assert.equal(alone.method === "static" && alone.address, "10.0.0.5/32");
  const inOne = { link: "eno1", type: "ipv4", ip_address: "10.0.0.5/25", gateway: "10.0.0.1", services };
  assert.deepEqual(read({ links: [LINK], networks: [inOne] }), { ...expected, gateway: "10.0.0.1" });
  const route = { network: "0.0.0.0/0", gateway: "10.0.0.3" };
  assert.deepEqual(read({ links: [LINK], networks: [{ ...inOne, routes: [route] }] }), {
    ...expected,
    gateway: "10.0.0.3",
  });
});

const wrong: readonly [string, object, RegExp][] = [
  ["two cards", { links: [LINK, LINK], networks: [IPV4] }, /links: installers are given one card/],
  ["two networks", { links: [LINK], networks: [IPV4, IPV4] }, /networks: installers are given one card/],
  ["none", { links: [], networks: [] }, /links: installers are given one card/],
  ["a bond", { links: [{ ...LINK, type: "bond" }], networks: [IPV4] }, /links\.0\.type: installers are given cards/],
  ["another link's", { links: [LINK], networks: [{ ...IPV4, link: "x" }] }, /networks\.0\.link: is not the id/],
  ["IPv6", { links: [LINK], networks: [{ ...IPV4, type: "ipv6" }] }, /networks\.0\.type: installers are given ipv4/],
  [
    "a further route",
    {
      links: [LINK],
      networks: [{ ...IPV4, routes: [{ network: "10.1.0.0", netmask: "255.255.0.0", gateway: "10.0.0.9" }] }],
    },
    /networks\.0\.routes\.0: installers are given the default route/,
  ],
  [
    "no mask",
    { links: [LINK], networks: [{ ...IPV4, netmask: "255.0.255.0" }] },
    /address: must be an IPv4 address with/,
  ],
  [
    "no address",
    { links: [LINK], networks: [{ link: "eno1", type: "ipv4" }] },
    /address: must be an IPv4 address with/,
  ],
  ["no MAC", { links: [{ id: "eno1", type: "phy" }], networks: [] }, /links\.0\.ethernet_mac_address: /],
  ["a wrong MAC", { links: [{ ...LINK, ethernet_mac_address: "x" }], networks: [IPV4] }, /mac: must be a MAC/],
  ["nothing of it", {}, /links: .*networks: /],
];
for (const [what, data, message] of wrong)
  test(`${what}: refused by what is wrong`, () => {
    assert.throws(
      () => read(data),
      (error: unknown) => error instanceof Fault && error.code === "Invalid" && message.test(error.message),
    );
  });

test("each type of link that is a card by itself is taken for one, and no other", () => {
  const of = (type: string) => read({ links: [{ ...LINK, type }], networks: [{ link: "eno1", type: "ipv4_dhcp" }] });
  for (const type of ["phy", "ethernet", "vif", "ovs", "bridge", "tap", "vhostuser", "hw_veb", "hyperv", "dvs"])
    assert.deepEqual(of(type), { mac: MAC, method: "dhcp" }, type);
  for (const type of ["bond", "vlan"]) assert.throws(() => of(type), /no bonds and no VLANs/);
});
