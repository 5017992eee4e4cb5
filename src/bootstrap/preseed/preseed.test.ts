import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import {
  attacked,
  CHANGES,
  FULL,
  ISOLATED,
  KEY,
  ONE_EACH,
  ONE_EACH_SHOWS,
  reported,
  SMALL,
} from "../installation/testing.ts";
import { preseedFile } from "./answers.ts";
import { preseed, preseedArguments } from "./preseed.ts";

test("golden: everything set, UEFI, a logical volume", () => {
  assert.equal(
    preseed(FULL),
    `d-i debian-installer/locale string de_AT.UTF-8
d-i keyboard-configuration/xkb-keymap select de
d-i keyboard-configuration/layoutcode string de
d-i keyboard-configuration/variantcode string nodeadkeys
d-i netcfg/hostname string web-1
d-i netcfg/get_hostname string web-1
d-i netcfg/get_domain string example.org
d-i mirror/protocol select http
d-i mirror/country string manual
d-i mirror/http/hostname string mirror.example.org
d-i mirror/http/directory string /debian
d-i mirror/http/proxy string http://10.0.0.6:3128
d-i passwd/root-login boolean false
d-i passwd/make-user boolean true
d-i passwd/user-fullname string ops
d-i passwd/username string ops
d-i passwd/user-password-crypted password $6$saltsalt$abcdefghijk./
d-i clock-setup/utc boolean true
d-i time/zone string Europe/Vienna
d-i clock-setup/ntp boolean true
d-i clock-setup/ntp-server string 10.0.0.4
d-i partman/early_command string udevadm settle; if ! test -b /dev/disk/by-id/nvme-X_1; then ${reported("failed")}; until test -b /dev/disk/by-id/nvme-X_1; do sleep 5; done; fi; debconf-set partman-auto/disk "$(readlink -f /dev/disk/by-id/nvme-X_1)"; debconf-set grub-installer/bootdev "$(readlink -f /dev/disk/by-id/nvme-X_1)"
d-i partman-auto/disk string /dev/disk/by-id/nvme-X_1
d-i partman-auto/method string lvm
d-i partman-auto-lvm/guided_size string max
d-i partman-auto-lvm/new_vg_name string system
d-i partman-auto/expert_recipe string slipway :: 538 538 1075 free $iflabel{ gpt } $reusemethod{ } method{ efi } format{ } . 512 768 1024 ext4 $primary{ } $bootable{ } method{ format } format{ } use_filesystem{ } filesystem{ ext4 } mountpoint{ /boot } . 2148 2148 2148 linux-swap $lvmok{ } lv_name{ swap } method{ swap } format{ } . 3000 10000 -1 ext4 $lvmok{ } lv_name{ root } method{ format } format{ } use_filesystem{ } filesystem{ ext4 } mountpoint{ / } .
d-i partman-auto/choose_recipe select slipway
d-i partman-partitioning/choose_label select gpt
d-i partman-partitioning/default_label string gpt
d-i partman-efi/non_efi_system boolean true
d-i partman-lvm/device_remove_lvm boolean true
d-i partman-md/device_remove_md boolean true
d-i partman-lvm/confirm boolean true
d-i partman-lvm/confirm_nooverwrite boolean true
d-i partman-partitioning/confirm_write_new_label boolean true
d-i partman-basicfilesystems/no_swap boolean false
d-i partman-swapfile/size string 0
d-i partman-swapfile/percentage string 0
d-i partman/choose_partition select finish
d-i partman/confirm boolean true
d-i partman/confirm_nooverwrite boolean true
d-i partman/mount_style select uuid
tasksel tasksel/first multiselect standard
d-i pkgsel/include string openssh-server sudo curl jq
popularity-contest popularity-contest/participate boolean false
d-i apt-setup/cdrom/set-first boolean false
d-i grub-installer/only_debian boolean true
d-i grub-installer/with_other_os boolean false
d-i grub-installer/bootdev string /dev/disk/by-id/nvme-X_1
d-i grub-installer/force-efi-extra-removable boolean true
d-i preseed/late_command string if mkdir -p /target/home/ops/.ssh && printf '%s\\n' 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBase64 o'\\''brien "x" $(id) #1' > /target/home/ops/.ssh/authorized_keys && chmod 0600 /target/home/ops/.ssh/authorized_keys && chmod 0700 /target/home/ops/.ssh && in-target chown -R ops:ops /home/ops/.ssh && mkdir -p /target/etc/sudoers.d && printf '%s\\n' 'ops ALL=(ALL) NOPASSWD:ALL' > /target/etc/sudoers.d/ops && chmod 0440 /target/etc/sudoers.d/ops && mkdir -p /target/etc/systemd/timesyncd.conf.d && printf '%s\\n' '[Time]' 'NTP=10.0.0.4 ntp.example.org' > /target/etc/systemd/timesyncd.conf.d/slipway.conf && chmod 0644 /target/etc/systemd/timesyncd.conf.d/slipway.conf && mkdir -p /target/etc && printf '%s\\n' 'nameserver 10.0.0.2' 'nameserver 10.0.0.3' > /target/etc/resolv.conf && chmod 0644 /target/etc/resolv.conf && in-target sh -c 'echo "it'\\''s $HOME" > /etc/motd; echo %end' && in-target sh -c true; then ${reported("succeeded")}; else ${reported("failed")}; false; fi
d-i finish-install/reboot_in_progress note
`,
  );
});

