import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeSet, Vino, VinoNetwork } from "../../../kinds/vino/vino.ts";
import type { Domain, VinoNodeSpec } from "../../../kinds/vino/vino-node.ts";
import { networkData, routesOf } from "./network-data.ts";
import { readSpecification } from "./specification.ts";

const NET: VinoNetwork = {
  ...{ name: "oam", subnet: "10.0.0.0/16", type: "bridge", macPrefix: "02:00:00:00:00:00" },
  ...{ staticAllocationStart: "10.0.1.0", staticAllocationStop: "10.0.1.9" },
  ...{
    dhcpAllocationStart: "10.0.4.0",
    dhcpAllocationStop: "10.0.4.255",
    bridgeName: "br0",
    physicalInterface: "eno1",
  },
  dns_servers: ["10.0.0.1"],
  routes: [
    { network: "10.9.0.0", gateway: "$vinobridge" },
    { network: "10.8.0.0", netmask: "255.0.0.0", gateway: "10.0.0.2" },
  ],
};
const BARE: VinoNetwork = {
  ...{ name: "pxe", subnet: "10.1.0.0/16", bridgeName: "br1" },
  ...{ staticAllocationStart: "10.1.1.0", staticAllocationStop: "10.1.1.9" },
};
const SET: NodeSet = {
  ...{ name: "worker", count: 1, enableVNC: true, rootDeviceName: "/dev/vdb", bmhLabels: { a: "b" } },
  networkInterfaces: [
    { name: "eth0", network: "oam", mtu: 1500, options: { driver: "virtio" } },
    { name: "eth1", network: "pxe" },
  ],
};
const DOMAIN = {
  ...{ name: "d", host: "h", role: "worker" },
  interfaces: [
    { name: "eth0", network: "oam", mac: "02:00:00:00:00:01", address: "10.0.1.1/16" },
    { name: "eth1", network: "pxe", mac: "02:00:01:00:00:01", address: "10.1.1.1/16" },
  ],
} as unknown as Domain;
const ON_NODE = [
  { name: "oam", mac: "02:00:00:00:00:00", addresses: ["10.0.1.0/16"] },
] as unknown as VinoNodeSpec["networks"];

function of(nets: VinoNetwork[] = [NET, BARE], domain: Domain = DOMAIN, set: NodeSet = SET) {
  const { machines, networks } = readSpecification({ spec: { networks: nets, nodes: [set] } } as Vino);
  return { machine: machines[0]!, domain, networks, onNode: ON_NODE };
}

test("without a template each interface is a link, and a network with its own name servers and routes", () => {
  assert.deepEqual(JSON.parse(networkData(of(), undefined, "t")), {
    links: [
      {
        ...{ id: "eth0", name: "eth0", type: "phy", mtu: 1500 },
        ...{ ethernet_mac_address: "02:00:00:00:00:01", driver: "virtio" },
      },
      { id: "eth1", name: "eth1", type: "phy", ethernet_mac_address: "02:00:01:00:00:01" },
    ],
    networks: [
      {
        ...{ id: "oam", type: "ipv4", link: "eth0", ip_address: "10.0.1.1", netmask: "255.255.0.0" },
        dns_nameservers: ["10.0.0.1"],
        routes: [
          { network: "10.9.0.0", gateway: "10.0.1.0" },
          { network: "10.8.0.0", gateway: "10.0.0.2", netmask: "255.0.0.0" },
        ],
      },
      { id: "pxe", type: "ipv4", link: "eth1", ip_address: "10.1.1.1", netmask: "255.255.0.0" },
    ],
  });
});

test("an interface that the machine has not got has no network; one without an address counts as IPv4", () => {
  const [first] = DOMAIN.interfaces;
  const alone = { ...DOMAIN, interfaces: [{ ...first!, address: undefined }] } as unknown as Domain;
  const { networks } = JSON.parse(networkData(of(undefined, alone), undefined, "t"));
  assert.deepEqual(
    networks.map((each: Record<string, string>) => [each.id, each.type, each.ip_address]),
    [["oam", "ipv4", ""]],
  );
});

