import assert from "node:assert/strict";
import { test } from "node:test";
import { type InstallTarget, refusal } from "./harvester-rules.ts";
import { canonical, type HarvesterConfig } from "./harvester-schema.ts";
import { parse, versionIn } from "./harvester-versions.ts";
import { sampleHardware } from "./sample-hardware.ts";

const RELEASES = ["1.0.0", "1.0.3", "1.1.0", "1.1.2", "1.1.3", "1.2.0", "1.3.0", "1.7.0", "1.8.0", "1.9.0"] as const;
type Release = (typeof RELEASES)[number];

const target = (over: Partial<InstallTarget> = {}): InstallTarget => ({
  hardware: sampleHardware(),
  disks: { "/dev/sda": 480, "/dev/sdb": 480 },
  interfaceNames: ["enp65s0f0", "enp66s0f1"],
  warnings: [],
  ...over,
});

type Part = Record<string, unknown>;
type Draft = Part & { os: Part; install: Part };

const NETWORK = { interfaces: ["hwAddr:0c:42:a1:00:00:01"], method: "dhcp", default_route: true };

/** What every release installs: both places of the management network are filled. */
function good(): Draft {
  return {
    scheme_version: 1,
    server_url: "https://10.0.0.1:443",
    token: "join-me",
    os: { hostname: "pool-abcdefgh", password: "secret" },
    install: {
      automatic: true,
      mode: "join",
      device: "/dev/sda",
      iso_url: "https://releases.example/harvester.iso",
      management_interface: NETWORK,
      networks: { "harvester-mgmt": NETWORK },
    },
  };
}

const refusedBy = (change: (config: Draft) => void, on: InstallTarget = target()): Release[] => {
  const config = good();
  change(config);
  const read: HarvesterConfig = canonical(config);
  return RELEASES.filter((release) => {
    const said = refusal(read, on, parse(release));
    assert.ok(said === undefined || /\w+ .*\w/.test(said), `${release} says why: "${said}"`);
    return said !== undefined;
  });
};

const since = (first: Release): Release[] => RELEASES.slice(RELEASES.indexOf(first));
const ALL = [...RELEASES];
const NONE: Release[] = [];

const TABLE: readonly [rule: string, change: (config: Draft) => void, refused: Release[]][] = [
  ["a whole configuration", () => {}, NONE],
  ["no scheme_version", (c) => delete c.scheme_version, since("1.1.0")],
  ["scheme_version 2", (c) => (c.scheme_version = 2), since("1.1.0")],
  ["no server_url", (c) => delete c.server_url, ALL],
  ["server_url over http", (c) => (c.server_url = "http://10.0.0.1"), ALL],
  ["server_url without a port", (c) => (c.server_url = "https://10.0.0.1"), NONE],
  ["server_url with port 8443", (c) => (c.server_url = "https://10.0.0.1:8443"), since("1.1.3")],
  ["server_url with a path", (c) => (c.server_url = "https://10.0.0.1/v3"), since("1.1.3")],
  ["server_url with a slash", (c) => (c.server_url = "https://10.0.0.1/"), since("1.1.3")],
  ["no token", (c) => delete c.token, ALL],
  ["a token with a letter outside ASCII", (c) => (c.token = "jöin"), ALL],
  ["no iso_url", (c) => delete c.install.iso_url, ALL],
  ["neither password nor SSH key", (c) => delete c.os.password, ALL],
  ["an SSH key alone", (c) => (c.os = { hostname: "a", ssh_authorized_keys: ["ssh-ed25519 A"] }), NONE],
  ["a hostname in capitals", (c) => (c.os.hostname = "Pool"), ALL],
  ["a hostname with an underscore", (c) => (c.os.hostname = "po_ol"), ALL],
  ["no hostname", (c) => delete c.os.hostname, ALL],
  ["no device", (c) => delete c.install.device, ALL],
  ["a device that is not there", (c) => (c.install.device = "/dev/nvme0n1"), ALL],
  ["a data disk that is not there", (c) => (c.install.data_disk = "/dev/nvme0n1"), ALL],
  ["only the old key of the network", (c) => delete c.install.management_interface, since("1.1.0")],
  ["only the new key of the network", (c) => delete c.install.networks, ["1.0.0", "1.0.3"]],
  ["a role nobody knows", (c) => (c.install.role = "boss"), since("1.3.0")],
  ["the role worker", (c) => (c.install.role = "worker"), NONE],
  ["not automatic", (c) => delete c.install.automatic, ALL],
  [
    "a webhook of an event nobody knows",
    (c) => (c.install.webhooks = [{ event: "DONE", method: "POST", url: "https://a.example" }]),
    ALL,
  ],
  ["a webhook without a URL", (c) => (c.install.webhooks = [{ event: "STARTED", method: "POST" }]), ALL],
  [
    "a webhook of a method nobody knows",
    (c) => (c.install.webhooks = [{ event: "STARTED", method: "SEND", url: "https://a.example" }]),
    ALL,
  ],
];

for (const [rule, change, refused] of TABLE) {
  test(`${rule} is refused by ${refused.length === 0 ? "no release" : refused.length === ALL.length ? "every release" : refused.join(", ")}`, () => {
    assert.deepEqual(refusedBy(change), refused);
  });
}