test("golden: as little as can be, BIOS, one partition", () => {
  assert.equal(
    preseed(SMALL),
    `d-i debian-installer/locale string en_US.UTF-8
d-i keyboard-configuration/xkb-keymap select us
d-i keyboard-configuration/layoutcode string us
d-i keyboard-configuration/variantcode string
d-i netcfg/hostname string web-1
d-i netcfg/get_hostname string web-1
d-i netcfg/get_domain string
d-i mirror/protocol select http
d-i mirror/country string manual
d-i mirror/http/hostname string deb.debian.org
d-i mirror/http/directory string /debian
d-i mirror/http/proxy string
d-i passwd/root-login boolean false
d-i passwd/make-user boolean true
d-i passwd/user-fullname string ops
d-i passwd/username string ops
d-i passwd/user-password-crypted password !
d-i clock-setup/utc boolean true
d-i time/zone string Etc/UTC
d-i clock-setup/ntp boolean true
d-i partman/early_command string udevadm settle; if ! test -b /dev/sda; then until test -b /dev/sda; do sleep 5; done; fi; debconf-set partman-auto/disk "$(readlink -f /dev/sda)"; debconf-set grub-installer/bootdev "$(readlink -f /dev/sda)"
d-i partman-auto/disk string /dev/sda
d-i partman-auto/method string regular
d-i partman-auto/expert_recipe string slipway :: 1 1 1 free $iflabel{ gpt } $reusemethod{ } method{ biosgrub } . 3000 10000 -1 ext4 method{ format } format{ } use_filesystem{ } filesystem{ ext4 } mountpoint{ / } .
d-i partman-auto/choose_recipe select slipway
d-i partman-partitioning/choose_label select gpt
d-i partman-partitioning/default_label string gpt
d-i partman-lvm/device_remove_lvm boolean true
d-i partman-md/device_remove_md boolean true
d-i partman-lvm/confirm boolean true
d-i partman-lvm/confirm_nooverwrite boolean true
d-i partman-partitioning/confirm_write_new_label boolean true
d-i partman-basicfilesystems/no_swap boolean false
d-i partman-swapfile/size string 0
d-i partman-swapfile/percentage string 0
d-i partman/choose_partition select finish
d-i partman/confirm boolean true
d-i partman/confirm_nooverwrite boolean true
d-i partman/mount_style select uuid
tasksel tasksel/first multiselect standard
d-i pkgsel/include string openssh-server sudo
popularity-contest popularity-contest/participate boolean false
d-i apt-setup/cdrom/set-first boolean false
d-i grub-installer/only_debian boolean true
d-i grub-installer/with_other_os boolean false
d-i grub-installer/bootdev string /dev/sda
d-i preseed/late_command string mkdir -p /target/home/ops/.ssh && printf '%s\\n' 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBase64' > /target/home/ops/.ssh/authorized_keys && chmod 0600 /target/home/ops/.ssh/authorized_keys && chmod 0700 /target/home/ops/.ssh && in-target chown -R ops:ops /home/ops/.ssh && mkdir -p /target/etc/sudoers.d && printf '%s\\n' 'ops ALL=(ALL) NOPASSWD:ALL' > /target/etc/sudoers.d/ops && chmod 0440 /target/etc/sudoers.d/ops
d-i finish-install/reboot_in_progress note
`,
  );
});