test("a template sees everything by the names of ViNO's types", () => {
  const seen = (path: string, from = of()) => JSON.parse(networkData(from, `{"x": {{ toJson ${path} }}}`, "t")).x;
  const [oam, pxe] = seen(".Networks");
  assert.deepEqual(oam, {
    ...{ Name: "oam", SubNet: "10.0.0.0/16", Type: "bridge", DNSServers: ["10.0.0.1"] },
    Routes: [
      { Network: "10.9.0.0", Netmask: "", Gateway: "10.0.1.0" },
      { Network: "10.8.0.0", Netmask: "255.0.0.0", Gateway: "10.0.0.2" },
    ],
    ...{ MACPrefix: "02:00:00:00:00:00", PhysicalInterface: "eno1", BridgeName: "br0" },
    ...{ StaticAllocationStart: "10.0.1.0", StaticAllocationStop: "10.0.1.9" },
    ...{ DHCPAllocationStart: "10.0.4.0", DHCPAllocationStop: "10.0.4.255" },
    ...{ BridgeIP: "10.0.1.0", BridgeMAC: "02:00:00:00:00:00" },
  });
  assert.deepEqual(pxe, {
    ...{ Name: "pxe", SubNet: "10.1.0.0/16", Type: "", DNSServers: [], Routes: [] },
    ...{ MACPrefix: "", PhysicalInterface: "", BridgeName: "br1" },
    ...{ StaticAllocationStart: "10.1.1.0", StaticAllocationStop: "10.1.1.9" },
    ...{ DHCPAllocationStart: "", DHCPAllocationStop: "", BridgeIP: "", BridgeMAC: "" },
  });
  const eth0 = { Name: "eth0", Type: "network", NetworkName: "oam", MTU: 1500, Options: { driver: "virtio" } };
  const eth1 = { Name: "eth1", Type: "network", NetworkName: "pxe", MTU: 0, Options: {} };
  const node = seen(".Node");
  assert.deepEqual(node, {
    ...{ Name: "worker", Count: 1, BMHLabels: { a: "b" }, BootInterfaceName: "eth0" },
    ...{ RootDeviceName: "/dev/vdb", EnableVNC: true, NetworkInterfaces: [eth0, eth1] },
  });
  assert.deepEqual(seen(".BuilderDomain.Interfaces"), [
    { ...eth0, IPAddress: "10.0.1.1", NetMask: "255.255.0.0", MACAddress: "02:00:00:00:00:01" },
    { ...eth1, IPAddress: "10.1.1.1", NetMask: "255.255.0.0", MACAddress: "02:00:01:00:00:01" },
  ]);
  const none = { ...DOMAIN, interfaces: [] } as unknown as Domain;
  assert.deepEqual(seen("(index .BuilderDomain.Interfaces 1)", of(undefined, none)), {
    ...eth1,
    ...{ IPAddress: "", NetMask: "", MACAddress: "" },
  });
  const plain = seen(".Node", of(undefined, none, { name: "w", count: 1 }));
  assert.deepEqual(
    [plain.BMHLabels, plain.BootInterfaceName, plain.RootDeviceName, plain.EnableVNC, plain.NetworkInterfaces],
    [{}, "", "", false, []],
  );
});

test("a template that gives no map is refused by its name", () => {
  for (const template of ["a", "[1]", "null", ""])
    assert.throws(() => networkData(of(), template, "Secret a/b"), /Secret a\/b: it gives no map/, template);
  assert.throws(() => networkData(of(), "a: [", "Secret a/b"), { code: "Invalid" });
});

test("a route that says nothing is empty; a bridge that the node has not got has no address", () => {
  const [network] = of([{ ...NET, routes: [{}, { gateway: "$vinobridge" }] }, BARE]).networks;
  const empty = { network: "", netmask: "", gateway: "" };
  assert.deepEqual(routesOf(network!, []), [empty, empty]);
});
