import assert from "node:assert/strict";
import { test } from "node:test";
import type { Host } from "../../netboot/hosts/host.ts";
import { inventoryOf } from "../../netboot/hosts/testing.ts";
import type { BootConfig } from "../files/boot-config.ts";
import type { Deployment } from "../files/deployment.ts";
import { bootProblem, imageOrderOf, installOf, prefixOf, type Surroundings, urlOf, withoutEffect } from "./offer.ts";

const MAC = "52:54:00:00:00:0a";
const URLS = { folder: "http://192.0.2.1/f/", succeeded: "http://192.0.2.1/s", failed: "http://192.0.2.1/e" };
const CLAIM = { id: "c-1", holder: "PlunderMachine/c-1", seedUrl: "http://192.0.2.1/seed/", createdAt: 0 };
const HOST = { name: "h-1", mac: MAC, macs: [MAC], inventory: inventoryOf(MAC) } as unknown as Host;

const key = (line: string): string => Buffer.from(line).toString("base64");
const USER = { username: "ubuntu", sshkey: key("ssh-ed25519 CCCC me") };
const boot = (more: Partial<BootConfig> = {}): BootConfig =>
  ({
    configName: "b",
    configType: "preseed",
    kernelPath: "a/linux",
    initrdPath: "a/initrd",
    cmdline: "",
    ...more,
  }) as BootConfig;
const deployment = (config: object = {}): Deployment =>
  ({ mac: MAC, bootConfigName: "b", config: { ...USER, ...config } }) as Deployment;
const around = (more: Partial<Surroundings> = {}): Surroundings => ({
  ...{ globalConfig: {} as never, boot: boot(), url: "http://192.0.2.1:8080", images: ["debian"] },
  ...more,
});
const given = (config: object, more: Partial<Surroundings> = {}, claim?: typeof CLAIM) =>
  installOf({ deployment: deployment(config), ...(claim && { claim }) }, HOST, around(more))(URLS as never);
/** All that the machine reads: its command line and its files. */
const read = (...args: Parameters<typeof given>): string => {
  const { start, files } = given(...args);
  return [start.is === "kernel" ? start.commandLine.join(" ") : "", ...Object.values(files as object)].join("\n");
};

test("N25 kernel, initrd and command line alone are started as they are, and nobody is asked how it ended", () => {
  const plain = boot({
    configType: "default",
    kernelPath: "/debian/linux",
    initrdPath: "http://10.0.0.9/initrd",
    cmdline: "a=1,  b",
  });
  const { start, files, reports } = given({}, { boot: plain });
  assert.deepEqual(start, {
    ...{ is: "kernel", kernel: "http://192.0.2.1:8080/iso/debian/linux", initrd: "http://10.0.0.9/initrd" },
    commandLine: ["a=1", "b"],
  });
  assert.deepEqual([files, reports], [{}, false]);
  assert.match(read({}, { boot: plain }, CLAIM), /ds=nocloud;s=http:\/\/192\.0\.2\.1\/seed\/$/m);
});

test("a path is of netboot's files, or of an image whose name it begins with, or an URL as it is", () => {
  const url = (path: string) => urlOf(path, "http://h", ["debian"]);
  assert.deepEqual(["/a/b", "debian/linux", "//debian/linux", "debianx/linux", "https://x/y"].map(url), [
    "http://h/a/b",
    "http://h/iso/debian/linux",
    "http://h/iso/debian/linux",
    "http://h/debianx/linux",
    "https://x/y",
  ]);
});

test("N26 a machine's own settings go before those of all, and each has its effect", () => {
  const globalConfig = {
    username: "all",
    packages: "curl",
    gateway: "10.0.0.1",
    nameserver: "10.0.0.53",
    subnet: "255.255.240.0",
  };
  const text = read(
    {
      username: "own",
      address: "10.0.0.9",
      hostname: "WEB-1",
      ntpserver: "10.0.0.123",
      repoaddress: "deb.example",
      mirrordir: "/u",
    },
    { globalConfig: globalConfig as never },
  );
  for (const word of ["own", "curl", "10.0.0.9", "255.255.240.0", "10.0.0.53", "web-1", "10.0.0.123", "deb.example"])
    assert.ok(text.includes(word), word);
  assert.doesNotMatch(text, /username.* all\b/);
  assert.equal(given({ address: "10.0.0.9" }).address, "10.0.0.9");
  assert.ok(!("address" in given({})), "DHCP's address is not known");
  assert.match(read({ address: "10.0.0.9" }), /255\.255\.255\.0/, "the usual mask, and no name server");
});

test("N26 a key that is let in is the deployment's, and netboot's own beside it", () => {
  const text = read({ sshkey: key("ssh-ed25519 AAAA me\n") }, { ownKey: "ssh-ed25519 BBBB netboot" });
  assert.ok(text.includes("AAAA me") && text.includes("BBBB netboot"));
  assert.throws(() => given({ sshkey: key("-----BEGIN") }), { code: "Invalid", message: /config.sshkey/ });
});

