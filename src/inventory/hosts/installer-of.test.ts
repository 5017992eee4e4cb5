import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { type Client, keyOf } from "@slipway/kube";
import { ConfigMap, Secret } from "@slipway/kube/core";
import type { Host } from "../../netboot/hosts/host.ts";
import { INVENTORY, MAC } from "../discovery/testing.ts";
import { installerOf } from "./installer-of.ts";
import { factsOf } from "./testing.ts";

type Texts = Record<string, string>;
const URLS = { folder: "http://slipway/f/", succeeded: "http://slipway/ok", failed: "http://slipway/no" };
const PROFILE = `kernel: http://images/linux
initrd: http://images/initrd
user: { name: ops, sshKeys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA a"] }
`;
const SCRIPTED = "script: http://web/boot.ipxe\n";

interface Of {
  spec?: object;
  secrets?: Record<string, Texts>;
  maps?: Record<string, Texts>;
  machine?: Partial<Host>;
}

async function written(method: string | undefined, { spec, secrets = {}, maps = {}, machine = {} }: Of = {}) {
  const client = {
    async find(kind: unknown, ref: { name: string; namespace: string }) {
      assert.equal(ref.namespace, "metal", keyOf(ref));
      const encoded = Object.entries(secrets[ref.name] ?? {}).map(([key, text]) => [
        key,
        Buffer.from(text).toString("base64"),
      ]);
      if (kind === Secret) return secrets[ref.name] && { data: Object.fromEntries(encoded) };
      assert.equal(kind, ConfigMap);
      return maps[ref.name] && { data: maps[ref.name] };
    },
  } as unknown as Client;
  const customDeploy = method === undefined ? {} : { customDeploy: { method } };
  const { host } = factsOf("provisioning", { spec: { ...customDeploy, ...spec } });
  const seen = { mac: MAC, inventory: INVENTORY, ...machine } as Host;
  return (await installerOf(host, seen, client))(URLS);
}
const refused = (code: string, text: RegExp, work: Promise<unknown>) =>
  assert.rejects(work, (error) => {
    assert.ok(isFault(error), String(error));
    assert.equal(error.code, code, error.advice);
    assert.match(error.advice, text);
    return true;
  });
const script = (texts: Texts) => written("ipxe", { secrets: { own: texts }, spec: { userData: { name: "own" } } });

test("a script of the user's own is offered as a file, and one by its address as that", async () => {
  const own = "#!ipxe\nboot\n";
  assert.deepEqual(await script({ script: own }), {
    start: { is: "script", url: "http://slipway/f/script.ipxe", settings: {} },
    ...{ files: { "script.ipxe": own }, reports: false },
  });
  assert.deepEqual(await script({ scriptURL: " https://web/a.ipxe\n", report: "true\n" }), {
    start: {
      ...{ is: "script", url: "https://web/a.ipxe" },
      settings: { "slipway-succeeded": URLS.succeeded, "slipway-failed": URLS.failed },
    },
    ...{ files: {}, reports: true },
  });
  assert.equal((await script({ script: own, report: "false" })).reports, false);
});

