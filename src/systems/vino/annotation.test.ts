import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "js-yaml";
import type { VinoNode } from "../../kinds/vino/vino-node.ts";
import { networkValues } from "./annotation.ts";

const NETWORK = { name: "oam", bridge: "br0", mac: "02:00:00:00:00:00", addresses: ["10.0.1.0/16"] };
const vinoNode = (name: string, spec: object): VinoNode =>
  ({ metadata: { namespace: "ns", name }, spec: { networks: [NETWORK], domains: [], ...spec } }) as unknown as VinoNode;
const read = (...nodes: VinoNode[]) => load(networkValues(nodes)!) as Record<string, object[]>;

test("a node without networks has no annotation", () => {
  assert.equal(networkValues([]), undefined);
  assert.equal(networkValues([vinoNode("a", { networks: [] })]), undefined);
});

test("networks and machines are there by the names of ViNO's builder; a password never is", () => {
  const all = {
    ...NETWORK,
    physicalInterface: "eno1",
    dhcp: { start: "10.0.4.0", stop: "10.0.4.15" },
    dnsServers: ["10.0.0.1"],
  };
  const domain = {
    ...{
      name: "d-1",
      role: "worker",
      bootMAC: "02:00:00:00:00:01",
      vnc: { name: "secret-vnc" },
      bmc: { name: "secret-bmc" },
    },
    interfaces: [
      { name: "eth0", network: "oam", mac: "02:00:00:00:00:01", address: "10.0.1.1/16", mtu: 1500 },
      { name: "eth1", network: "oam", mac: "02:00:00:00:00:02" },
    ],
  };
  const bare = { name: "d-2", role: "worker", bmc: { name: "secret-bmc" }, interfaces: [] };
  assert.deepEqual(read(vinoNode("a", { networks: [all], domains: [domain, bare], cpuExclude: "0-1" })), {
    networks: [
      {
        ...{
          name: "oam",
          subnet: "10.0.1.0/16",
          bridgeName: "br0",
          physicalInterface: "eno1",
          dns_servers: ["10.0.0.1"],
        },
        ...{ bridgeIP: "10.0.1.0", bridgeMAC: "02:00:00:00:00:00", range: { start: "10.0.4.0", stop: "10.0.4.15" } },
      },
    ],
    configuration: { cpuExclude: "0-1" },
    domains: [
      {
        ...{ name: "d-1", role: "worker", bootMACAddress: "02:00:00:00:00:01", enableVNC: true },
        interfaces: [
          {
            ...{ name: "eth0", network: "oam", type: "network", macAddress: "02:00:00:00:00:01", mtu: 1500 },
            ...{ ipAddress: "10.0.1.1", netMask: "255.255.0.0" },
          },
          {
            ...{ name: "eth1", network: "oam", type: "network", macAddress: "02:00:00:00:00:02" },
            ...{ ipAddress: "", netMask: "" },
          },
        ],
      },
      { name: "d-2", role: "worker", enableVNC: false, interfaces: [] },
    ],
  });
  assert.deepEqual(read(vinoNode("a", { networks: [{ ...NETWORK, addresses: [] }] })).networks, [
    { name: "oam", subnet: "", bridgeName: "br0", bridgeIP: "", bridgeMAC: "02:00:00:00:00:00" },
  ]);
});

test("several Vinos of a node are in the order of their names, and those without networks are left out", () => {
  const [a, b] = ["a", "b"].map((name) => vinoNode(name, { networks: [{ ...NETWORK, name }], cpuExclude: name }));
  const none = vinoNode("0", { networks: [], cpuExclude: "7" });
  const found = read(b!, none, a!);
  assert.deepEqual(
    [found.networks!.map((one) => (one as { name: string }).name), found.configuration],
    [["a", "b"], { cpuExclude: "a" }],
  );
  assert.deepEqual(read(vinoNode("a", {}), b!).configuration, { cpuExclude: "b" });
  assert.deepEqual(read(vinoNode("a", {})).configuration, { cpuExclude: "" });
});

test("what is longer than an annotation may be is left out", () => {
  const long = (length: number) =>
    networkValues([vinoNode("a", { networks: [{ ...NETWORK, name: "x".repeat(length) }] })]);
  const rest = long(0)!.length - 2;
  assert.equal(long(128 * 1024 - rest)?.length, 128 * 1024);
  assert.equal(long(128 * 1024 - rest + 1), undefined);
});
