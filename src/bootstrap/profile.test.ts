import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { loadAll } from "js-yaml";
import { grubScript } from "../netboot/grub/script.ts";
import { ipxeScript } from "../netboot/ipxe/script.ts";
import { harvesterBoot } from "./harvester/boot.ts";
import { harvesterJoinOf } from "./harvester-profile.ts";
import { FULL, KEY, SMALL } from "./installation/testing.ts";
import type { InstalledHost } from "./installed-host.ts";
import { installationOf, installerBoot } from "./installer-boot.ts";
import { deployMethod, INSTALLERS, type Profile, readProfile } from "./profile.ts";

const HOST: InstalledHost = {
  hostname: "rack-1-node-4",
  architecture: "x86_64",
  firmware: "uefi",
  disk: "/dev/disk/by-id/nvme-X_1",
  network: SMALL.network,
  report: { succeeded: "http://s.test/ok" },
};
const BASE = `
kernel: http://m.test/linux
initrd: http://m.test/initrd.gz
user: {name: ops, sshKeys: [${KEY}]}
`;
const read = (installer: Profile["installer"], text: string): Profile =>
  readProfile(installer, { profile: text }, "Secret hosts/p");

interface Manifest {
  kind: string;
  metadata: { name: string };
  stringData?: Record<string, string>;
  data?: Record<string, string>;
}
const example = (installer: string): Manifest =>
  loadAll(readFileSync(`examples/inventory/${installer}.yaml`, "utf8"))[0] as Manifest;

test("every installer has an example, and there is none beside", () => {
  const names = globSync("examples/inventory/*.yaml").map((path) => path.replace(/^.*\/(.*)\.yaml$/, "$1"));
  assert.deepEqual(names.sort(), [...INSTALLERS].sort());
});

for (const installer of INSTALLERS)
  test(`the example of ${installer} is a profile that a host can be installed by`, () => {
    const { kind, metadata, stringData, data } = example(installer);
    assert.deepEqual(deployMethod(`${installer}/${metadata.name}`), { installer, profile: metadata.name });
    const profile = readProfile(installer, stringData ?? data!, `${kind} ${metadata.name}`);
    assert.equal(profile.installer, installer);
    switch (profile.installer) {
      case "ipxe":
        assert.equal(profile.script, "http://10.20.0.1/own.ipxe");
        return;
      case "harvester": {
        const { script } = harvesterBoot({ join: harvesterJoinOf(profile, HOST), configUrl: "https://s.test/c" });
        assert.match(script, /harvester\.install\.management_interface\.interfaces="hwAddr:52:54:00:12:34:56"/);
        return;
      }
      default:
        assert.equal(installerBoot(profile, HOST, "http://s.test/b/").kernel, profile.kernel);
    }
  });

test("a profile that says little has the usual defaults", () => {
  const profile = read("preseed", BASE);
  assert.ok(profile.installer === "preseed");
  assert.deepEqual(installationOf(profile, HOST), {
    ...SMALL,
    user: { name: "ops", sshKeys: [KEY] },
    hostname: "rack-1-node-4",
    firmware: "uefi",
    disk: "/dev/disk/by-id/nvme-X_1",
    report: { succeeded: "http://s.test/ok" },
  });
});

test("N44 the profile of examples/plunder is one of debian-installer", () => {
  const [, map] = loadAll(readFileSync("examples/plunder/installed.yaml", "utf8")) as {
    data: Record<string, string>;
  }[];
  assert.equal(readProfile("preseed", map!.data, "the example").installer, "preseed");
});

test("N26 everything a profile says is in the installation, by the same name", () => {
  const said = {
    kernel: "http://m.test/linux",
    initrd: "http://m.test/initrd.gz",
    arguments: ["console=ttyS0"],
    ...{ user: FULL.user, timezone: FULL.timezone, locale: FULL.locale, keyboard: FULL.keyboard },
    ...{ ntpServers: FULL.ntpServers, proxy: FULL.proxy, mirror: FULL.mirror, layout: FULL.layout },
    ...{ swap: FULL.swap, packages: FULL.packages, commands: FULL.commands },
  };
  const profile = read("preseed", JSON.stringify(said));
  assert.ok(profile.installer === "preseed");
  const { hostname, network, disk, report } = FULL;
  assert.deepEqual(
    installationOf(profile, { hostname, network, disk, architecture: "x86_64", firmware: "uefi", report: report! }),
    FULL,
  );
});

