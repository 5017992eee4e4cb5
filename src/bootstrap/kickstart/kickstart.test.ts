import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
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
import { kickstart, kickstartArguments } from "./kickstart.ts";
import { kickstartFile } from "./lines.ts";

const MIRROR = "http://m.test/BaseOS/x86_64/os";

test("golden: everything set, release 9, logical volumes", () => {
  assert.equal(
    kickstart(FULL, 9),
    `text
reboot
url --url=http://mirror.example.org/debian --proxy=http://10.0.0.6:3128
lang de_AT.UTF-8
keyboard --xlayouts='de (nodeadkeys)'
timezone --utc Europe/Vienna
timesource --ntp-server=10.0.0.4
timesource --ntp-server=ntp.example.org
network --device=52:54:00:12:34:56 --bootproto=static --onboot=yes --activate --hostname=web-1.example.org --ip=10.0.0.5 --netmask=255.255.255.0 --gateway=10.0.0.1 --nameserver=10.0.0.2,10.0.0.3 --noipv6
rootpw --lock
user --name=ops --groups=wheel --iscrypted --password='$6$saltsalt$abcdefghijk./'
sshkey --username=ops 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBase64 o'\\''brien "x" $(id) #1'
ignoredisk --only-use=/dev/disk/by-id/nvme-X_1
zerombr
clearpart --all --initlabel --disklabel=gpt --drives=/dev/disk/by-id/nvme-X_1
bootloader --boot-drive=/dev/disk/by-id/nvme-X_1
reqpart
part --fstype=xfs --size=1024 --ondisk=/dev/disk/by-id/nvme-X_1 /boot
part --size=4096 --grow --ondisk=/dev/disk/by-id/nvme-X_1 pv.01
volgroup system pv.01
logvol --vgname=system --name=swap --size=2048 swap
logvol --vgname=system --name=root --fstype=xfs --size=4096 --grow /

%packages
@^minimal-environment
openssh-server
sudo
curl
jq
%end

%post --erroronfail --interpreter=/bin/bash
set -e
printf '%s\\n' 'ops ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/ops
chmod 0440 /etc/sudoers.d/ops
sh -c 'echo "it'\\''s $HOME" > /etc/motd; echo %end'
sh -c true
%end

%post --nochroot
${reported("succeeded")}
%end

%onerror
${reported("failed")}
%end
`,
  );
});

test("golden: as little as can be, release 8, one partition", () => {
  assert.equal(
    kickstart({ ...SMALL, mirror: MIRROR }, 8),
    `text
reboot
url --url=http://m.test/BaseOS/x86_64/os
lang en_US.UTF-8
keyboard --xlayouts=us
timezone --utc Etc/UTC
network --device=52:54:00:12:34:56 --bootproto=dhcp --onboot=yes --activate --hostname=web-1
rootpw --lock
user --name=ops --groups=wheel --iscrypted --password='!'
sshkey --username=ops 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBase64'
ignoredisk --only-use=/dev/sda
zerombr
clearpart --all --initlabel --disklabel=gpt --drives=/dev/sda
bootloader --boot-drive=/dev/sda
reqpart
part --fstype=xfs --size=1024 --ondisk=/dev/sda /boot
part --fstype=xfs --size=4096 --grow --ondisk=/dev/sda /

%packages
@^minimal-environment
openssh-server
sudo
%end

%post --erroronfail --interpreter=/bin/bash
set -e
printf '%s\\n' 'ops ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/ops
chmod 0440 /etc/sudoers.d/ops
%end
`,
  );
});

test("golden: the kernel's arguments; the user's own come last", () => {
  assert.deepEqual(kickstartArguments(FULL, "http://s.test/k"), [
    "inst.ks=http://s.test/k",
    "inst.text",
    "ifname=lan0:52:54:00:12:34:56",
    "ip=10.0.0.5::10.0.0.1:255.255.255.0:web-1.example.org:lan0:none",
    "nameserver=10.0.0.2",
    "nameserver=10.0.0.3",
  ]);
  assert.deepEqual(kickstartArguments(SMALL, "http://s.test/k", ["console=ttyS0"]), [
    "inst.ks=http://s.test/k",
    "inst.text",
    "ifname=lan0:52:54:00:12:34:56",
    "ip=lan0:dhcp",
    "console=ttyS0",
  ]);
});

test("a static address without gateway and name servers", () => {
  const [line] = kickstart(ISOLATED, 9).match(/^network .*$/m)!;
  assert.match(line, /--ip=10\.0\.0\.5 --netmask=255\.255\.255\.0 --noipv6$/);
  assert.deepEqual(kickstartArguments(ISOLATED, "http://s.test/k").slice(3), [
    "ip=10.0.0.5:::255.255.255.0:web-1:lan0:none",
  ]);
});

