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
} from "../installation/testing.ts";
import { autoinstall, autoinstallArguments } from "./autoinstall.ts";

const BOOT = { configUrl: "http://s.test/a/", iso: "http://s.test/u.iso" };

test("golden: everything set, logical volumes", () => {
  assert.equal(
    autoinstall(FULL)["user-data"],
    `#cloud-config
autoinstall:
  version: 1
  early-commands:
    - "udevadm settle"
    - "test -b /dev/disk/by-id/nvme-X_1"
    - "sed -i \\"s|/dev/slipway-disk|$(readlink -f /dev/disk/by-id/nvme-X_1)|\\" /autoinstall.yaml"
  locale: "de_AT.UTF-8"
  keyboard:
    layout: "de"
    variant: "nodeadkeys"
  timezone: "Europe/Vienna"
  network:
    version: 2
    ethernets:
      lan0:
        match:
          macaddress: "52:54:00:12:34:56"
        dhcp4: false
        addresses:
          - "10.0.0.5/24"
        routes:
          - to: "0.0.0.0/0"
            via: "10.0.0.1"
        nameservers:
          addresses:
            - "10.0.0.2"
            - "10.0.0.3"
  proxy: "http://10.0.0.6:3128"
  apt:
    primary:
      - arches:
          - "amd64"
        uri: "http://mirror.example.org/debian"
    fallback: "abort"
    geoip: false
  storage:
    layout:
      name: "lvm"
      sizing-policy: "all"
      match:
        path: "/dev/slipway-disk"
    swap:
      size: "2048M"
  identity:
    hostname: "web-1.example.org"
    username: "ops"
    password: "$6$saltsalt$abcdefghijk./"
  ssh:
    install-server: true
    authorized-keys:
      - "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBase64 o'brien \\"x\\" $(id) #1"
    allow-pw: true
  packages:
    - "curl"
    - "jq"
  user-data:
    ntp:
      enabled: true
      servers:
        - "10.0.0.4"
        - "ntp.example.org"
  late-commands:
    - - "curtin"
      - "in-target"
      - "--"
      - "sh"
      - "-c"
      - "printf '%s\\\\n' 'ops ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/ops"
    - - "curtin"
      - "in-target"
      - "--"
      - "chmod"
      - "0440"
      - "/etc/sudoers.d/ops"
    - - "curtin"
      - "in-target"
      - "--"
      - "sh"
      - "-c"
      - "echo \\"it's $HOME\\" > /etc/motd; echo %end"
    - - "curtin"
      - "in-target"
      - "--"
      - "sh"
      - "-c"
      - "true"
    - "${reported("succeeded")}"
  error-commands:
    - "${reported("failed")}"
  shutdown: "reboot"
`,
  );
});

test("golden: as little as can be, one partition", () => {
  assert.equal(
    autoinstall(SMALL)["user-data"],
    `#cloud-config
autoinstall:
  version: 1
  early-commands:
    - "udevadm settle"
    - "test -b /dev/sda"
    - "sed -i \\"s|/dev/slipway-disk|$(readlink -f /dev/sda)|\\" /autoinstall.yaml"
  locale: "en_US.UTF-8"
  keyboard:
    layout: "us"
  timezone: "UTC"
  network:
    version: 2
    ethernets:
      lan0:
        match:
          macaddress: "52:54:00:12:34:56"
        dhcp4: true
  storage:
    layout:
      name: "direct"
      match:
        path: "/dev/slipway-disk"
    swap:
      size: 0
  identity:
    hostname: "web-1"
    username: "ops"
    password: "!"
  ssh:
    install-server: true
    authorized-keys:
      - "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBase64"
    allow-pw: false
  late-commands:
    - - "curtin"
      - "in-target"
      - "--"
      - "sh"
      - "-c"
      - "printf '%s\\\\n' 'ops ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/ops"
    - - "curtin"
      - "in-target"
      - "--"
      - "chmod"
      - "0440"
      - "/etc/sudoers.d/ops"
  shutdown: "reboot"
`,
  );
  assert.equal(autoinstall(SMALL)["meta-data"], "");
});

test("golden: the kernel's arguments; the user's own come last", () => {
  assert.deepEqual(autoinstallArguments(FULL, BOOT), [
    "autoinstall",
    "ds=nocloud;s=http://s.test/a/",
    "url=http://s.test/u.iso",
    "BOOTIF=01-52-54-00-12-34-56",
    "ip=10.0.0.5::10.0.0.1:255.255.255.0:web-1.example.org::off:10.0.0.2",
    "cloud-config-url=/dev/null",
  ]);
  assert.deepEqual(autoinstallArguments(SMALL, BOOT, ["console=ttyS0"]), [
    "autoinstall",
    "ds=nocloud;s=http://s.test/a/",
    "url=http://s.test/u.iso",
    "BOOTIF=01-52-54-00-12-34-56",
    "ip=dhcp",
    "cloud-config-url=/dev/null",
    "console=ttyS0",
  ]);
});

test("a static address without gateway and name servers", () => {
  const { autoinstall: read } = load(autoinstall(ISOLATED)["user-data"]) as { autoinstall: { network: unknown } };
  const lan0 = { match: { macaddress: "52:54:00:12:34:56" }, dhcp4: false, addresses: ["10.0.0.5/24"] };
  assert.deepEqual(read.network, { version: 2, ethernets: { lan0 } });
  assert.ok(autoinstallArguments(ISOLATED, BOOT).includes("ip=10.0.0.5:::255.255.255.0:web-1::off:"));
});

test("lists of one are written as longer ones are", () => {
  for (const word of ONE_EACH_SHOWS) assert.ok(autoinstall(ONE_EACH)["user-data"].includes(word), word);
});

test("N26 every field has an effect", () => {
  const told = (installation: typeof FULL): string =>
    autoinstall(installation)["user-data"] + autoinstallArguments(installation, BOOT).join(" ");
  for (const [field, change] of Object.entries(CHANGES)) {
    // Layouts make what the firmware that runs needs.
    if (field === "firmware") continue;
    assert.notEqual(told({ ...FULL, ...change }), told(FULL), field);
  }
});

/** The same with every text in the place of one, and every list as long as its first element. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]));
};

test("whatever a text holds, the file has the same keys, and every text is one", () => {
  const shape = JSON.stringify(shapeOf(load(autoinstall(FULL)["user-data"])));
  let taken = 0;
  fc.assert(
    fc.property(attacked, (installation) => {
      let file: string;
      try {
        file = autoinstall(installation)["user-data"];
      } catch (error) {
        assert.ok(isFault(error, "Invalid"));
        return;
      }
      taken++;
      const read = load(file) as { autoinstall: Record<string, unknown> };
      assert.equal(JSON.stringify(shapeOf(read)), shape);
      assert.deepEqual((read.autoinstall.ssh as Record<string, unknown>)["authorized-keys"], installation.user.sshKeys);
      assert.deepEqual(
        (read.autoinstall["late-commands"] as string[][])
          .slice(installation.seedUrl === undefined ? 2 : 4, -1)
          .map((words) => words.at(-1)),
        installation.commands,
      );
    }),
    { numRuns: 1000, seed: 4 },
  );
  assert.ok(taken > 100, `only ${taken} were taken`);
});

test("groups of packages are refused by their path", () => {
  assert.throws(
    () => autoinstall({ ...SMALL, packages: ["@core"] }),
    /autoinstall: packages\.0: groups are for kickstart/,
  );
});