test("a Secret that is no script is refused by its key, and its values are not repeated", async () => {
  await refused("MissingInput", /spec\.userData: the method ipxe needs a script; name a Secret/, written("ipxe"));
  await refused("Invalid", /one of the keys script and scriptURL; name a Secret/, script({}));
  await refused("Invalid", /one of the keys/, script({ script: "#!ipxe", scriptURL: "http://web" }));
  await refused("Invalid", /key report: must be true or false/, script({ script: "#!ipxe", report: "yes" }));
  await refused("Invalid", /key script: must begin with #!ipxe/, script({ script: "boot" }));
  for (const scriptURL of ["ftp://web/a", "http://we b/a", "http://[/a", "web"])
    await refused("Invalid", /^(?!.*web\/).*key scriptURL: must be a URL/, script({ scriptURL }));
});

test("a profile is in the Secret or the ConfigMap of its name beside the host, and not in both", async () => {
  const at = { start: { is: "script", url: "http://web/boot.ipxe", settings: {} }, files: {}, reports: false };
  assert.deepEqual(await written("ipxe/p", { secrets: { p: { profile: SCRIPTED } } }), at);
  assert.deepEqual(await written("ipxe/p", { maps: { p: { profile: SCRIPTED } } }), at);
  assert.equal((await written("ipxe/p", { maps: { p: { profile: `${SCRIPTED}report: true\n` } } })).reports, true);
  const both = { secrets: { p: { profile: SCRIPTED } }, maps: { p: { profile: SCRIPTED } } };
  await refused("Invalid", /a Secret and a ConfigMap metal\/p; delete one/, written("ipxe/p", both));
  await refused("MissingInput", /neither a Secret nor a ConfigMap metal\/p; create it/, written("ipxe/p"));
  await refused("Invalid", /Secret metal\/p/, written("ipxe/p", { secrets: { p: { profile: "script: 7" } } }));
  await refused("Invalid", /ConfigMap metal\/p/, written("ipxe/p", { maps: { p: { profile: "script: 7" } } }));
});

test("what a profile has no place for is refused", async () => {
  const maps = { p: { profile: SCRIPTED } };
  for (const field of ["userData", "metaData"]) {
    const secrets = { own: { userData: "#cloud-config" } };
    const work = written("ipxe/p", { maps, secrets, spec: { [field]: { name: "own" } } });
    await refused(
      "Invalid",
      new RegExp(`spec\\.${field}: the installer ipxe is given its profile alone; put it`),
      work,
    );
  }
});

test("N44 the address of the installed system's data is in what installs it, and is refused where it is none", async () => {
  const seedURL = "http://slipway/boot/1/";
  const by = (method: string, profile: string, url = seedURL) =>
    written(method, { maps: { p: { profile } }, secrets: { s: { seedURL: url } }, spec: { userData: { name: "s" } } });
  for (const [method, profile] of [
    ["preseed/p", PROFILE],
    ["kickstart/p", `${PROFILE}release: 9\nmirror: http://images/rocky\n`],
    ["autoinstall/p", `${PROFILE}iso: http://images/noble.iso\n`],
  ] as const) {
    const { files, start } = await by(method, profile);
    assert.ok(JSON.stringify(files).includes(seedURL), method);
    assert.ok(!JSON.stringify(start).includes(seedURL), method);
  }
  const { start } = await by("ipxe/p", SCRIPTED);
  assert.deepEqual(start, { is: "script", url: "http://web/boot.ipxe", settings: { "slipway-seed": seedURL } });
  for (const url of ["ftp://x/", "http://x/y", "http://x/'/"])
    await refused("Invalid", /^(?!.*x\/).*key seedURL: must be a URL/, by("preseed/p", PROFILE, url));
  const harvester =
    "isoUrl: http://images/h.iso\nserverUrl: https://vip:443\ntoken: t\nversion: v1.4.0\nartifactsUrl: http://images\n";
  await refused("Invalid", /Harvester joins its own cluster by its profile/, by("harvester/p", harvester));
});

test("an installer is given the disk and the network of the host, and reports its end", async () => {
  const maps = { p: { profile: PROFILE } };
  const offer = await written("preseed/p", { maps });
  assert.ok(offer.start.is === "kernel");
  assert.deepEqual([offer.start.kernel, offer.reports, "address" in offer], ["http://images/linux", true, false]);
  const files = JSON.stringify(offer.files);
  assert.match(files, /nvme-X_1/);
  assert.match(files, /http:\/\/slipway\/ok/);
  const network = JSON.stringify({
    links: [{ id: "a", type: "phy", ethernet_mac_address: MAC }],
    networks: [{ link: "a", type: "ipv4", ip_address: "10.0.0.7", netmask: "255.255.255.0", gateway: "10.0.0.1" }],
  });
  for (const key of ["networkData", "value"]) {
    const fixed = await written("preseed/p", {
      maps,
      secrets: { net: { [key]: network } },
      spec: { networkData: { name: "net" } },
    });
    assert.equal(fixed.address, "10.0.0.7", key);
  }
  const spec = { networkData: { name: "net" } };
  const other = written("preseed/p", { maps, secrets: { net: { other: network } }, spec });
  await refused("Invalid", /spec\.networkData.*neither the key networkData nor the key value/, other);
  await refused(
    "Conflict",
    /has not reported its disks/,
    written("preseed/p", { maps, machine: { inventory: undefined as never } }),
  );
});

test("an installer sets up the card that the host boots from: the declared one, else the one that was seen", async () => {
  const maps = { p: { profile: PROFILE } };
  const mac = "52:54:00:00:00:77";
  const seen = await written("preseed/p", { maps });
  const declared = await written("preseed/p", { maps, spec: { bootMACAddress: mac } });
  const texts = [seen, declared].map((each) => JSON.stringify(each));
  assert.deepEqual([texts[0]!.includes(MAC), texts[1]!.includes(mac), texts[1]!.includes(MAC)], [true, true, false]);
});