for (const [what, config, message] of [
  ["nobody logs in", { username: "" }, /config.username/],
  ["a mask is none", { address: "10.0.0.9", subnet: "255.0.255.0" }, /config.subnet/],
] as const)
  test(`N29 an installation is refused before its machine asks: ${what}`, () => {
    assert.throws(() => given(config), { code: "Invalid", message });
  });

test("a machine whose agent has not reported its disks is waited for, and what is no installer is refused", () => {
  const blank = { ...HOST, inventory: undefined } as unknown as Host;
  assert.throws(() => installOf({ deployment: deployment() }, blank, around()), { code: "Conflict", on: "h-1" });
  assert.throws(() => given({}, { boot: boot({ configType: "booty" }) }), { code: "Unsupported" });
});

test("N26 a mask is read as its prefix, and what is none is not", () => {
  assert.deepEqual(["128.0.0.0", "255.255.255.0", "255.255.255.255"].map(prefixOf), [1, 24, 32]);
  for (const mask of ["255.0.255.0", "0.0.0.0", "ffff::", "24", ""]) assert.equal(prefixOf(mask), undefined, mask);
});

const image = { sourceImage: "http://10.0.0.9/a.img" };
const ordered = (config: object, claim?: typeof CLAIM) =>
  imageOrderOf({ deployment: deployment(config), ...(claim && { claim }) }, { globalConfig: {} as never });

test("N26 an image is written to the disk that is named, compressed or not, with what its cloud-init reads for a claim", () => {
  assert.deepEqual(ordered(image), { order: "write", image: image.sourceImage });
  assert.deepEqual(ordered({ ...image, bootyAction: "", compressed: true, destinationDevice: "/dev/sdb" }), {
    ...{ order: "write", image: image.sourceImage, format: "gz", disk: "/dev/sdb" },
  });
  const { label, data } = ordered({ ...image, hostname: "w1" }, CLAIM) as {
    label?: string;
    data?: Record<string, string>;
  };
  assert.equal(label, "cidata");
  assert.deepEqual(JSON.parse(data!["meta-data"]!), { "instance-id": MAC, "local-hostname": "w1" });
  assert.match(data!["user-data"]!, /http:\/\/192\.0\.2\.1\/seed\//);
});

test("N26 an image is not read from a machine, and comes from an URL", () => {
  assert.throws(() => ordered({ ...image, bootyAction: "readImage" }), { code: "Unsupported", message: /bootyAction/ });
  for (const sourceImage of [undefined, "", "/a.img", "http://a b"])
    assert.throws(() => ordered({ sourceImage }), { code: "Invalid", message: /sourceImage/ });
});

test("N26 a field is without effect by the type of installation", () => {
  const idle = (configType: string, config: object) =>
    withoutEffect({ config: config as never }, boot({ configType })).toSorted();
  const names = { address: "10.0.0.9", hostname: "w", adapter: "eth0" };
  const empty = { packages: "", compressed: false, username: undefined };
  for (const type of ["preseed", "kickstart", "booty", "default"])
    assert.deepEqual(idle(type, { ...names, ...empty }), []);
  assert.deepEqual(idle("preseed", { packages: "curl", sshkeypath: "/k", ...image, destinationDevice: "/dev/sdb" }), [
    ...["sourceImage", "sshkeypath"],
  ]);
  assert.deepEqual(idle("booty", { packages: "curl", ...image, compressed: true, growPartition: 1 }), [
    ...["growPartition", "packages"],
  ]);
  assert.deepEqual(idle("default", { packages: "curl", ...image, destinationDevice: "/dev/sdb" }), [
    ...["destinationDevice", "packages", "sourceImage"],
  ]);
});

for (const [what, of, message] of [
  ["ESXi", { configType: "vsphere" }, /^configType: ESXi/],
  ["Harvester", { configType: "harvester" }, /^configType: Harvester/],
  ["a script", { configType: "ipxe" }, /^configType: a script/],
  ["GRUB", { configType: "grub" }, /^configType: GRUB/],
  ["no kernel", { kernelPath: "" }, /^kernelPath, initrdPath/],
  ["no initrd", { initrdPath: "" }, /^kernelPath, initrdPath/],
  ["an ISO that is not served", { isoPath: "/a.iso", isoPrefix: "ubuntu" }, /^isoPath: an image is served/],
  ["autoinstall without an URL", { configType: "autoinstall", isoPath: "/a.iso" }, /^isoPath: must be the URL/],
  ["nothing", {}, undefined],
  ["nothing: an ISO that is served", { isoPath: "/a.iso", isoPrefix: "debian" }, undefined],
  ["nothing: autoinstall by URL", { configType: "autoinstall", isoPath: "http://h/a.iso" }, undefined],
  ["nothing: an image needs no kernel", { configType: "booty", kernelPath: "", initrdPath: "" }, undefined],
] as const)
  test(`N32 why no machine is installed by a boot configuration: ${what}`, () => {
    const problem = bootProblem(boot(of), ["debian"]);
    if (message === undefined) assert.equal(problem, undefined);
    else assert.match(problem!, message);
  });