const NETWORKS: readonly [rule: string, network: object, message: RegExp | undefined][] = [
  ["dhcp over a NIC named by its address", NETWORK, undefined],
  ["dhcp over a NIC named by its name", { ...NETWORK, interfaces: ["enp65s0f0"] }, undefined],
  ["dhcp over both NICs", { ...NETWORK, interfaces: ["hwAddr:0C:42:A1:00:00:01", "name:enp66s0f1"] }, undefined],
  ["no interface", { ...NETWORK, interfaces: [] }, /lists no interface/],
  [
    "a NIC that is not in the machine",
    { ...NETWORK, interfaces: ["hwAddr:0c:42:a1:00:00:99"] },
    /no interface has the address/,
  ],
  ["a NIC name that is not in the machine", { ...NETWORK, interfaces: ["eth7"] }, /eth7 does not exist/],
  ["a NIC without name or address", { ...NETWORK, interfaces: [{}] }, /neither a name nor an address/],
  ["no method", { interfaces: NETWORK.interfaces }, /neither dhcp nor static/],
  ["the method none", { ...NETWORK, method: "none" }, /neither dhcp nor static/],
  ["dhcp without a default route", { ...NETWORK, default_route: false }, /no default route/],
  [
    "static without name servers",
    { ...NETWORK, method: "static", ip: "10.0.0.2", subnet_mask: "255.255.255.0", gateway: "10.0.0.1" },
    /dns_nameservers/,
  ],
  ["VLAN 4095", { ...NETWORK, vlan_id: 4095 }, /VLAN 4095/],
];
for (const [rule, network, message] of NETWORKS) {
  test(`a management interface with ${rule} is ${message === undefined ? "accepted" : "refused"}`, () => {
    for (const release of RELEASES) {
      const config = good();
      config.install.management_interface = network;
      config.install.networks = { "harvester-mgmt": network };
      const said = refusal(canonical(config), target(), parse(release));
      if (message === undefined) assert.equal(said, undefined, release);
      else assert.match(said ?? "", message, release);
    }
  });
}

test("a static management interface needs address, mask and gateway, and an MTU in range", () => {
  const whole = { ...NETWORK, method: "static", ip: "10.0.0.2", subnet_mask: "255.255.255.0", gateway: "10.0.0.1" };
  const said = (network: object): string | undefined => {
    const config = good();
    config.os.dns_nameservers = ["10.0.0.53"];
    config.install.management_interface = network;
    return refusal(canonical(config), target(), parse("1.8.1"));
  };
  assert.equal(said(whole), undefined);
  for (const field of ["ip", "subnet_mask", "gateway"]) {
    assert.match(said({ ...whole, [field]: "10.0.0.256" }) ?? "", new RegExp(field));
    assert.match(said({ ...whole, [field]: undefined }) ?? "", new RegExp(field));
  }
  assert.match(said({ ...whole, mtu: 500 }) ?? "", /MTU 500/);
});

test("disks: 250 GiB alone, or 180 GiB beside 50 GiB of data, from 1.2 on; skipchecks ends that", () => {
  const said = (release: Release, sizes: { sda: number; sdb?: number }, install: object = {}): boolean => {
    const config = good();
    Object.assign(config.install, install, sizes.sdb === undefined ? {} : { data_disk: "/dev/sdb" });
    const disks = { "/dev/sda": sizes.sda, ...(sizes.sdb !== undefined && { "/dev/sdb": sizes.sdb }) };
    return refusal(canonical(config), target({ disks }), parse(release)) === undefined;
  };
  for (const release of since("1.2.0")) {
    assert.deepEqual([said(release, { sda: 249 }), said(release, { sda: 250 })], [false, true], release);
    assert.deepEqual([said(release, { sda: 179, sdb: 50 }), said(release, { sda: 180, sdb: 50 })], [false, true]);
    assert.equal(said(release, { sda: 180, sdb: 49 }), false);
    assert.equal(said(release, { sda: 100 }, { skipchecks: true }), true);
  }
  for (const release of ["1.0.0", "1.1.3"] as const) assert.equal(said(release, { sda: 100 }), true);
});

test("legacy BIOS is refused from 1.8 on, whatever skipchecks says", () => {
  const bios = target({ hardware: sampleHardware({ firmware: "bios" }) });
  assert.deepEqual(
    refusedBy(() => {}, bios),
    ["1.8.0", "1.9.0"],
  );
  assert.deepEqual(
    refusedBy((c) => (c.install.skipchecks = true), bios),
    ["1.8.0", "1.9.0"],
  );
});

test("preflight warnings stop an automatic install from 1.2 on, unless skipchecks is set", () => {
  const small = target({ warnings: ["8 cores, 16 are recommended"] });
  assert.deepEqual(
    refusedBy(() => {}, small),
    since("1.2.0"),
  );
  assert.deepEqual(
    refusedBy((c) => (c.install.skipchecks = true), small),
    NONE,
  );
});

