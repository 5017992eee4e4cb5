import assert from "node:assert/strict";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { PROFILE_KEY, readProfile } from "../../bootstrap/profile.ts";
import { netbootSettings } from "../../netboot/settings.ts";
import { readPlunderFiles, shownImport } from "./import.ts";

const CONFIG = `adapter: ens192
enableDHCP: true
dhcpConfig:
  addressDHCP: 192.168.1.10
  startDHCP: 192.168.1.100
  leasePoolDHCP: 20
  subnetDHCP: 255.255.255.0
  gatewayDHCP: 192.168.1.1
  nameserverDHCP: 192.168.1.2
enableTFTP: true
addressTFTP: 192.168.1.10
enableHTTP: true
addressHTTP: 192.168.1.10
pxePath: undionly.kpxe
bootConfigs:
- configName: preseed
  configType: preseed
  kernelPath: ubuntu/install/linux
  initrdPath: ubuntu/install/initrd.gz
  cmdline: quiet splash
  isoPath: /srv/ubuntu.iso
  isoPrefix: ubuntu
- configName: esx
  configType: vsphere
`;
const DEPLOYMENTS = JSON.stringify(
  {
    globalConfig: {
      ...{
        gateway: "192.168.1.1",
        subnet: "255.255.255.0",
        nameserver: "192.168.1.2",
        username: "ubuntu",
        password: "hunter2",
      },
      ...{
        repoaddress: "deb.example.org",
        mirrordir: "/ubuntu",
        packages: "curl vim",
        sshkeypath: "/root/id.pub",
        adapter: "ens192",
      },
    },
    deployments: [
      { mac: "00-50-56-A5-B5-F1", bootConfigName: "preseed", config: { address: "192.168.1.123", hostname: "Web 1" } },
      { mac: "00:50:56:a5:11:20", bootConfigName: "absent", config: { address: "192.168.1.124", swapDisabled: true } },
    ],
  },
  null,
  1,
);
const read = () =>
  readPlunderFiles([
    { name: "config.yaml", text: CONFIG },
    { name: "deployments.json", text: DEPLOYMENTS },
  ]);

test("each field is shown with what it becomes, or why it can't be kept, by line and path; no secret is", () => {
  const lines = shownImport(read());
  for (const line of [
    "config.yaml:1  adapter  → interface",
    "config.yaml:4  dhcpConfig.addressDHCP  can't be kept: it is the interface's address",
    "config.yaml:14  pxePath  can't be kept: the boot file follows from the machine's architecture; put one of your own into boot.files",
    "config.yaml:21  bootConfigs[0].isoPath  → boot.images.ubuntu",
    "config.yaml:24  bootConfigs[1].configType  can't be kept: ESXi is not installed; use the method ipxe with a script of your own",
    "deployments.json:11  globalConfig.sshkeypath  can't be kept: it is a file of plunder's server: write the line in it into user.sshKeys",
    "deployments.json:16  deployments[0].mac  → spec.bootMACAddress of BareMetalHost web-1",
    "deployments.json:25  deployments[1].bootConfigName  → customDeploy.method, once it is to be installed anew; there is no boot configuration of this name",
  ])
    assert.ok(lines.includes(line), `${line}\nis not in\n${lines.join("\n")}`);
  assert.ok(!lines.join("\n").includes("hunter2"));
});

test("what is written is read by what reads it here, and leaves every machine as it is", () => {
  const { files } = read();
  const settings = netbootSettings(loadAll(files["netboot.yaml"]!)[0], "netboot.yaml");
  assert.deepEqual(settings.dhcp.subnets, [
    {
      network: "192.168.1.0/24",
      pools: [{ first: "192.168.1.100", last: "192.168.1.119" }],
      gateway: "192.168.1.1",
      nameServers: ["192.168.1.2"],
    },
  ]);
  assert.deepEqual(Object.keys(settings.boot.images), ["ubuntu"]);
  const hosts = loadAll(files["hosts.yaml"]!) as { metadata: { name: string }; spec: object }[];
  assert.deepEqual(
    hosts.map(({ metadata: { name }, spec }) => [name, spec]),
    [
      ["web-1", { externallyProvisioned: true, online: true, bootMACAddress: "00:50:56:a5:b5:f1" }],
      ["host-00-50-56-a5-11-20", { externallyProvisioned: true, online: true, bootMACAddress: "00:50:56:a5:11:20" }],
    ],
  );
  const [profile] = loadAll(files["profiles.yaml"]!) as { stringData: Record<string, string> }[];
  const made = readProfile("preseed", { [PROFILE_KEY]: profile!.stringData[PROFILE_KEY]! }, "p") as {
    user: { name: string; passwordHash: string };
    mirror: string;
    arguments: string[];
    packages: string[];
  };
  const { user, mirror } = made;
  assert.deepEqual([made.arguments, made.packages, user.name], [["quiet", "splash"], ["curl", "vim"], "ubuntu"]);
  assert.match(user.passwordHash, /^\$6\$/);
  assert.equal(mirror, "http://deb.example.org/ubuntu");
  assert.ok(!Object.values(files).join("").includes("hunter2"));
});

