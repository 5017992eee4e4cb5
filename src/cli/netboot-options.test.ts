import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault } from "@slipway/base";
import { Command } from "commander";
import type { NetbootSettings } from "../netboot/settings.ts";
import { addNetbootOptions, settingsOf } from "./netboot-options.ts";

/** The settings of a command line as a shell splits it. */
function settings(line: string): Promise<NetbootSettings> {
  const command = addNetbootOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  return settingsOf(command.parse(line.split(" ").filter(Boolean), { from: "user" }).opts());
}

function file(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "slipway-settings-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "netboot.yaml");
  writeFileSync(path, text);
  return path;
}

test("the command line alone is enough", async () => {
  const range = "10.20.0.100-10.20.0.149,10.20.0.160-10.20.0.169";
  const {
    dhcp,
    http,
    interface: on,
  } = await settings(
    `--interface eth1 --subnet 10.20.0.0/24 --range ${range} --gateway 10.20.0.1 --dns 10.20.0.1,10.20.0.2 --http-port 81`,
  );
  assert.deepEqual([on, dhcp.mode, http], ["eth1", "pool", { port: 81, tlsPort: 8443 }]);
  assert.deepEqual(dhcp.subnets, [
    {
      network: "10.20.0.0/24",
      pools: [
        { first: "10.20.0.100", last: "10.20.0.149" },
        { first: "10.20.0.160", last: "10.20.0.169" },
      ],
      gateway: "10.20.0.1",
      nameServers: ["10.20.0.1", "10.20.0.2"],
    },
  ]);
});

test("the file of TPMs' makers may be named by a path from here", async () => {
  const { tpmAuthorities } = await settings("--dhcp off --tpm-authorities makers.pem");
  assert.equal(tpmAuthorities, join(process.cwd(), "makers.pem"));
});

test("what the command line says goes before the file, and the rest of the file stays", async (t) => {
  const path = file(
    t,
    `interface: eth1
dhcp: { mode: pool, subnets: [{ network: 10.1.0.0/24 }], reservations: [{ mac: "52:54:00:00:00:0a" }] }
http: { tlsPort: 9443 }
boot: { unknown: disk, arguments: [quiet] }
discovery: { most: 3 }`,
  );
  const { boot, discovery, dhcp, http, ...rest } = await settings(
    `--config ${path} --interface eth2 --subnet 10.2.0.0/24 --http-port 81 --unknown wait --namespace rack --boot-files own`,
  );
  assert.equal(rest.interface, "eth2");
  assert.deepEqual(dhcp.subnets, [{ network: "10.2.0.0/24", pools: [] }]);
  assert.equal(dhcp.reservations.length, 1);
  assert.deepEqual(http, { port: 81, tlsPort: 9443 });
  assert.deepEqual([boot.unknown, boot.arguments, boot.files], ["wait", ["quiet"], resolve("own")]);
  assert.deepEqual([discovery.namespace, discovery.most], ["rack", 3]);
});

test("an empty file, or one of comments, is as none", async (t) => {
  for (const text of ["", "# nothing yet\n", "---\n"])
    assert.deepEqual(await settings(`--config ${file(t, text)} --dhcp off`), await settings("--dhcp off"));
  await assert.rejects(settings(`--config ${file(t, "")}`), /netboot\.yaml: DHCP gives addresses, and no network/);
});

test("empty parts of a file say nothing", async (t) => {
  assert.equal((await settings(`--config ${file(t, "dhcp:\nboot:")} --dhcp off`)).boot.unknown, "agent");
});

const REFUSED: [yaml: string, line: string, said: RegExp][] = [
  ["dhcp: pool", "", /^[^ ]+netboot\.yaml: dhcp: .*expected object/],
  ["dhcp: pool", "--dhcp proxy", /netboot\.yaml and the command line: dhcp: .*expected object/],
  ["- 1", "", /netboot\.yaml: settings are names with values/],
  ["just text", "", /netboot\.yaml: settings are names with values/],
  ["dhcp: { mode: off }\n---\nboot: {}", "", /netboot\.yaml: there is more than one document/],
  ["dhcp: [", "", /netboot\.yaml:1: not YAML: unexpected end/],
  ["dhcp: { mod: pool }", "", /netboot\.yaml: dhcp: .*"mod"/],
  ["interface: eth1", "", /netboot\.yaml: DHCP gives addresses, and no network/],
  ["dhcp: { mode: 'off' }", "--namespace a --subnet nonsense", /and the command line: dhcp\.subnets\.0\.network: /],
];

for (const [yaml, line, said] of REFUSED) {
  test(`settings "${yaml}" ${line} are refused with what is wrong, and where`, async (t) => {
    await assert.rejects(settings(`--config ${file(t, yaml)} ${line}`), (error) => {
      assert.ok(isFault(error, "Invalid"), String(error));
      assert.match(error.message, said);
      return true;
    });
  });
}

test("options of a network that is not named are refused", async () => {
  for (const line of ["--range 10.0.0.1-10.0.0.2", "--gateway 10.0.0.1", "--dns 10.0.0.1"])
    await assert.rejects(settings(line), /--range, --gateway and --dns belong to --subnet/);
});

test("ISO images are given by name and file, one after the other; ranges by their two ends", async () => {
  const { boot } = await settings("--dhcp off --iso debian=a.iso --iso rescue=/srv/b.iso");
  const files = Object.entries(boot.images).map(([name, { file }]) => [name, file]);
  assert.deepEqual(files, [
    ["debian", resolve("a.iso")],
    ["rescue", "/srv/b.iso"],
  ]);
  for (const wrong of ["debian", "=a.iso", "debian="])
    await assert.rejects(async () => settings(`--dhcp off --iso ${wrong}`), /Give a name and a file/, wrong);
  for (const wrong of ["10.20.0.100", "10.20.0.100-", "-10.20.0.199", "10.20.0.1-10.20.0.2-10.20.0.3"])
    await assert.rejects(
      async () => settings(`--subnet 10.20.0.0/24 --range=${wrong}`),
      /Give the first and the last address/,
      wrong,
    );
});

test("--plunder-api serves plunder's API at its usual port, at the one that is named, or at the file's", async (t) => {
  const base = "--interface eth1 --dhcp off";
  assert.deepEqual((await settings(`${base} --plunder-api`)).api, { port: 60_443, plunder: true });
  assert.deepEqual((await settings(`${base} --plunder-api 7000`)).api, { port: 7_000, plunder: true });
  const config = file(t, "api: {port: 8444}\n");
  assert.deepEqual((await settings(`${base} --config ${config} --plunder-api`)).api, { port: 8_444, plunder: true });
  assert.deepEqual((await settings(`${base} --config ${config}`)).api, { port: 8_444, plunder: false });
  assert.equal((await settings(base)).api, undefined);
});