test("golden: the kernel's arguments; the user's own come last", () => {
  assert.deepEqual(preseedArguments(FULL, "http://s.test/p"), [
    "auto=true",
    "priority=critical",
    "url=http://s.test/p",
    "netcfg/choose_interface=52:54:00:12:34:56",
    "netcfg/hostname=web-1",
    "netcfg/get_hostname=web-1",
    "netcfg/get_domain=example.org",
    "netcfg/disable_autoconfig=true",
    "netcfg/get_ipaddress=10.0.0.5",
    "netcfg/get_netmask=255.255.255.0",
    "netcfg/get_gateway=10.0.0.1",
    "netcfg/get_nameservers=10.0.0.2",
    "netcfg/confirm_static=true",
  ]);
  assert.deepEqual(preseedArguments(SMALL, "http://s.test/p", ["console=ttyS0"]), [
    "auto=true",
    "priority=critical",
    "url=http://s.test/p",
    "netcfg/choose_interface=52:54:00:12:34:56",
    "netcfg/hostname=web-1",
    "netcfg/get_hostname=web-1",
    "netcfg/get_domain=",
    "netcfg/no_default_route=true",
    "netcfg/get_nameservers=",
    "console=ttyS0",
  ]);
});

/** The answers of a file, as debconf splits its lines. */
const answers = (file: string): Record<string, string> =>
  Object.fromEntries(
    file
      .trimEnd()
      .split("\n")
      .map((text) => {
        const [, owner, question, type, value = ""] = /^(\S+) (\S+) (\S+)(?: (.*))?$/s.exec(text)!;
        return [`${owner} ${question} ${type}`, value];
      }),
  );

test("lists of one are written as longer ones are", () => {
  for (const word of ONE_EACH_SHOWS) assert.ok(preseed(ONE_EACH).includes(word), word);
});

test("N26 every field has an effect", () => {
  const told = (installation: typeof FULL): string =>
    preseed(installation) + preseedArguments(installation, "http://s.test/p").join(" ");
  for (const [field, change] of Object.entries(CHANGES)) {
    // Debian's archive has all architectures: it changes the kernel and the initrd, which the profile names.
    if (field === "architecture") continue;
    assert.notEqual(told({ ...FULL, ...change }), told(FULL), field);
  }
});

test("whatever a text holds, the file has the same questions, one a line", () => {
  const questions = Object.keys(answers(preseed(FULL)));
  let taken = 0;
  fc.assert(
    fc.property(attacked, (installation) => {
      let file: string;
      try {
        file = preseed(installation);
      } catch (error) {
        assert.ok(isFault(error, "Invalid"));
        return;
      }
      taken++;
      assert.doesNotMatch(file, /\\\n|[^\P{C}\n]/u);
      const { ntpServers, mirror } = installation;
      const expected = questions
        .filter((question) => ntpServers.length > 0 || !question.includes("ntp-server"))
        .map((question) => question.replace("mirror/http/", `mirror/${new URL(mirror!).protocol.slice(0, -1)}/`));
      assert.deepEqual(Object.keys(answers(file)), expected);
    }),
    { numRuns: 1000, seed: 2 },
  );
  assert.ok(taken > 100, `only ${taken} were taken`);
});

