import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "js-yaml";
import { harvesterBoot } from "./boot.ts";
import { holdScript } from "./boot-script.ts";
import type { HarvesterJoin } from "./join.ts";

const CONFIG = "https://slipway.test/boot/u/c/config";

const joinOf = (version: string, change: Partial<HarvesterJoin> = {}): HarvesterJoin => ({
  isoUrl: `https://releases.rancher.com/harvester/${version}/harvester-${version}-amd64.iso`,
  serverUrl: "https://10.0.0.10",
  token: "token-token",
  hostname: "pool-abcdefgh",
  password: "$6$salt$hash",
  device: "/dev/sda",
  tty: "ttyS1,115200n8",
  management: { method: "dhcp", bondOptions: { mode: "balance-tlb", miimon: "100" } },
  ...change,
});

test("golden: one pass passes the card that the machine booted from", () => {
  const { script } = harvesterBoot({
    join: joinOf("v1.8.1", { skipChecks: true }),
    configUrl: CONFIG,
    selfUrl: "https://slipway.test/boot/u/c/ipxe",
  });
  const base = "https://releases.rancher.com/harvester/v1.8.1";
  const root = "harvester.install.management_interface";
  assert.equal(
    script,
    `#!ipxe
:install
dhcp || goto retry
kernel ${base}/harvester-v1.8.1-vmlinuz-amd64 initrd=harvester-v1.8.1-initrd-amd64 ip=dhcp net.ifnames=1 \
rd.net.dhcp.retry=10 rd.net.timeout.dhcp=100 rd.cos.disable \
root=live:${base}/harvester-v1.8.1-rootfs-amd64.squashfs console=ttyS1,115200n8 harvester.install.automatic=true \
harvester.install.skipchecks=true harvester.scheme_version=1 ${root}.interfaces="hwAddr:\${netX/mac}" ${root}.method=dhcp \
${root}.default_route=true ${root}.bond_options.mode=balance-tlb ${root}.bond_options.miimon=100 \
harvester.install.config_url=${CONFIG} || goto retry
initrd ${base}/harvester-v1.8.1-initrd-amd64 || goto retry
boot || goto retry
:retry
echo The Harvester installer could not be loaded; next attempt in 10 seconds
imgfree
sleep 10
chain --autofree --replace https://slipway.test/boot/u/c/ipxe || goto install
goto install
`,
  );
});

test("golden: the first of two passes asks until it is answered otherwise", () => {
  assert.equal(
    holdScript("https://slipway.test/boot/u/c/ipxe"),
    `#!ipxe
:hold
echo Waiting for instructions; next question in 10 seconds
sleep 10
chain --autofree --replace https://slipway.test/boot/u/c/ipxe || goto network
:network
dhcp || goto hold
goto hold
`,
  );
});

/** As it reads before the firmware puts its own address in. */
const BOOTED = `hwAddr:\${netX/mac}`;

const CARDS = [{ hwAddr: "52:54:00:00:00:0A" }, { hwAddr: "52:54:00:00:00:0b" }];

test("the second of two passes names the cards in the boot script, and nowhere else", () => {
  const { script, config } = harvesterBoot({
    join: joinOf("v1.8.1", { management: { method: "dhcp", interfaces: CARDS } }),
    configUrl: CONFIG,
  });
  assert.match(script, /interfaces="hwAddr:52:54:00:00:00:0a" .*interfaces="hwAddr:52:54:00:00:00:0b"/);
  assert.doesNotMatch(script, /netX/);
  assert.doesNotMatch(config, /interfaces/);
});

test("a user's own script is handed over to, and the configuration names the cards", () => {
  const { script, config } = harvesterBoot({
    join: joinOf("v1.8.1", { management: { method: "dhcp", interfaces: CARDS } }),
    configUrl: CONFIG,
    userScriptUrl: "https://example.test/my.ipxe",
  });
  assert.match(script, /^chain --autofree --replace https:\/\/example.test\/my.ipxe \|\| goto pause$/m);
  assert.equal(config.match(/hwAddr/g)?.length, 2);
});

test("H20 certificates are checked unless that is switched off explicitly", () => {
  const join = joinOf("v1.8.1");
  assert.doesNotMatch(harvesterBoot({ join, configUrl: CONFIG }).script, /rd.noverifyssl/);
  assert.match(harvesterBoot({ join, configUrl: CONFIG, verifyTls: false }).script, / rd.noverifyssl /);
});

test("H17 neither token nor password stands in the boot script", () => {
  const { script } = harvesterBoot({ join: joinOf("v1.8.1"), configUrl: CONFIG });
  assert.doesNotMatch(script, /token-token|\$6\$/);
});

test("kernel arguments that the kernel would cut off are refused", () => {
  const configUrl = `https://slipway.test/${"x".repeat(1500)}`;
  assert.throws(() => harvesterBoot({ join: joinOf("v1.8.1"), configUrl }), /need \d+ bytes, the kernel keeps 2048/);
});

type Network = Record<string, unknown>;
interface Merged extends Record<string, unknown> {
  os: Record<string, string>;
  install: Record<string, unknown> & { management_interface?: Network; networks?: Record<string, Network> };
}

/** What the installer of one release works with: arguments as the base, the configuration below, lists appended. */
function merged(boot: { script: string; config: string }): Merged {
  const line = boot.script.split("\n").find((l) => l.startsWith("kernel "))!;
  const base = load(boot.config) as Merged;
  for (const word of line.split(" ").filter((w) => w.startsWith("harvester."))) {
    const eq = word.indexOf("=");
    const path = word.slice("harvester.".length, eq).split(".");
    const value = word.slice(eq + 1).replaceAll('"', "");
    let at: Record<string, unknown> = base;
    for (const key of path.slice(0, -1)) {
      at[key] ??= {};
      at = at[key] as Record<string, unknown>;
    }
    const last = path.at(-1)!;
    if (last === "interfaces") at[last] = [...((at[last] as unknown[]) ?? []), value];
    else at[last] = value;
  }
  return base;
}

for (const version of [
  "v1.1.0",
  "v1.1.3",
  "v1.2.2",
  "v1.3.2",
  "v1.4.3",
  "v1.5.0",
  "v1.6.1",
  "v1.7.0",
  "v1.8.1",
  "v1.9.0-rc6",
])
  test(`H25 the rules of ${version}'s validator hold for script and configuration together`, () => {
    const config = merged(harvesterBoot({ join: joinOf(version), configUrl: CONFIG }));
    const { install } = config;
    assert.equal(String(config.scheme_version), "1");
    assert.equal(config.server_url, "https://10.0.0.10:443");
    assert.equal(config.token, "token-token");
    assert.equal(config.os.hostname, "pool-abcdefgh");
    assert.equal(String(install.automatic), "true");
    assert.equal(install.mode, "join");
    assert.ok(install.iso_url);
    assert.ok(!("networks" in install));
    assert.deepEqual(install.management_interface!.interfaces, [BOOTED]);
    assert.equal(install.management_interface!.method, "dhcp");
    assert.equal(String(install.management_interface!.default_route), "true");
  });

for (const version of ["v1.0.0", "v1.0.3"])
  test(`the manifests of ${version} get what that installer reads`, () => {
    const config = merged(harvesterBoot({ join: joinOf(version), configUrl: CONFIG }));
    const { install } = config;
    assert.ok(!("scheme_version" in config) && !("management_interface" in install));
    assert.deepEqual(install.networks!["harvester-mgmt"]!.interfaces, [BOOTED]);
    assert.equal(install.networks!["harvester-mgmt"]!.method, "dhcp");
  });
