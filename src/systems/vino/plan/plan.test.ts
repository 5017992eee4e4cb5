import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { load, loadAll } from "js-yaml";
import type { Vino } from "../../../kinds/vino/vino.ts";
import type { VinoNode } from "../../../kinds/vino/vino-node.ts";
import { settle } from "../addresses/book.ts";
import { ownerOf } from "../names.ts";
import { networkData } from "./network-data.ts";
import { interfacesOf, nodeSpec } from "./node-spec.ts";
import { ignoredFields, readSpecification } from "./specification.ts";

/** The shape of ViNO's sample, in the project's own words. */
const spec = (): Vino["spec"] => ({
  nodeSelector: { matchLabels: { "kubernetes.io/os": "linux" } },
  configuration: { cpuExclude: "0-1" },
  networks: [
    {
      name: "management",
      subnet: "192.168.2.0/20",
      dhcpAllocationStart: "192.168.4.0",
      dhcpAllocationStop: "192.168.7.255",
      staticAllocationStart: "192.168.2.10",
      staticAllocationStop: "192.168.2.24",
      type: "bridge",
      routes: [{ network: "10.0.0.0", netmask: "255.255.255.0", gateway: "$vinobridge" }],
      dns_servers: ["10.1.1.1", "10.1.1.2"],
      macPrefix: "52:54:00:06:00:00",
      bridgeName: "vm-infra",
    },
  ],
  nodes: [
    {
      name: "master",
      count: 1,
      networkInterfaces: [{ name: "eth0", network: "management", mtu: 1500 }],
      enableVNC: true,
    },
    { name: "worker", count: 2, networkInterfaces: [{ name: "eth0", network: "management" }] },
  ],
  bmcCredentials: { username: "admin", password: "passw0rd" },
});
const vinoOf = (change: (spec: Vino["spec"]) => void = () => {}, name = "test"): Vino => {
  const own = spec();
  change(own);
  const metadata = { namespace: "default", name, uid: `uid-${name}` } as Vino["metadata"];
  return { apiVersion: "airship.airshipit.org/v1", kind: "Vino", metadata, spec: own };
};
const nodeOf = (vino: Vino, name: string): VinoNode =>
  ({
    metadata: { namespace: "default", name: `${vino.metadata.name}-${name}`, uid: `uid-${name}` },
    spec: { nodeName: name, storagePool: { name: "p", path: "/p" }, networks: [], domains: [] },
  }) as unknown as VinoNode;

interface Before {
  /** What the node's specification says so far. */
  before?: VinoNode["spec"];
  /** Hosts that are still there. */
  hosts?: readonly string[];
}

/** The nodes as they are planned one after another, each on what those before it left of the pools. */
function planned(vino: Vino, names: readonly string[], { before, hosts = [] }: Before = {}) {
  const specification = readSpecification(vino);
  let book: ReturnType<typeof settle>["book"] = new Map();
  const nodes = names.map((name) => {
    const interfaces = interfacesOf(vino, name, specification.machines);
    const settled = settle(book, {
      owner: ownerOf(vino.metadata, name),
      networks: specification.networks,
      interfaces,
      keeps: () => false,
      isTold: () => true,
    });
    book = settled.book;
    const node = { ...nodeOf(vino, name), ...(before !== undefined && { spec: before }) };
    return nodeSpec({ vino, node, specification, given: settled.given, hosts: new Set(hosts) });
  });
  return { specification, nodes, book };
}

test("a node has its bridge, its block for DHCP, and machines with addresses and names of their own", () => {
  const { nodes } = planned(vinoOf(), ["leviathan", "kraken"]);

  assert.deepEqual(
    nodes.map(({ networks: [network] }) => [network!.addresses, network!.mac, network!.dhcp]),
    [
      [["192.168.2.10/20"], "52:54:00:06:00:00", { start: "192.168.4.0", stop: "192.168.4.15" }],
      [["192.168.2.14/20"], "52:54:00:06:00:04", { start: "192.168.4.16", stop: "192.168.4.31" }],
    ],
  );
  const [master, worker] = nodes[0]!.domains;
  assert.deepEqual(
    [master!.host, master!.vcpus, master!.memoryMiB, master!.disks[0]!.sizeGiB],
    ["default-test-leviathan-master-0", 1, 4096, 30],
  );
  assert.deepEqual([worker!.memoryMiB, worker!.disks[0]!.sizeGiB, worker!.vnc], [2048, 10, undefined]);
  assert.deepEqual(master!.vnc, { name: "default-test-leviathan-master-0-vnc" });
  const macs = nodes.flatMap(({ domains }) => domains.map(({ bootMAC }) => bootMAC));
  assert.equal(new Set(macs).size, 6);
});