test("kernel, initrd, arguments and files are those of the installer", () => {
  const boot = (profile: Profile) => {
    assert.ok(
      profile.installer === "preseed" || profile.installer === "kickstart" || profile.installer === "autoinstall",
    );
    const { kernel, initrd, commandLine: words, files } = installerBoot(profile, HOST, "http://s.test/b/");
    assert.deepEqual([kernel, initrd], ["http://m.test/linux", "http://m.test/initrd.gz"]);
    assert.equal(words.at(-1), "console=ttyS0");
    return [words.find((word) => word.includes("http://s.test/b/")), Object.keys(files)];
  };
  const base = `${BASE}arguments: [console=ttyS0]\n`;
  assert.deepEqual(boot(read("preseed", base)), ["url=http://s.test/b/preseed.cfg", ["preseed.cfg"]]);
  assert.deepEqual(boot(read("kickstart", `${base}release: 9\nmirror: http://m.test/os\n`)), [
    "inst.ks=http://s.test/b/kickstart.cfg",
    ["kickstart.cfg"],
  ]);
  assert.deepEqual(boot(read("autoinstall", `${base}iso: http://m.test/u.iso\n`)), [
    "ds=nocloud;s=http://s.test/b/",
    ["user-data", "meta-data"],
  ]);
});

test("iPXE and GRUB take each installer's arguments as they are", () => {
  const extra = {
    preseed: "",
    kickstart: "release: 9\nmirror: http://m.test/os\n",
    autoinstall: "iso: http://m.test/u.iso\n",
  };
  for (const installer of ["preseed", "kickstart", "autoinstall"] as const) {
    const profile = read(installer, `${BASE}${extra[installer]}`);
    assert.ok(profile.installer === installer);
    for (const network of [FULL.network, SMALL.network]) {
      const { kernel, commandLine: args } = installerBoot(profile, { ...HOST, network }, "http://s.test/b/");
      assert.equal(ipxeScript([{ do: "kernel", url: kernel, args }]), `#!ipxe\nkernel ${kernel} ${args.join(" ")}\n`);
      assert.equal(
        grubScript([{ do: "linux", kernel: "(http,m.test)/linux", args }]),
        `linux '(http,m.test)/linux' ${args.map((word) => `'${word}'`).join(" ")}\n`,
      );
    }
  }
});

test("Harvester's installer is started by either loader, with its cards, its file and where it reports", () => {
  const text =
    "isoUrl: http://r.test/harvester-v1.4.0-amd64.iso\nserverUrl: https://10.0.0.10\ntoken: t\ntty: tty1\nsshKeys:\n- ";
  const profile = read("harvester", text + KEY);
  assert.ok(profile.installer === "harvester");
  const report = { succeeded: "http://s.test/ok", failed: "http://s.test/no" };
  const boot = installerBoot(profile, { ...HOST, report }, "http://s.test/b/");
  assert.ok(boot.commandLine.includes("harvester.install.config_url=http://s.test/b/config.yaml"));
  const cards = "harvester.install.management_interface.interfaces=hwAddr:52:54:00:12:34:56";
  assert.ok(boot.commandLine.includes(cards), boot.commandLine.join(" "));
  const [config] = loadAll(boot.files["config.yaml"]!) as { install: { webhooks: { event: string; url: string }[] } }[];
  assert.deepEqual(
    config?.install.webhooks.map(({ event, url }) => [event, url]),
    [
      ["SUCCEEDED", report.succeeded],
      ["FAILED", report.failed],
    ],
  );
  const { kernel, commandLine: args } = boot;
  assert.match(
    ipxeScript([{ do: "kernel", url: kernel, args: ["initrd=initrd", ...args] }]),
    /vmlinuz-amd64 initrd=initrd ip=/,
  );
  assert.match(grubScript([{ do: "linux", kernel: "(http,r.test)/vmlinuz", args }]), /interfaces=hwAddr/);
  assert.throws(
    () => installerBoot(profile, { ...HOST, architecture: "aarch64" }, "http://s.test/b/"),
    /harvester: the profile is for x86_64, the host is aarch64/,
  );
});

test("a host of another architecture is refused, and one that suits is not", () => {
  const profile = read("preseed", `${BASE}architecture: aarch64\n`);
  assert.ok(profile.installer === "preseed");
  assert.throws(() => installationOf(profile, HOST), /preseed: the profile is for aarch64, the host is x86_64/);
  assert.equal(installationOf(profile, { ...HOST, architecture: "aarch64" }).architecture, "aarch64");
});