test("time servers stand where the release has them", () => {
  const lines = (release: 8 | 9 | 10) =>
    kickstart(FULL, release)
      .split("\n")
      .filter((line) => line.startsWith("time"));
  assert.deepEqual(lines(8), ["timezone --utc --ntpservers=10.0.0.4,ntp.example.org Europe/Vienna"]);
  for (const release of [9, 10] as const)
    assert.deepEqual(lines(release), [
      "timezone --utc Europe/Vienna",
      "timesource --ntp-server=10.0.0.4",
      "timesource --ntp-server=ntp.example.org",
    ]);
});

test("lists of one are written as longer ones are", () => {
  for (const word of ONE_EACH_SHOWS) assert.ok(kickstart(ONE_EACH, 8).includes(word), word);
});

test("N26 every field has an effect", () => {
  const told = (installation: typeof FULL): string =>
    kickstart(installation, 9) + kickstartArguments(installation, "http://s.test/k").join(" ");
  for (const [field, change] of Object.entries(CHANGES)) {
    // The mirror is one architecture's, and `reqpart` makes what the firmware that runs needs.
    if (field === "architecture" || field === "firmware") continue;
    assert.notEqual(told({ ...FULL, ...change }), told(FULL), field);
  }
});

/** Names of the commands and sections, in order; a script is one. */
const outline = (file: string): string[] => {
  const names: string[] = [];
  let isScript = false;
  for (const line of file.split("\n")) {
    if (line === "%end") isScript = false;
    else if (!isScript && line !== "") names.push(line.split(" ")[0]!);
    if (line.startsWith("%") && line !== "%end") isScript = true;
  }
  return names;
};

test("whatever a text holds, the file has the same commands and sections", () => {
  let taken = 0;
  fc.assert(
    fc.property(attacked, (installation) => {
      let file: string;
      try {
        file = kickstart(installation, 8);
      } catch (error) {
        assert.ok(isFault(error, "Invalid"));
        return;
      }
      taken++;
      const { user, report } = installation;
      const expected = outline(
        kickstart(
          {
            ...FULL,
            user: { ...user, sshKeys: user.sshKeys.map(() => FULL.user.sshKeys[0]!) },
            ...(report && { report }),
          },
          8,
        ),
      );
      assert.deepEqual(outline(file), expected);
      assert.equal(
        file.split("\n").filter((line) => line === "%end").length,
        file.split("\n%").length - 1 - expected.filter((name) => name.startsWith("%")).length,
      );
    }),
    { numRuns: 1000, seed: 3 },
  );
  assert.ok(taken > 100, `only ${taken} were taken`);
});

test("what Anaconda can't be given is refused by its path", () => {
  assert.throws(() => kickstart(SMALL, 9), /kickstart: mirror: is required/);
  assert.throws(
    () => kickstart({ ...SMALL, mirror: MIRROR, packages: ["@core", "curl=1"] }, 9),
    /packages\.1: must be a name as dnf/,
  );
});

test("the writer itself refuses what pykickstart would read as something else", () => {
  const packages = (line: string) => kickstartFile([], [{ section: "packages", lines: [line] }]);
  for (const line of ["%end", "  %include /x", "%post"]) assert.throws(() => packages(line), /begins with %/);
  assert.throws(() => packages("a\n%end"), /control characters/);
  assert.throws(() => kickstartFile([{ command: "user", words: ["a\nb"] }], []), /control characters/);
  assert.throws(() => kickstartFile([{ command: "a b" }], []), /not the name of a command/);
  assert.equal(kickstartFile([{ command: "user", options: { name: "a # b" } }], []), "user --name='a # b'\n");
});

test("swap is a partition of its own on a plain disk, a volume of the group with logical volumes, or neither", () => {
  const lines = (layout: "plain" | "lvm", swap: typeof FULL.swap) =>
    kickstart({ ...FULL, layout, swap }, 9)
      .split("\n")
      .filter((line) => /^(part|logvol) .*swap$/.test(line));
  const part = "part --size=2048 --ondisk=/dev/disk/by-id/nvme-X_1 swap";
  assert.deepEqual(lines("plain", { mebibytes: 2048 }), [part]);
  assert.deepEqual(lines("lvm", { mebibytes: 2048 }), ["logvol --vgname=system --name=swap --size=2048 swap"]);
  for (const layout of ["plain", "lvm"] as const) assert.deepEqual(lines(layout, "none"), []);
});
