import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { load } from "js-yaml";
import { harvesterConfig } from "./config.ts";
import type { HarvesterJoin } from "./join.ts";

const iso = (version: string): string =>
  `https://releases.rancher.com/harvester/${version}/harvester-${version}-amd64.iso`;

const join: HarvesterJoin = {
  isoUrl: iso("v1.8.1"),
  serverUrl: "https://10.0.0.10",
  token: "s3cret: #token",
  hostname: "pool-abcdefgh",
  password: "$6$salt$hash",
  sshAuthorizedKeys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA me@desk"],
  dnsNameservers: ["1.1.1.1"],
  ntpServers: ["0.suse.pool.ntp.org"],
  labels: { "example.org/rack": "r1", zone: "1" },
  role: "worker",
  device: "/dev/sda",
  dataDisk: "/dev/sdb",
  wipeAllDisks: true,
  tty: "ttyS1,115200n8",
  management: {
    interfaces: [{ hwAddr: "52:54:00:12:34:56" }],
    method: "dhcp",
    bondOptions: { mode: "balance-tlb", miimon: "100" },
    mtu: 1500,
    vlanId: 7,
  },
  skipChecks: true,
  webhooks: [{ event: "SUCCEEDED", url: "https://boot.example.test/boot/u/c/events/succeeded" }],
};

test("golden: a join of 1.8 with everything set", () => {
  assert.equal(
    harvesterConfig(join, "bootScript"),
    `#cloud-config
scheme_version: 1
server_url: https://10.0.0.10:443
token: 's3cret: #token'
os:
  hostname: pool-abcdefgh
  password: $6$salt$hash
  ssh_authorized_keys:
    - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA me@desk
  dns_nameservers:
    - 1.1.1.1
  ntp_servers:
    - 0.suse.pool.ntp.org
  labels:
    example.org/rack: r1
    zone: '1'
install:
  automatic: true
  mode: join
  role: worker
  management_interface:
    method: dhcp
    default_route: true
    bond_options:
      mode: balance-tlb
      miimon: '100'
    mtu: 1500
    vlan_id: 7
  device: /dev/sda
  data_disk: /dev/sdb
  wipe_all_disks: true
  iso_url: https://releases.rancher.com/harvester/v1.8.1/harvester-v1.8.1-amd64.iso
  tty: ttyS1,115200n8
  skipchecks: true
  webhooks:
    - event: SUCCEEDED
      method: POST
      url: https://boot.example.test/boot/u/c/events/succeeded
`,
  );
});

test("golden: a join of 1.0 has no scheme and describes harvester-mgmt", () => {
  const { mtu: _mtu, vlanId: _vlanId, ...management } = join.management;
  const { isoUrl: _iso, labels: _labels, webhooks: _hooks, dataDisk: _disk, ...rest } = join;
  assert.equal(
    harvesterConfig({ ...rest, isoUrl: iso("v1.0.0"), management }, "config"),
    `#cloud-config
server_url: https://10.0.0.10:443
token: 's3cret: #token'
os:
  hostname: pool-abcdefgh
  password: $6$salt$hash
  ssh_authorized_keys:
    - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA me@desk
  dns_nameservers:
    - 1.1.1.1
  ntp_servers:
    - 0.suse.pool.ntp.org
install:
  automatic: true
  mode: join
  networks:
    harvester-mgmt:
      interfaces:
        - hwAddr: 52:54:00:12:34:56
      method: dhcp
      default_route: true
      bond_options:
        mode: balance-tlb
        miimon: '100'
  device: /dev/sda
  wipe_all_disks: true
  iso_url: https://releases.rancher.com/harvester/v1.0.0/harvester-v1.0.0-amd64.iso
  tty: ttyS1,115200n8
`.replace("hwAddr: 52:54:00:12:34:56", "hwAddr: '52:54:00:12:34:56'"),
  );
});

test("a release is given only what it knows", () => {
  const installOf = (version: string): Record<string, unknown> =>
    (load(harvesterConfig({ ...join, cordoned: true, isoUrl: iso(version) }, "config")) as Record<string, never>)
      .install!;
  const knows = (version: string): string[] =>
    ["management_interface", "networks", "skipchecks", "role", "cordoned"].filter((key) => key in installOf(version));

  assert.deepEqual(knows("v1.0.3"), ["networks"]);
  assert.deepEqual(knows("v1.1.2"), ["management_interface"]);
  assert.deepEqual(knows("v1.2.0"), ["management_interface", "skipchecks"]);
  assert.deepEqual(knows("v1.3.0-rc1"), ["management_interface", "skipchecks", "role"]);
  assert.deepEqual(knows("v1.9.0"), ["management_interface", "skipchecks", "role", "cordoned"]);
  assert.deepEqual(knows("master"), ["management_interface", "skipchecks", "role", "cordoned"]);
});

test("whatever the token, password and labels, a YAML reader gets them back", () => {
  const token = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)),
    minLength: 1,
  });
  const password = fc.string({ minLength: 1 }).filter((p) => !/[\r\n\0]/.test(p));
  const value = fc.stringMatching(/^[A-Za-z0-9]{0,12}$/);
  fc.assert(
    fc.property(
      token,
      password,
      fc.dictionary(fc.stringMatching(/^[a-z0-9]{1,9}$/), value),
      (token, password, labels) => {
        const text = harvesterConfig({ ...join, token, password, labels }, "config");
        const read = load(text) as { token: string; os: { password: string; labels?: Record<string, string> } };
        assert.equal(read.token, token);
        assert.equal(read.os.password, password);
        assert.deepEqual({ ...read.os.labels }, { ...labels });
      },
    ),
  );
});

test("a join that the installer would refuse is not written, and neither token nor password is reported", () => {
  const bad = { ...join, hostname: "Bad_Name", serverUrl: "https://10.0.0.10:8443/v1", token: "s3cr\u00e9t-token" };
  assert.throws(
    () => harvesterConfig(bad, "config"),
    (error) => {
      assert.ok(isFault(error, "Invalid"));
      assert.match(
        error.message,
        /hostname: .*serverUrl: port 8443 is not 443; serverUrl: must be a host alone.*token:/,
      );
      assert.doesNotMatch(error.advice + JSON.stringify(error.details), /s3cr|\$6\$/);
      return true;
    },
  );
});