test("no message of a refusal holds the token or the password", () => {
  for (const [, change] of TABLE) {
    const config = good();
    change(config);
    for (const release of RELEASES) {
      const said = refusal(canonical(config), target(), parse(release)) ?? "";
      for (const secret of ["join-me", "jöin", "secret"]) assert.ok(!said.includes(secret), said);
    }
  }
});

test("the release is read from an artefact's URL", () => {
  const table: [string, string | undefined][] = [
    ["https://releases.rancher.com/harvester/v1.8.1/harvester-v1.8.1-vmlinuz-amd64", "1.8.1"],
    ["http://boot.example/v1.0.0/harvester-v1.0.0-vmlinuz-amd64", "1.0.0"],
    ["live:https://x.example/harvester-v1.9.0-rc6-rootfs-amd64.squashfs", "1.9.0"],
    ["https://releases.rancher.com/harvester/master/harvester-master-vmlinuz-amd64", "1.9.0"],
    ["https://x.example/debian/vmlinuz", undefined],
  ];
  for (const [url, version] of table) assert.equal(versionIn(url)?.join("."), version, url);
});

test("what is refused is named in one sentence, with what was found", () => {
  const said = (change: (draft: Draft) => void, over: Partial<InstallTarget> = {}, release = "1.8.0"): string => {
    const draft = good();
    change(draft);
    return refusal(canonical(draft), target(over), parse(release)) ?? "it installs";
  };
  const install = (part: Part, over?: Partial<InstallTarget>) =>
    said((draft) => Object.assign(draft.install, part), over);
  const small = (gib: number, more = 480): Partial<InstallTarget> => ({ disks: { "/dev/sda": gib, "/dev/sdb": more } });
  for (const [found, wanted] of [
    [said((draft) => delete draft.scheme_version), "scheme_version must be 1, not absent"],
    [said((draft) => Object.assign(draft, { scheme_version: 2 })), "scheme_version must be 1, not 2"],
    [said((draft) => delete draft.server_url), "server_url is missing: a joining machine needs it"],
    [said((draft) => Object.assign(draft, { server_url: "http://a" })), "server_url is not an https URL"],
    [
      said((draft) => Object.assign(draft, { server_url: "https://a:8443" })),
      "server_url has port 8443: only 443 or none is accepted",
    ],
    ...["https://a/", "https://a/x", "https://a?x=1"].map(
      (url) => [said((draft) => Object.assign(draft, { server_url: url })), "server_url must not have a path"] as const,
    ),
    [said((draft) => Object.assign(draft, { server_url: "https://a" })), "it installs"],
    [install({ mode: "create" }), "install.mode create is not simulated: machines here join a cluster"],
    [install({ mode: undefined }), 'install.mode "" is unknown'],
    [install({ automatic: false }), "install.automatic is not set: the installer waits for a person"],
    [install({ webhooks: [{}] }), 'install.webhooks[0]: unknown event ""'],
    [install({ webhooks: [{ event: "STARTED" }] }), 'install.webhooks[0]: unknown method ""'],
    ...["GET", "head", "POST", "PUT", "PATCH", "DELETE"].map(
      (method) =>
        [install({ webhooks: [{ event: "FAILED", method }] }), "install.webhooks[0]: url is not an URL"] as const,
    ),
    [install({ webhooks: [{ event: "SUCCEEDED", method: "GET", url: "http://{{.Hostname}}/" }] }), "it installs"],
    [install({ device: "" }), "install.device is missing"],
    [install({ device: "/dev/x" }), "install.device /dev/x does not exist on pool-abcdefgh"],
    [install({ data_disk: "/dev/x" }), "install.data_disk /dev/x does not exist on pool-abcdefgh"],
    [install({ force_mbr: true }), "install.force_mbr does not go with UEFI"],
    [install({}, small(249)), "install.device /dev/sda has 249 GiB, at least 250 GiB are needed"],
    [install({}, small(250)), "it installs"],
    [install({ skipchecks: true }, small(1)), "it installs"],
    ...[{ role: "witness" }, { data_disk: "/dev/sdb" }].flatMap((part) => [
      [install(part, small(179)), "install.device /dev/sda has 179 GiB, at least 180 GiB are needed"] as const,
      [install(part, small(180)), "it installs"] as const,
    ]),
    [
      install({ data_disk: "/dev/sdb" }, small(480, 49)),
      "install.data_disk /dev/sdb has 49 GiB, at least 50 GiB are needed",
    ],
    [install({ data_disk: "/dev/sdb" }, small(480, 50)), "it installs"],
    [
      install({ data_disk: "/dev/sda" }, small(249)),
      "install.device /dev/sda has 249 GiB, at least 250 GiB are needed",
    ],
    [install({}, { warnings: ["a", "b"] }), "preflight: a; b (install.skipchecks is not set)"],
    [install({ skipchecks: true }, { warnings: ["a"] }), "it installs"],
    [install({ role: "other" }), "install.role other is unknown"],
    [install({ management_interface: { ...NETWORK, vlan_id: 4095 } }), "VLAN 4095 is out of range"],
    [install({ management_interface: { ...NETWORK, vlan_id: 4094 } }), "it installs"],
  ] as const)
    assert.equal(found, wanted);
});