test("VINO-6 a node that is planned again is as it was; a network that is taken out stays as long as a machine has a card in it", () => {
  const withPxe = (more: (spec: Vino["spec"]) => void = () => {}) =>
    vinoOf((spec) => {
      spec.networks!.push({
        ...{ name: "pxe", subnet: "10.9.0.0/24", type: "bridge", bridgeName: "vm-pxe", macPrefix: "52:54:00:07:00:00" },
        ...{ staticAllocationStart: "10.9.0.10", staticAllocationStop: "10.9.0.99" },
        ...{ dhcpAllocationStart: "10.9.0.128", dhcpAllocationStop: "10.9.0.191" },
      });
      spec.nodes![1]!.networkInterfaces!.push({ name: "eth1", network: "pxe" });
      more(spec);
    });
  const networks = (vino: Vino, before: Before) =>
    planned(vino, ["kraken"], before).nodes[0]!.networks.map(({ name }) => name);
  const [first] = planned(withPxe(), ["kraken"]).nodes;
  assert.deepEqual(networks(withPxe(), {}), ["management", "pxe"]);
  assert.deepEqual(planned(withPxe(), ["kraken"], { before: first! }).nodes, [first]);
  assert.deepEqual(networks(vinoOf(), { before: first! }), ["management"]);
  const withoutWorkers = vinoOf((spec) => void spec.nodes!.pop());
  const hosts = first!.domains.map(({ host }) => host);
  assert.deepEqual(networks(withoutWorkers, { before: first!, hosts }), ["management", "pxe"], "workers are leaving");
  assert.deepEqual(networks(withoutWorkers, { before: first! }), ["management"]);
});

