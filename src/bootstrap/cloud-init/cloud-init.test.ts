import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { load } from "js-yaml";
import {
  attacked,
  CHANGES,
  FULL,
  ISOLATED,
  ONE_EACH,
  ONE_EACH_SHOWS,
  reported,
  SMALL,
  settingsOf,
} from "../installation/testing.ts";
import { configDrive, settingsDrive } from "./config-drive.ts";
import { noCloud } from "./no-cloud.ts";

const APT = { instanceId: "i-1", packageManager: "apt" } as const;
const DNF = { instanceId: "i-1", packageManager: "dnf" } as const;
const { mirror: _mirror, ...WITHOUT_MIRROR } = settingsOf(FULL);

test("golden: user data with everything set", () => {
  assert.deepEqual(load(noCloud(settingsOf(FULL), APT)["user-data"]), {
    hostname: "web-1",
    fqdn: "web-1.example.org",
    users: [
      {
        name: "ops",
        shell: "/bin/bash",
        sudo: "ALL=(ALL) NOPASSWD:ALL",
        lock_passwd: false,
        passwd: FULL.user.passwordHash,
        ssh_authorized_keys: FULL.user.sshKeys,
      },
    ],
    ssh_pwauth: true,
    disable_root: true,
    timezone: "Europe/Vienna",
    locale: "de_AT.UTF-8",
    keyboard: { layout: "de", variant: "nodeadkeys" },
    ntp: { enabled: true, servers: ["10.0.0.4", "ntp.example.org"] },
    apt: {
      primary: [{ arches: ["default"], uri: "http://mirror.example.org/debian" }],
      proxy: "http://10.0.0.6:3128",
    },
    packages: ["curl", "jq"],
    swap: { filename: "/swap.img", size: 2147483648 },
    runcmd: [
      [
        "sh",
        "-c",
        `if sh -c 'echo "it'\\''s $HOME" > /etc/motd; echo %end' && sh -c true; then ${reported("succeeded")}; else ${reported("failed")}; false; fi`,
      ],
    ],
  });
});

test("golden: as little as can be", () => {
  const files = noCloud(settingsOf(SMALL), APT);
  assert.equal(
    files["user-data"],
    `#cloud-config
hostname: "web-1"
users:
  - name: "ops"
    shell: "/bin/bash"
    sudo: "ALL=(ALL) NOPASSWD:ALL"
    lock_passwd: true
    ssh_authorized_keys:
      - "${SMALL.user.sshKeys[0]}"
ssh_pwauth: false
disable_root: true
timezone: "Etc/UTC"
locale: "en_US.UTF-8"
keyboard:
  layout: "us"
`,
  );
  assert.equal(files["meta-data"], 'instance-id: "i-1"\nlocal-hostname: "web-1"\n');
  assert.equal(
    files["network-config"],
    `version: 2
ethernets:
  lan0:
    match:
      macaddress: "52:54:00:12:34:56"
    set-name: "lan0"
    dhcp4: true
`,
  );
});

test("golden: a static network, for NoCloud and for a config drive", () => {
  assert.deepEqual(load(noCloud(settingsOf(FULL), APT)["network-config"]), {
    version: 2,
    ethernets: {
      lan0: {
        match: { macaddress: "52:54:00:12:34:56" },
        "set-name": "lan0",
        dhcp4: false,
        addresses: ["10.0.0.5/24"],
        routes: [{ to: "0.0.0.0/0", via: "10.0.0.1" }],
        nameservers: { addresses: ["10.0.0.2", "10.0.0.3"] },
      },
    },
  });
  const drive = settingsDrive(settingsOf(FULL), APT);
  assert.deepEqual(JSON.parse(drive["openstack/latest/network_data.json"]!), {
    links: [{ id: "lan0", type: "phy", ethernet_mac_address: "52:54:00:12:34:56" }],
    networks: [
      {
        id: "lan0-ipv4",
        type: "ipv4",
        link: "lan0",
        ip_address: "10.0.0.5",
        netmask: "255.255.255.0",
        routes: [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "10.0.0.1" }],
      },
    ],
    services: [
      { type: "dns", address: "10.0.0.2" },
      { type: "dns", address: "10.0.0.3" },
    ],
  });
});

