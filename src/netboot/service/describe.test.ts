import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault } from "@slipway/base";
import { netbootSettings } from "../settings.ts";
import { maker } from "../tpm/testing.ts";
import { describe } from "./describe.ts";

const [on] = Object.entries(networkInterfaces()).find(([, of]) =>
  of?.some(({ family, internal }) => family === "IPv4" && !internal),
) ?? [""];
const skip = on === "" && "no interface of this machine has an IPv4 address";

function folder(t: TestContext, ...files: string[]): string {
  const made = mkdtempSync(join(tmpdir(), "slipway-describe-"));
  t.after(() => rmSync(made, { recursive: true }));
  mkdirSync(join(made, "boot"));
  for (const file of files) writeFileSync(join(made, "boot", file), "a loader");
  return made;
}

function lines(t: TestContext, given: object, ...files: string[]): Promise<string[]> {
  const settings = netbootSettings({ interface: on, ...given }, "test");
  return describe({ settings, assets: folder(t, ...files), dir: "/dev/null" });
}

test("a dry run shows what would be served where, and each network with its pools", { skip }, async (t) => {
  const pools = [
    { first: "10.20.0.100", last: "10.20.0.199" },
    { first: "10.20.0.210", last: "10.20.0.219" },
  ];
  const subnets = [{ network: "10.20.0.0/24", pools }, { network: "10.21.0.0/24" }];
  const reservations = [{ mac: "52:54:00:00:00:0a", address: "10.20.0.11" }];
  const said = (await lines(t, { dhcp: { subnets, reservations }, syslog: { enabled: false } })).join("\n");
  assert.match(
    said,
    new RegExp(`^interface  ${on} \\(\\d+\\.\\d+\\.\\d+\\.\\d+\\)\nDHCP       pool, 1 reservations\n`),
  );
  assert.match(said, /\n {2}10\.20\.0\.0\/24: 10\.20\.0\.100-10\.20\.0\.199, 10\.20\.0\.210-10\.20\.0\.219\n/);
  assert.match(said, /\n {2}10\.21\.0\.0\/24\n/);
  assert.match(said, /\nTFTP {7}\S+:69\n/);
  assert.match(said, /\nsyslog {5}off\n/);
});

test("a dry run names each boot file that is missing, what comes of it, and what to do", { skip }, async (t) => {
  const none = (await lines(t, { dhcp: { mode: "off" } })).filter((line) => line.startsWith("missing"));
  assert.ok(none.length > 0);
  for (const line of none) assert.match(line, /^missing {4}\S+: .+; .+/);
  const some = await lines(t, { dhcp: { mode: "off" } }, "undionly.kpxe");
  assert.ok(some.includes("bios       undionly.kpxe"), some.join("\n"));
  assert.ok(!some.some((line) => line.startsWith("missing    boot/undionly.kpxe")), some.join("\n"));
});

test("a dry run refuses what could not be served, by its name", { skip }, async (t) => {
  const subnets = [{ network: "10.20.0.0/24", gateway: "10.21.0.1" }];
  await assert.rejects(lines(t, { dhcp: { subnets } }), /subnet 10\.20\.0\.0\/24: gateway 10\.21\.0\.1 is not in it/);
  const reservations = [{ mac: "nonsense", address: "10.20.0.11" }];
  await assert.rejects(lines(t, { dhcp: { mode: "reservations", reservations } }), /nonsense/);
  await assert.rejects(lines(t, { interface: "none0", dhcp: { mode: "off" } }), /interface none0: there is none/);
});

test("a dry run shows the script of machines that nobody knows, and the port of the API", { skip }, async (t) => {
  const boot = { script: "http://a.example/own.ipxe" };
  const said = (await lines(t, { dhcp: { mode: "off" }, boot, api: { port: 9443 } })).join("\n");
  assert.match(said, /\nunknown {4}http:\/\/a\.example\/own\.ipxe; at most 1000 hosts in namespace slipway-hosts/);
  assert.match(said, /\nAPI {8}https:\/\/[\d.]+:9443\n/);
});

test("a dry run refuses an ISO image that is not there", { skip }, async (t) => {
  const boot = { images: { debian: join(folder(t), "debian.iso") } };
  await assert.rejects(lines(t, { dhcp: { mode: "off" }, boot }), (error) => isFault(error, "MissingInput"));
});

test("a dry run counts the authorities of TPMs, and refuses a file without any", { skip }, async (t) => {
  const tpmAuthorities = join(folder(t), "makers.pem");
  writeFileSync(tpmAuthorities, (await maker("Maker")).pem);
  const said = (await lines(t, { dhcp: { mode: "off" }, tpmAuthorities })).join("\n");
  assert.match(said, /\nTPMs {7}of 1 authorities in \/.*makers\.pem\n/);
  writeFileSync(tpmAuthorities, "");
  await assert.rejects(
    lines(t, { dhcp: { mode: "off" }, tpmAuthorities }),
    /makers\.pem: there is no certificate in it/,
  );
});

test("a dry run leaves nothing in the folders that it reads", { skip }, async (t) => {
  const assets = folder(t);
  const dir = folder(t);
  await describe({ settings: netbootSettings({ interface: on, dhcp: { mode: "off" } }, "test"), assets, dir });
  assert.deepEqual([readdirSync(assets), readdirSync(dir)], [["boot"], ["boot"]]);
});