test("VINO-8 domains of two Vinos on one node, and of one Vino on two nodes, never share a name, a UUID or a volume", () => {
  const all = [...planned(vinoOf(), ["a", "b"]).nodes, ...planned(vinoOf(undefined, "other"), ["a"]).nodes].flatMap(
    ({ domains }) => domains,
  );

  for (const of of [
    (d: (typeof all)[0]) => d.name,
    (d: (typeof all)[0]) => d.uuid,
    (d: (typeof all)[0]) => d.disks[0]!.volume,
  ])
    assert.equal(new Set(all.map(of)).size, 9);
  for (const { uuid } of all)
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("VINO-2 $vinobridge is the bridge of each node itself, in the template and without one", () => {
  const { specification, nodes } = planned(vinoOf(), ["a", "b"]);
  const gateways = nodes.map(({ domains, networks }) => {
    const of = {
      machine: specification.machines[0]!,
      domain: domains[0]!,
      networks: specification.networks,
      onNode: networks,
    };
    const own = JSON.parse(networkData(of, undefined, "t")).networks[0].routes[0].gateway;
    const template = "networks: {{ range .Networks }}[{{ range .Routes }}{{ .Gateway }}{{ end }}]{{ end }}";
    const rendered = (load(networkData(of, template, "t")) as { networks: string[] }).networks[0];
    return [own, rendered];
  });

  assert.deepEqual(gateways, [
    ["192.168.2.10", "192.168.2.10"],
    ["192.168.2.14", "192.168.2.14"],
  ]);
});

test("VINO-13 names fit, however long those are that they are made of", () => {
  const vino = vinoOf(undefined, "v".repeat(200));
  const { nodes } = planned(vino, ["n".repeat(240), `${"n".repeat(240)}x`]);
  const domains = nodes.flatMap((each) => each.domains);

  for (const { name, host } of domains) assert.ok(name.length <= 63 && host.length <= 63);
  assert.equal(new Set(domains.map(({ host }) => host)).size, 6);
});

test("VINO-5 IPv6 works end to end: bridge, block, machines and netmask", () => {
  const vino = vinoOf((own) => {
    Object.assign(own.networks![0]!, {
      ...{ subnet: "fd00:1::/64", staticAllocationStart: "fd00:1::10", staticAllocationStop: "fd00:1::20" },
      ...{ dhcpAllocationStart: "fd00:1::1:0", dhcpAllocationStop: "fd00:1::1:ff", dns_servers: ["fd00:1::1"] },
    });
  });
  const { nodes, specification } = planned(vino, ["a"]);

  assert.deepEqual(nodes[0]!.networks[0]!.addresses, ["fd00:1::10/64"]);
  assert.deepEqual(nodes[0]!.networks[0]!.dhcp, { start: "fd00:1::1:0", stop: "fd00:1::1:f" });
  const of = {
    machine: specification.machines[0]!,
    domain: nodes[0]!.domains[0]!,
    networks: specification.networks,
    onNode: nodes[0]!.networks,
  };
  const [network] = JSON.parse(networkData(of, undefined, "t")).networks;
  assert.deepEqual(
    [network.type, network.ip_address, network.netmask],
    ["ipv6", "fd00:1::11", "ffff:ffff:ffff:ffff::"],
  );
});

const refused: [what: string, change: (spec: Vino["spec"]) => void, message: RegExp][] = [
  [
    "a subnet that is none",
    (own) => Object.assign(own.networks![0]!, { subnet: "x" }),
    /spec\.networks\[0\]\.subnet: "x" is no network/,
  ],
  [
    "VINO-11 a range out of the subnet",
    (own) => Object.assign(own.networks![0]!, { staticAllocationStop: "10.0.0.1" }),
    /staticAllocationStop: 10\.0\.0\.1 is not in the subnet/,
  ],
  [
    "a range that ends before it begins",
    (own) => Object.assign(own.networks![0]!, { staticAllocationStop: "192.168.2.1" }),
    /is before/,
  ],
  [
    "VINO-11 addresses of DHCP among the static ones",
    (own) => Object.assign(own.networks![0]!, { dhcpAllocationStart: "192.168.2.20" }),
    /among the static ones/,
  ],
  [
    "VINO-13 a MAC prefix that is none",
    (own) => Object.assign(own.networks![0]!, { macPrefix: "52:54" }),
    /macPrefix: "52:54" is no MAC address/,
  ],
  [
    "a MAC prefix of groups",
    (own) => Object.assign(own.networks![0]!, { macPrefix: "01:00:00:00:00:00" }),
    /is no MAC address of a machine/,
  ],
  [
    "a bridge of 16 letters",
    (own) => Object.assign(own.networks![0]!, { bridgeName: "b".repeat(16) }),
    /can't be a bridge/,
  ],
  [
    "a network that is not there",
    (own) => Object.assign(own.nodes![0]!.networkInterfaces![0]!, { network: "x" }),
    /there is no network "x"/,
  ],
  [
    "VINO-10 an interface of another type",
    (own) => Object.assign(own.nodes![0]!.networkInterfaces![0]!, { type: "direct" }),
    /"direct" is not served/,
  ],
  [
    "an interface to boot from that is not there",
    (own) => Object.assign(own.nodes![0]!, { bootInterfaceName: "x" }),
    /there is no interface "x"/,
  ],
  [
    "two sets of one name",
    (own) => Object.assign(own.nodes![1]!, { name: "master" }),
    /spec\.nodes\[1\]\.name: "master" is there twice/,
  ],
  ["a count below none", (own) => Object.assign(own.nodes![0]!, { count: -1 }), /-1 is less than none/],
  ["a thousand machines a node", (own) => Object.assign(own.nodes![0]!, { count: 1000 }), /are more than 256/],
  [
    "cores that are no list",
    (own) => Object.assign(own.configuration!, { cpuExclude: "0-1;rm" }),
    /is no list of cores/,
  ],
  ["a boot host that is none", (own) => Object.assign(own, { pxeBootImageHost: "a b" }), /no name or address/],
];
for (const [what, change, message] of refused)
  test(`refused with its path: ${what}`, () => {
    assert.throws(
      () => readSpecification(vinoOf(change)),
      (error) => isFault(error, "Invalid") && message.test(error.message),
    );
  });

test("VINO-17 a Vino without nodeSelector, cpuExclude, networks or machines is read", () => {
  const vino = vinoOf((own) => {
    for (const field of Object.keys(own)) delete (own as Record<string, unknown>)[field];
  });
  assert.deepEqual(readSpecification(vino), { networks: [], machines: [], bootUrl: undefined });
});

test("VINO-10 fields without an effect are named", () => {
  const vino = vinoOf((own) => {
    own.daemonSetOptions = { sushyImage: "x" };
    own.networks![0]!.libvirtTemplate = "management";
    own.nodes![0]!.diskDrives = [{ type: "qcow2", path: "/x", options: { sizeGb: 5 } }];
  });
  assert.deepEqual(ignoredFields(vino), [
    "spec.daemonSetOptions.sushyImage",
    "spec.bmcCredentials.password",
    "spec.networks[0].libvirtTemplate",
    "spec.nodes[0].diskDrives[0].path",
  ]);
  assert.equal(planned(vino, ["a"]).nodes[0]!.domains[0]!.disks[0]!.sizeGiB, 5);
});

const SAMPLES = `${process.env.SLIPWAY_REFERENCE ?? "../shared/reference"}/data/examples/vino`;
const files = existsSync(SAMPLES) ? ["vino_cr.yaml", "vino_cr_4_workers_1_cp.yaml"] : [];
test("ViNO's own samples and their template give machines with network data", {
  skip: files.length === 0 && `${SAMPLES} is absent`,
}, () => {
  const templates = ["network-template-secret.yaml", "ippool.yaml", ...files];
  assert.ok(templates.length > 0);
  for (const file of files) {
    const sample = loadAll(readFileSync(`${SAMPLES}/${file}`, "utf8")).find(
      (one) => (one as Vino)?.kind === "Vino",
    ) as Vino;
    sample.metadata = { ...sample.metadata, namespace: "default", uid: "uid" };
    const { nodes, specification } = planned(sample, ["minikube"]);
    assert.deepEqual(nodes[0]!.domains.length, file.includes("4_workers") ? 5 : 1);
    const of = {
      machine: specification.machines[0]!,
      domain: nodes[0]!.domains[0]!,
      networks: specification.networks,
      onNode: nodes[0]!.networks,
    };
    assert.equal(JSON.parse(networkData(of, undefined, "t")).links[0].ethernet_mac_address, "52:54:00:06:00:01");
  }
});