test("a Harvester profile fills each field of the join", () => {
  const text = `
isoUrl: https://r.test/harvester.iso
version: v1.4.0
architecture: aarch64
artifactsUrl: https://r.test/parts/
serverUrl: https://10.0.0.10
token: token
passwordHash: ${FULL.user.passwordHash}
sshKeys: [${KEY}]
nameServers: [10.0.0.2, 10.0.0.9]
ntpServers: [10.0.0.4]
labels: {a: b}
role: worker
tty: ttyS0
skipChecks: true
wipeAllDisks: true
bondOptions: {mode: 802.3ad, miimon: "100"}
`;
  const profile = read("harvester", text);
  assert.ok(profile.installer === "harvester");
  assert.deepEqual(harvesterJoinOf(profile, { ...HOST, network: FULL.network }), {
    isoUrl: "https://r.test/harvester.iso",
    version: "v1.4.0",
    arch: "arm64",
    artifactsUrl: "https://r.test/parts/",
    serverUrl: "https://10.0.0.10",
    token: "token",
    hostname: "rack-1-node-4",
    password: FULL.user.passwordHash,
    sshAuthorizedKeys: [KEY],
    dnsNameservers: ["10.0.0.2", "10.0.0.3", "10.0.0.9"],
    ntpServers: ["10.0.0.4"],
    labels: { a: "b" },
    role: "worker",
    device: "/dev/disk/by-id/nvme-X_1",
    tty: "ttyS0",
    skipChecks: true,
    wipeAllDisks: true,
    webhooks: [{ event: "SUCCEEDED", url: HOST.report!.succeeded }],
    management: {
      method: "static",
      interfaces: [{ hwAddr: "52:54:00:12:34:56" }],
      ip: "10.0.0.5",
      subnetMask: "255.255.255.0",
      gateway: "10.0.0.1",
      bondOptions: { mode: "802.3ad", miimon: "100" },
    },
  });
});

const wrong: readonly [Profile["installer"], string, RegExp][] = [
  ["preseed", `${BASE}colour: red\n`, /^Secret hosts\/p, profile: the whole: has no "colour"$/],
  ["preseed", BASE.replace("linux", "li nux"), /, profile: kernel: must be a URL/],
  ["preseed", `${BASE}user: 1\n`, /, profile: not YAML, line 5/],
  ["preseed", `${BASE}arguments: [a b, "x'y"]\n`, /arguments\.0: must be one word; arguments\.1: must have no quotes/],
  ["preseed", `${BASE}packages: [ok, "a b"]\n`, /packages\.1: must be the name of a package/],
  ["preseed", `${BASE}iso: http://m.test/x\n`, /has no "iso"/],
  ["kickstart", BASE, /mirror: .*release: /],
  ["kickstart", `${BASE}mirror: http://m.test\nrelease: 7\n`, /release: /],
  ["autoinstall", BASE, /iso: /],
  ["harvester", "isoUrl: x\nserverUrl: https://a\ntoken: t\n", /isoUrl: must be a URL/],
  ["ipxe", "script: /x\n", /script: must be a URL/],
  ["ipxe", "", /the whole: /],
];
for (const [at, [installer, text, message]] of wrong.entries())
  test(`a wrong profile is refused with the path of what is wrong: ${installer} ${at + 1}`, () => {
    assert.throws(
      () => read(installer, text),
      (error: unknown) => error instanceof Fault && error.code === "Invalid" && message.test(error.message),
    );
  });

test("a Secret without a profile is refused by the key's name", () => {
  assert.throws(
    () => readProfile("ipxe", { value: "x" }, "Secret a/b"),
    /^Fault: Secret a\/b: profile: the key is missing$/,
  );
});

test("a method names an installer and a profile", () => {
  assert.throws(
    () => deployMethod("install_coreos"),
    /spec\.customDeploy\.method: "install_coreos" is none of preseed, /,
  );
  assert.deepEqual(deployMethod("kickstart/rocky-9"), { installer: "kickstart", profile: "rocky-9" });
  assert.deepEqual(deployMethod("ipxe"), { installer: "ipxe" });
  for (const method of ["preseed", "preseed/", "preseed/A", "preseed/a/b", "preseed/../x"])
    assert.throws(() => deployMethod(method), /must be preseed\/NAME/, method);
});