test("answers of the API and files of pldrctl are read, too", () => {
  const answer = readPlunderFiles([
    { name: "a", text: JSON.stringify({ success: "true", payload: JSON.parse(DEPLOYMENTS) }) },
  ]);
  assert.ok(shownImport(answer).some((line) => line.startsWith("a:1  payload.globalConfig.gateway")));
  const one = "definition: deployment\nresource:\n  mac: 00:50:56:a5:b5:f1\n  bootConfigName: preseed\n";
  assert.match(shownImport(readPlunderFiles([{ name: "a", text: one }]))[0]!, /^a:3 {2}resource\.mac {2}→/);
});

test("what can't be read is named by file, line and path, and no value is shown", () => {
  const wrong = (text: string, words: RegExp): void => {
    assert.throws(
      () => readPlunderFiles([{ name: "f", text }]),
      (error: Error) => words.test(error.message) && !error.message.includes("hunter2"),
      text,
    );
  };
  wrong("deployments:\n- mac: hunter2\n  bootConfigName: x\n", /^f: line 2, deployments\[0\]\.mac: must be a MAC/);
  wrong("globalConfig:\n  swapEnabled: hunter2\n", /^f: line 2, globalConfig\.swapEnabled: there is no such field/);
  wrong("bootConfigs:\n- configName: 'hunter2 /'\n", /^f: line 2, bootConfigs\[0\]\.configName: a name is/);
  wrong("a: [hunter2", /^f: neither YAML nor JSON, line 1/);
  wrong("a: hunter2", /^f: is neither a configuration of plunder's server nor deployments/);
  wrong("definition: parlay\nresource: {}\n", /slipway parlay|is a map/);
});

const ofServer = (text: string, deployments = "deployments: []") =>
  readPlunderFiles([
    { name: "c", text },
    { name: "d", text: deployments },
  ]);
const settingsOf = (...of: Parameters<typeof ofServer>): unknown => loadAll(ofServer(...of).files["netboot.yaml"]!)[0];

test("what a configuration leaves out is plunder's default, and a part without the other is no image", () => {
  const little = { interface: "eth0", dhcp: { mode: "off" }, tftp: { enabled: false } };
  assert.deepEqual(settingsOf("adapter: eth0\n"), little);
  const reserved =
    "deployments:\n- {mac: 00:50:56:a5:b5:f1, bootConfigName: b, config: {address: 10.0.0.9, hostname: w}}\n";
  assert.deepEqual(settingsOf("adapter: eth0\n", reserved), little, "no DHCP, no reservation");
  assert.deepEqual(settingsOf("enableDHCP: true\ndhcpConfig: {addressDHCP: 10.0.0.1}\n", reserved), {
    dhcp: {
      mode: "pool",
      subnets: [{ network: "10.0.0.0/24", pools: [{ first: "10.0.0.2", last: "10.0.0.21" }] }],
      reservations: [{ mac: "00:50:56:a5:b5:f1", address: "10.0.0.9", hostName: "w" }],
    },
    tftp: { enabled: false },
  });
  for (const image of ["isoPath: /a.iso", "isoPrefix: a"])
    assert.deepEqual(settingsOf(`adapter: eth0\nbootConfigs:\n- configName: b\n  ${image}\n`), little, image);
});

test("a pool has an address at least, and none beyond the last that there is", () => {
  const pools = (dhcp: string): unknown => {
    const { subnets = [] } = (settingsOf(`enableDHCP: true\ndhcpConfig: ${dhcp}\n`) as { dhcp: { subnets?: object[] } })
      .dhcp;
    return subnets.map((subnet) => (subnet as { pools: object }).pools)[0];
  };
  assert.deepEqual(pools("{startDHCP: 10.0.0.5, leasePoolDHCP: 0}"), [{ first: "10.0.0.5", last: "10.0.0.5" }]);
  assert.deepEqual(pools("{startDHCP: 255.255.255.254, leasePoolDHCP: 2}"), [
    { first: "255.255.255.254", last: "255.255.255.255" },
  ]);
  assert.throws(() => pools("{startDHCP: 255.255.255.254, leasePoolDHCP: 3}"), {
    ...{ code: "Invalid", message: "dhcpConfig.leasePoolDHCP: more addresses than there are" },
  });
  for (const none of ["{}", "{startDHCP: 'ff00::1'}", "{startDHCP: 10.0.0.1, subnetDHCP: 255.0.255.0}"])
    assert.equal(pools(none), undefined, none);
});

test("what becomes of a boot configuration is said by its type, and of an image's half what is missing", () => {
  const said = (fields: string): string[] =>
    shownImport(ofServer(`bootConfigs:\n- {configName: b, ${fields}}\n`)).map((line) => line.replace(/^.*\]\./, ""));
  assert.deepEqual(said("configType: preseed, kernelPath: k, initrdPath: i, cmdline: c, isoPath: ''"), [
    "configName  → the name of Secret b",
    "configType  → customDeploy.method: preseed/NAME",
    "kernelPath  → kernel in Secret b, a URL that you complete",
    "initrdPath  → initrd in Secret b, a URL that you complete",
    "cmdline  → arguments in Secret b",
  ]);
  const alone = "plunder's API alone";
  assert.deepEqual(said("configType: default, kernelPath: k, initrdPath: i, cmdline: c, isoPath: /a.iso").slice(2), [
    ...[`kernelPath  → ${alone}`, `initrdPath  → ${alone}`, `cmdline  → ${alone}`],
    "isoPath  can't be kept: isoPrefix, under which it is served, is missing",
  ]);
  assert.deepEqual(said("isoPrefix: a").slice(1), ["isoPrefix  can't be kept: isoPath is missing"]);
  assert.deepEqual(said("isoPrefix: a, isoPath: /a.iso").slice(1).toSorted(), [
    ...["isoPath  → boot.images.a", "isoPrefix  → /iso/a/"],
  ]);
});