/** Runs the late command with everything it calls printing its arguments, one a line. */
const lateCalls = (file: string): string[] => {
  const stubs = ["mkdir", "chmod", "in-target"].map((name) => `${name}() { printf '%s\\n' "${name}" "$@"; }`);
  const script = answers(file)["d-i preseed/late_command string"]!.replaceAll("/target/", "/nonexistent/");
  const files = script.replaceAll(/> (\S+)/g, "| sed 's|^|file: |'");
  // sh has no dash in a function's name.
  const { stdout } = spawnSync("bash", ["-c", `${stubs.join("\n")}\n${files}`], { encoding: "utf8" });
  return stdout.trimEnd().split("\n");
};

test("keys and commands reach the new system as they were written", () => {
  const key = `${KEY} o'brien "x" $(id) \`id\` #1 \\`;
  const command = `echo "it's $HOME" \`id\` \\ ; : && exit 3`;
  const calls = lateCalls(preseed({ ...SMALL, user: { name: "ops", sshKeys: [key] }, commands: [command] }));
  assert.deepEqual(
    calls.filter((line) => line.startsWith("file: ")),
    [`file: ${key}`, "file: ops ALL=(ALL) NOPASSWD:ALL"],
  );
  assert.deepEqual(calls.slice(-4), ["in-target", "sh", "-c", command]);
});

test("the installer waits for the disk rather than take another", () => {
  const script = answers(preseed(SMALL))["d-i partman/early_command string"]!;
  const stubs = `looked=0
udevadm() { :; }
test() { looked=$((looked + 1)); [ $looked -gt 3 ]; }
sleep() { echo waits; }
debconf-set() { echo "$@"; }
readlink() { echo /dev/sdx; }`;
  const { stdout } = spawnSync("bash", ["-c", `${stubs}\n${script}`], { encoding: "utf8" });
  assert.equal(stdout, "waits\nwaits\npartman-auto/disk /dev/sdx\ngrub-installer/bootdev /dev/sdx\n");
});

test("a mirror by https, its final slash left out, is asked for as debconf splits it", () => {
  const given = answers(preseed({ ...SMALL, mirror: "https://m.test:8443/debian/", proxy: "http://p.test" }));
  assert.equal(given["d-i mirror/protocol select"], "https");
  assert.equal(given["d-i mirror/https/hostname string"], "m.test:8443");
  assert.equal(given["d-i mirror/https/directory string"], "/debian");
  assert.equal(given["d-i mirror/https/proxy string"], "http://p.test");
});

test("a static address without gateway and name servers: no question is left open", () => {
  assert.deepEqual(preseedArguments(ISOLATED, "http://s.test/p").slice(-6), [
    "netcfg/disable_autoconfig=true",
    "netcfg/get_ipaddress=10.0.0.5",
    "netcfg/get_netmask=255.255.255.0",
    "netcfg/get_gateway=none",
    "netcfg/get_nameservers=",
    "netcfg/confirm_static=true",
  ]);
  assert.doesNotMatch(preseed(ISOLATED), /resolv\.conf/);
});

test("groups of packages are refused by their path", () => {
  assert.throws(
    () => preseed({ ...SMALL, packages: ["curl", "@core"] }),
    /preseed: packages\.1: groups are for kickstart/,
  );
});

test("the writer itself refuses what debconf would read as something else", () => {
  const text = (value: string) => [{ question: "a/b", type: "string", value }] as const;
  for (const value of ["x\ny z/z string 1", "x\\", " x", "x ", "x\u0000", "x\u2028"])
    assert.throws(() => preseedFile(text(value)), /preseed: a\/b has an answer/, JSON.stringify(value));
  assert.throws(() => preseedFile([...text("1"), ...text("2")]), /answered twice/);
  assert.throws(() => preseedFile([{ question: "a b", type: "note" }]), /not the name of a question/);
  assert.throws(() => preseedFile([{ owner: "#", question: "a/b", type: "note" }]), /not the name of a package/);
});
