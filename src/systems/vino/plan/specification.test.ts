/** What of a Vino is taken at its limits, and what just beyond them is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCidr } from "@slipway/base";
import type { NodeSet, Vino, VinoNetwork } from "../../../kinds/vino/vino.ts";
import { ignoredFields, netmaskOf, readSpecification } from "./specification.ts";

const NET: VinoNetwork = {
  ...{ name: "oam", subnet: "10.0.0.0/16" },
  ...{ staticAllocationStart: "10.0.1.0", staticAllocationStop: "10.0.1.9" },
};
const DHCP = { dhcpAllocationStart: "10.0.4.0", dhcpAllocationStop: "10.0.4.255" };
const SET: NodeSet = { name: "worker", count: 1, networkInterfaces: [{ name: "eth0", network: "oam" }] };

const read = (spec: Vino["spec"]) => readSpecification({ spec } as Vino);
const network = (...nets: readonly Partial<VinoNetwork>[]) =>
  read({
    networks: nets.map((each, i) => ({ ...NET, ...(i > 0 && { name: `n${i}`, bridgeName: `b${i}` }), ...each })),
  });
const machine = (set: Partial<NodeSet>) => read({ networks: [NET], nodes: [{ ...SET, ...set }] }).machines[0]!;

const taken: [what: string, of: () => unknown, expected: unknown][] = [
  ["a bridge that is not named", () => network({}).networks[0]!.bridge, "vm-infra-bridge"],
  ["an empty name of a bridge", () => network({ bridgeName: "" }).networks[0]!.bridge, "vm-infra-bridge"],
  ["a bridge of 15 letters", () => network({ bridgeName: "b".repeat(15) }).networks[0]!.bridge, "b".repeat(15)],
  ["a name of 40 letters", () => network({ name: "n".repeat(40) }).networks[0]!.name, "n".repeat(40)],
  ["a range of one address", () => network({ staticAllocationStop: "10.0.1.0" }).networks[0]!.statics.stop, "10.0.1.0"],
  ["no DHCP", () => network({}).networks[0]!.dhcp, undefined],
  ["blocks of 16", () => network(DHCP).networks[0]!.dhcp?.bits, 4],
  ["blocks of one", () => network({ ...DHCP, instanceSubnetBitStep: 0 }).networks[0]!.dhcp?.bits, 0],
  ["blocks of 65536", () => network({ ...DHCP, instanceSubnetBitStep: 16 }).networks[0]!.dhcp?.bits, 16],
  [
    "DHCP that begins after the static addresses",
    () => network({ ...DHCP, dhcpAllocationStart: "10.0.1.10" }).networks[0]!.dhcp?.bounds.start,
    "10.0.1.10",
  ],
  ["a MAC prefix", () => network({ macPrefix: "02:AB:00:00:00:00" }).networks[0]!.macPrefix, "02:ab:00:00:00:00"],
  ["no MAC prefix", () => network({ macPrefix: "" }).networks[0]!.macPrefix, undefined],
  ["a device", () => network({ physicalInterface: "eno1.7" }).networks[0]!.physicalInterface, "eno1.7"],
  ["no device", () => network({ physicalInterface: "" }).networks[0]!.physicalInterface, undefined],
  ["two networks of one subnet with the same addresses", () => network({}, {}).networks.length, 2],
  [
    "two of one MAC prefix",
    () => network({ macPrefix: "02:00:00:00:00:00" }, { macPrefix: "02:00:00:00:00:00" }).networks.length,
    2,
  ],
  ["one of two with a MAC prefix", () => network({ macPrefix: "02:00:00:00:00:00" }, {}).networks.length, 2],
  ["a set without a count", () => read({ networks: [NET], nodes: [{ name: "w" }] }).machines, []],
  ["256 machines", () => read({ nodes: [{ name: "w", count: 256 }] }).machines.length, 256],
  [
    "an interface of 64 letters",
    () => machine({ networkInterfaces: [{ name: "e".repeat(64), network: "oam" }] }).id,
    "worker-0",
  ],
  [
    "the type network",
    () => machine({ networkInterfaces: [{ name: "e", network: "oam", type: "network" }] }).id,
    "worker-0",
  ],
  [
    "the smallest packet",
    () => machine({ networkInterfaces: [{ name: "e", network: "oam", mtu: 68 }] }).interfaces[0]!.mtu,
    68,
  ],
  [
    "the largest packet",
    () => machine({ networkInterfaces: [{ name: "e", network: "oam", mtu: 65_535 }] }).interfaces[0]!.mtu,
    65_535,
  ],
  [
    "no size of packets",
    () => machine({ networkInterfaces: [{ name: "e", network: "oam", mtu: 0 }] }).interfaces[0]!.mtu,
    undefined,
  ],
  ["the first interface to boot from", () => machine({}).bootInterface, "eth0"],
  ["no interface to boot from", () => machine({ networkInterfaces: [] }).bootInterface, undefined],
  [
    "disks that are not named",
    () => machine({ diskDrives: [{}, {}] }).disks.map(({ device }) => device),
    ["vda", "vdb"],
  ],
  ["no disks are one", () => machine({ diskDrives: [] }).disks, [{ device: "vda", sizeGiB: 10, sparse: true }]],
  ["a control plane's disk", () => machine({ name: "control-plane" }).disks[0]!.sizeGiB, 30],
  ["24 disks", () => machine({ diskDrives: Array.from({ length: 24 }, () => ({})) }).disks.length, 24],
  [
    "the smallest disk",
    () => machine({ diskDrives: [{ options: { sizeGb: 1, sparse: false } }] }).disks[0],
    { device: "vda", sizeGiB: 1, sparse: false },
  ],
  ["the largest disk", () => machine({ diskDrives: [{ options: { sizeGb: 65_536 } }] }).disks[0]!.sizeGiB, 65_536],
  ["excluded cores", () => read({ configuration: { cpuExclude: "0,2-3" } }).machines, []],
  ["a boot host", () => read({ pxeBootImageHost: "boot.example" }).bootUrl, "http://boot.example:80/dualboot.ipxe"],
  [
    "a boot host of IPv6",
    () => read({ pxeBootImageHost: "fd00::1", pxeBootImageHostPort: 8080 }).bootUrl,
    "http://[fd00::1]:8080/dualboot.ipxe",
  ],
  [
    "the first port",
    () => read({ pxeBootImageHost: "a", pxeBootImageHostPort: 1 }).bootUrl,
    "http://a:1/dualboot.ipxe",
  ],
  [
    "the last port",
    () => read({ pxeBootImageHost: "a", pxeBootImageHostPort: 65_535 }).bootUrl,
    "http://a:65535/dualboot.ipxe",
  ],
];
for (const [what, of, expected] of taken) test(`taken: ${what}`, () => assert.deepEqual(of(), expected));

const sizes = (sizeGb: number) => () => machine({ diskDrives: [{ options: { sizeGb } }] });
const mtu = (mtu: number) => () => machine({ networkInterfaces: [{ name: "e", network: "oam", mtu }] });
const refused: [what: string, of: () => unknown, message: RegExp][] = [
  ["a name of 41 letters", () => network({ name: "n".repeat(41) }), /spec\.networks\[0\]\.name: "n+" is no name/],
  ["no name", () => network({ name: "" }), /spec\.networks\[0\]\.name: "" is no name/],
  ["two networks of one name", () => network({}, { name: "oam" }), /spec\.networks\[1\]\.name: "oam" is there twice/],
  [
    "two of one bridge",
    () => network({ bridgeName: "b" }, { bridgeName: "b" }),
    /spec\.networks\[1\]\.bridgeName: "b" is there twice/,
  ],
  [
    "addresses that are none",
    () => network({ staticAllocationStart: "x" }),
    /staticAllocationStart: "x" is no address/,
  ],
  ["DHCP without an end", () => network({ dhcpAllocationStart: "10.0.4.0" }), /dhcpAllocationStop: "" is no address/],
  [
    "DHCP without a beginning",
    () => network({ dhcpAllocationStop: "10.0.4.0" }),
    /dhcpAllocationStart: "" is no address/,
  ],
  [
    "DHCP that ends where the static addresses begin",
    () => network({ dhcpAllocationStart: "10.0.0.1", dhcpAllocationStop: "10.0.1.0" }),
    /among the static ones/,
  ],
  ["blocks of less than one", () => network({ ...DHCP, instanceSubnetBitStep: -1 }), /-1 is not from 0 to 16/],
  ["blocks of too many", () => network({ ...DHCP, instanceSubnetBitStep: 17 }), /17 is not from 0 to 16/],
  [
    "a device that is none",
    () => network({ physicalInterface: "a b" }),
    /spec\.networks\[0\]\.physicalInterface: "a b" can't be/,
  ],
  [
    "a name server that is none",
    () => network({ dns_servers: ["10.0.0.1", "x"] }),
    /spec\.networks\[0\]\.dns_servers\[1\]: "x" is no address/,
  ],
  [
    "a subnet in another",
    () => network({}, { subnet: "10.0.0.0/17" }),
    /spec\.networks\[1\]\.subnet: it overlaps spec\.networks\[0\]\.subnet/,
  ],
  [
    "a subnet in two with common addresses",
    () => network({}, { staticAllocationStop: "10.0.1.5" }),
    /spec\.networks\[1\]: 10\.0\.1\.0-10\.0\.1\.5 and 10\.0\.1\.0-10\.0\.1\.9 of spec\.networks\[0\]/,
  ],
  ["two with the same blocks", () => network(DHCP, DHCP), /10\.0\.4\.0-10\.0\.4\.255 and 10\.0\.4\.0-10\.0\.4\.255/],
  [
    "two MAC prefixes of one subnet",
    () => network({ macPrefix: "02:00:00:00:00:00" }, { macPrefix: "06:00:00:00:00:00" }),
    /spec\.networks\[1\]\.macPrefix: spec\.networks\[0\] has another/,
  ],
  ["257 machines", () => read({ nodes: [{ name: "w", count: 257 }] }), /257 machines on each node are more than 256/],
  ["a set without a name", () => machine({ name: "" }), /spec\.nodes\[0\]\.name: "" is no name/],
  ["a set of 41 letters", () => machine({ name: "n".repeat(41) }), /spec\.nodes\[0\]\.name: "n+" is no name/],
  [
    "an interface without a name",
    () => machine({ networkInterfaces: [{ network: "oam" }] }),
    /networkInterfaces\[0\]\.name: it has no name/,
  ],
  [
    "an interface of 65 letters",
    () => machine({ networkInterfaces: [{ name: "e".repeat(65), network: "oam" }] }),
    /it has no name of at most 64/,
  ],
  [
    "two interfaces of one name",
    () =>
      machine({
        networkInterfaces: [
          { name: "e", network: "oam" },
          { name: "e", network: "oam" },
        ],
      }),
    /networkInterfaces\[1\]\.name: "e" is there twice/,
  ],
  ["packets that are too small", mtu(67), /67 is not from 68 to 65535/],
  ["packets that are too large", mtu(65_536), /65536 is not from 68 to 65535/],
  ["25 disks", () => machine({ diskDrives: Array.from({ length: 25 }, () => ({})) }), /25 disks are more than 24/],
  [
    "a disk that is none",
    () => machine({ diskDrives: [{ name: "/dev/vda" }] }),
    /diskDrives\[0\]\.name: "\/dev\/vda" can't be a disk/,
  ],
  [
    "two disks of one name",
    () => machine({ diskDrives: [{}, { name: "vda" }] }),
    /diskDrives\[1\]\.name: "vda" is there twice/,
  ],
  ["a disk of nothing", sizes(0), /diskDrives\[0\]\.options\.sizeGb: 0 is not from 1/],
  ["a disk that is too large", sizes(65_537), /65537 is not from 1 to 65536/],
  ["port 0", () => read({ pxeBootImageHost: "a", pxeBootImageHostPort: 0 }), /0 is no port/],
  ["port 65536", () => read({ pxeBootImageHost: "a", pxeBootImageHostPort: 65_536 }), /65536 is no port/],
];
for (const [what, of, message] of refused)
  test(`refused: ${what}`, () => assert.throws(of, (error: Error) => message.test(error.message)));

test("the netmask of a network of either family", () => {
  const masks = ["10.0.0.0/0", "10.0.0.0/20", "10.0.0.1/32", "fd00::/64"].map((text) => netmaskOf(parseCidr(text)));
  assert.deepEqual(masks, ["0.0.0.0", "255.255.240.0", "255.255.255.255", "ffff:ffff:ffff:ffff::"]);
});

test("what is there and has no effect is named; what is empty, or as it would be, is not", () => {
  const drive = { type: "raw", path: "" };
  const spec = {
    daemonSetOptions: { a: "", b: "x" },
    bmcCredentials: { username: "u" },
    networks: [{ ...NET, libvirtTemplate: "" }],
    nodes: [{ ...SET, libvirtTemplate: { name: "t" }, diskDrives: [drive] }],
  } as unknown as Vino["spec"];
  assert.deepEqual(ignoredFields({ spec } as Vino), [
    "spec.daemonSetOptions.b",
    "spec.nodes[0].libvirtTemplate",
    "spec.nodes[0].diskDrives[0].type",
  ]);
});