test("a profile has all that its first machine and all machines have in common", () => {
  const boots = ["preseed", "kickstart"].map(
    (type) => `- {configName: ${type}, configType: ${type}, kernelPath: http://h/k}`,
  );
  const config = "{username: u, ntpserver: '10.0.0.1, 10.0.0.2', lvmEnabled: true, swapDisabled: true, repoaddress: r}";
  const machines = `deployments:\n- {mac: 00:50:56:a5:b5:f1, bootConfigName: kickstart, config: ${config}}\n`;
  const { files } = ofServer(`bootConfigs:\n${boots.join("\n")}\n`, machines);
  const profiles = (loadAll(files["profiles.yaml"]!) as { stringData: { profile: string } }[]).map(
    ({ stringData }) => loadAll(stringData.profile)[0],
  );
  const usual = { kernel: "http://h/k", initrd: "http://NETBOOT:8080/" };
  assert.deepEqual(profiles, [
    {
      ...{ ...usual, user: { name: "", sshKeys: [] }, ntpServers: [], packages: [] },
      ...{ layout: "plain", swap: { mebibytes: 1024 } },
    },
    {
      ...{ ...usual, user: { name: "u", sshKeys: [] }, ntpServers: ["10.0.0.1", "10.0.0.2"], packages: [] },
      ...{ layout: "lvm", swap: "none", mirror: "http://r/", release: 9 },
    },
  ]);
});

test("a machine that differs from the first of its profile is named, and so are two deployments for one machine", () => {
  const machine = (mac: string, config: string): string =>
    `- {mac: 00:50:56:a5:b5:${mac}, bootConfigName: b, config: ${config}}\n`;
  const all = [machine("01", "{username: a, packages: p}"), machine("02", "{username: z, packages: p, adapter: e}")];
  const said = shownImport(readPlunderFiles([{ name: "d", text: `deployments:\n${all.join("")}` }]));
  const lost = (lines: readonly string[]): string[] => lines.filter((line) => /can't be kept|;/.test(line));
  assert.deepEqual(lost(said), [
    "d:3  deployments[1].config.adapter  can't be kept: the card is found by its MAC address",
    "d:3  deployments[1].config.username  can't be kept: machines of b share one profile, and the first has another value: make a profile of its own",
  ]);
  const twice = [machine("01", "{}"), machine("01", "{}")];
  const both = shownImport(readPlunderFiles([{ name: "d", text: `deployments:\n${twice.join("")}` }]));
  assert.deepEqual(
    lost(both).map((line) => line.slice(0, 3) + line.slice(line.indexOf(";"))),
    ["d:2; two deployments are for this machine", "d:3; two deployments are for this machine"],
  );
});