test("a static address without gateway and name servers, for a config drive", () => {
  const { mirror: _, ...settings } = settingsOf(ISOLATED);
  const read = JSON.parse(settingsDrive(settings, APT)["openstack/latest/network_data.json"]!);
  assert.deepEqual([read.networks[0].routes, read.services], [[], []]);
});

test("a config drive of ours has the same user data, and names the instance", () => {
  const drive = settingsDrive(settingsOf(SMALL), APT);
  assert.deepEqual(Object.keys(drive).sort(), [
    "openstack/latest/meta_data.json",
    "openstack/latest/network_data.json",
    "openstack/latest/user_data",
  ]);
  assert.equal(drive["openstack/latest/user_data"], noCloud(settingsOf(SMALL), APT)["user-data"]);
  assert.deepEqual(JSON.parse(drive["openstack/latest/meta_data.json"]!), {
    uuid: "i-1",
    name: "web-1",
    hostname: "web-1",
    "local-hostname": "web-1",
  });
  assert.deepEqual(JSON.parse(drive["openstack/latest/network_data.json"]!).networks, [
    { id: "lan0-ipv4", type: "ipv4_dhcp", link: "lan0" },
  ]);
});

test("a config drive without an id is refused, and what is absent is no file", () => {
  assert.deepEqual(Object.keys(configDrive({ metaData: { uuid: "u" } })), ["openstack/latest/meta_data.json"]);
  for (const uuid of [undefined, "", 5])
    assert.throws(() => configDrive({ metaData: { uuid } }), /config drive: metaData\.uuid/);
});

test("where dnf installs packages, the proxy is dnf's, groups are taken, and a mirror is refused", () => {
  const settings = { ...WITHOUT_MIRROR, packages: ["@core"] };
  const read = load(noCloud(settings, DNF)["user-data"]) as Record<string, unknown>;
  assert.deepEqual(read.write_files, [
    { path: "/etc/dnf/dnf.conf", append: true, content: "proxy=http://10.0.0.6:3128\n" },
  ]);
  assert.deepEqual([read.apt, read.packages], [undefined, ["@core"]]);
  assert.throws(() => noCloud(settingsOf(FULL), DNF), /cloud-init: mirror: can't be set for dnf/);
  assert.throws(() => noCloud(settings, APT), /packages\.0: groups are for dnf/);
});

test("the fields of an installer are none of cloud-init's, and an id is one word", () => {
  assert.throws(() => noCloud(FULL, APT), /has no "architecture", "firmware", "disk", "layout"/);
  assert.throws(() => noCloud(settingsOf(SMALL), { ...APT, instanceId: "a\nb" }), /instanceId: must be/);
});

test("lists of one are written as longer ones are", () => {
  for (const word of ONE_EACH_SHOWS) assert.ok(JSON.stringify(noCloud(settingsOf(ONE_EACH), APT)).includes(word), word);
});

test("N26 every field has an effect", () => {
  const told = (installation: typeof FULL): string => JSON.stringify(noCloud(settingsOf(installation), APT));
  for (const [field, change] of Object.entries(CHANGES)) {
    if (!(field in settingsOf(FULL))) continue;
    assert.notEqual(told({ ...FULL, ...change }), told(FULL), field);
  }
});

test("whatever a text holds, the files have the same keys", () => {
  const keys = (value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([key, item]) => [key, keys(item)])
      : typeof value;
  const ofFull = keys(load(noCloud(settingsOf({ ...FULL, hostname: "a" }), APT)["user-data"]));
  let taken = 0;
  fc.assert(
    fc.property(attacked, (installation) => {
      let file: string;
      try {
        file = noCloud(settingsOf({ ...installation, hostname: "a" }), APT)["user-data"];
      } catch (error) {
        assert.ok(isFault(error, "Invalid"));
        return;
      }
      taken++;
      const read = load(file) as { users: { ssh_authorized_keys: string[] }[] };
      assert.deepEqual(keys(read), ofFull);
      assert.deepEqual(read.users[0]!.ssh_authorized_keys, installation.user.sshKeys);
    }),
    { numRuns: 1000, seed: 5 },
  );
  assert.ok(taken > 100, `only ${taken} were taken`);
});
