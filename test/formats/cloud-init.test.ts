import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { systemClock as clock, cryptoRandom, quietLog as log } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { load } from "js-yaml";
import { autoinstall } from "../../src/bootstrap/autoinstall/autoinstall.ts";
import { afterSignal, type BootRecord } from "../../src/bootstrap/boot-record.ts";
import { type BootRecords, bootService } from "../../src/bootstrap/boot-service.ts";
import { bootUrls, mintCapability } from "../../src/bootstrap/boot-url.ts";
import { settingsDrive } from "../../src/bootstrap/cloud-init/config-drive.ts";
import { noCloud } from "../../src/bootstrap/cloud-init/no-cloud.ts";
import type { Installation } from "../../src/bootstrap/installation/installation.ts";
import { includedSeed, seedSettings } from "../../src/bootstrap/installation/seed.ts";
import { FULL, SMALL, settingsOf } from "../../src/bootstrap/installation/testing.ts";
import { hostConfigDrive } from "../../src/inventory/hosts/config-drive.ts";
import { hostileSamples, SAMPLES } from "./samples.ts";
import { cloudInit, pythonReaders } from "./tools.ts";

/** Boots that are kept in this process. */
function bootsOf(record: BootRecord): BootRecords {
  let held = record;
  return {
    load: async () => held,
    async note(_, signal) {
      held = afterSignal(held, signal);
      return held;
    },
  };
}

const [init, readers] = [await cloudInit(process.env), await pythonReaders(process.env)];
const skip = "missing" in init ? init.missing : false;
const ask = "tool" in init ? init.tool : (undefined as never);
const withoutPython = "missing" in readers ? readers.missing : false;
const askPython = "tool" in readers ? readers.tool : (undefined as never);

const IMAGE = { instanceId: "i-1", packageManager: "apt" } as const;
const filesOf = (installation: Installation) => noCloud(settingsOf(installation), IMAGE);

test("N27 cloud-init's schema takes all user data, subiquity's as well", { skip }, async () => {
  const { mirror: _, ...settings } = settingsOf(FULL);
  const texts = [
    ...SAMPLES.flatMap(([, sample]) => [filesOf(sample)["user-data"], autoinstall(sample)["user-data"]]),
    noCloud(settings, { ...IMAGE, packageManager: "dnf" })["user-data"],
  ];
  assert.deepEqual(
    await ask("schema", { texts }),
    texts.map(() => null),
  );
});

test("the schema refuses what is none", { skip }, async () => {
  const [wrong] = await ask<string[]>("schema", { texts: ["#cloud-config\nruncmd: 5\n"] });
  assert.match(wrong!, /runcmd: 5 is not of type 'array'/);
});

test("N27 subiquity's own schema takes every file", {
  skip:
    process.env.SUBIQUITY_SCHEMA === undefined &&
    "SUBIQUITY_SCHEMA names no autoinstall-schema.json; no registry has it",
}, async () => {
  const schema = process.env.SUBIQUITY_SCHEMA!;
  assert.match(readFileSync(schema, "utf8"), /early-commands/);
  const values = SAMPLES.map(
    ([, sample]) => (load(autoinstall(sample)["user-data"]) as { autoinstall: object }).autoinstall,
  );
  assert.deepEqual(
    await askPython("json_schema", { schema, values }),
    values.map(() => []),
  );
});

test("YAML 1.1 reads each file as it was meant, hostile texts included", { skip: withoutPython }, async () => {
  const hostile = hostileSamples((sample) => [filesOf(sample)["user-data"], autoinstall(sample)["user-data"]], 200);
  assert.equal(hostile.length, 200);
  const usual = SAMPLES.flatMap(([, sample]) => Object.values(filesOf(sample)));
  // Six pairs of digits below 60 are a number to YAML 1.1, were they not quoted.
  const digits = filesOf({ ...FULL, network: { mac: "52:54:00:12:34:56", method: "dhcp" } })["network-config"];
  const texts = [...usual, digits, ...hostile.flatMap(({ written }) => written)];
  assert.deepEqual(
    await askPython("yaml", { texts }),
    texts.map((text) => load(text)),
  );
});

const STATIC = {
  eni: /address 10\.0\.0\.5\/24[\s\S]*default gw 10\.0\.0\.1/,
  netplan: /10\.0\.0\.5\/24[\s\S]*to: 0\.0\.0\.0\/0\s+via: 10\.0\.0\.1/,
  network_manager: /address1=10\.0\.0\.5\/24[\s\S]*(route1=0\.0\.0\.0\/0,|gateway=)10\.0\.0\.1/,
  networkd: /Address=10\.0\.0\.5\/24[\s\S]*Gateway=10\.0\.0\.1/,
  sysconfig: /GATEWAY=10\.0\.0\.1[\s\S]*IPADDR=10\.0\.0\.5/,
};
const DYNAMIC = {
  eni: /inet dhcp/,
  netplan: /dhcp4: true/,
  network_manager: /method=auto/,
  networkd: /DHCP=ipv4/,
  sysconfig: /BOOTPROTO=dhcp/,
};

for (const [kind, sample, expected] of [
  ["static", FULL, STATIC],
  ["dynamic", SMALL, DYNAMIC],
] as const) {
  test(`every renderer of cloud-init makes a ${kind} network of NoCloud's`, { skip }, async () => {
    const files = await ask<Record<string, string>>("network", { text: filesOf(sample)["network-config"] });
    for (const [renderer, pattern] of Object.entries(expected)) {
      assert.match(files[renderer] ?? "", pattern, renderer);
      assert.match(files[renderer]!, /52:54:00:12:34:56/, renderer);
    }
  });

  test(`every renderer of cloud-init makes a ${kind} network of a config drive's`, { skip }, async () => {
    const files = settingsDrive(settingsOf(sample), IMAGE);
    const { metadata, userdata, network } = await ask<Drive>("drive", { files });
    assert.equal(metadata["instance-id"], "i-1");
    assert.equal(metadata["local-hostname"], sample.hostname);
    assert.equal(userdata, files["openstack/latest/user_data"]);
    for (const [renderer, pattern] of Object.entries(expected))
      assert.match(network[renderer] ?? "", pattern, renderer);
  });
}

interface Drive {
  metadata: Record<string, unknown>;
  userdata: string;
  network: Record<string, string>;
}

test("cloud-init reads a host's config drive: Metal3's metadata, user data byte by byte, and the network", {
  skip,
}, async () => {
  const userData = "#!/bin/sh\necho 'ü \"$HOME\"'\r\n";
  const networkData = `
links: [{id: a, type: phy, ethernet_mac_address: "52:54:00:12:34:56"}]
networks: [{id: n, type: ipv4, link: a, ip_address: 10.0.0.5, netmask: 255.255.255.0, routes: [{network: 0.0.0.0, netmask: 0.0.0.0, gateway: 10.0.0.1}]}]
services: []
`;
  const files = hostConfigDrive(
    { name: "host-0", namespace: "metal", uid: "u-1" },
    {
      userData: { value: userData },
      networkData: { networkData },
      metaData: { metaData: "local-hostname: machine-1\n" },
    },
  );
  const { metadata, userdata, network } = await ask<Drive>("drive", { files });
  assert.equal(metadata["instance-id"], "u-1");
  assert.deepEqual([metadata["local-hostname"], metadata["metal3-name"]], ["machine-1", "host-0"]);
  assert.equal(userdata, userData);
  for (const [renderer, pattern] of Object.entries(STATIC)) assert.match(network[renderer] ?? "", pattern, renderer);
});

test("N44 N3 cloud-init in an installed system finds its bootstrap data at the boot service by what the installer wrote, once; so it does by a config drive", {
  skip,
}, async (t) => {
  const config = "## template: jinja\n#cloud-config\nruncmd: [kubeadm join --config {{ v1.instance_id }}]\n";
  const metaData = 'instance-id: "52:54:00:12:34:56"\nlocal-hostname: worker\n';
  const begin = async () => {
    const capability = mintCapability(cryptoRandom);
    const record = { capability, expiresAt: clock.now() + 3_600_000, script: "", config, metaData };
    const asked: string[] = [];
    const answer = bootService({ records: bootsOf(record), clock, log });
    const server = await serveHttp(
      async (request) => {
        asked.push(request.url.replace(/.*\//, ""));
        return await answer(request);
      },
      { host: "127.0.0.1", port: 0 },
    );
    t.after(() => server.close());
    return { asked, seed: bootUrls(server.url, "uid-1", capability)["meta-data"].replace(/meta-data$/, "") };
  };
  const disk = await begin();
  const settings = `${seedSettings(disk.seed, { users: "kept" }).join("\n")}\n`;
  assert.deepEqual(await ask("seed", { settings }), {
    found: true,
    metadata: {
      ...{ seedfrom: disk.seed, dsmode: "net", "instance-id": "52:54:00:12:34:56", "local-hostname": "worker" },
    },
    userdata: config,
  });
  assert.deepEqual(disk.asked, ["meta-data", "user-data", "vendor-data"]);
  const drive = await begin();
  assert.deepEqual(await ask("seed", { included: includedSeed(drive.seed) }), { parts: [["text/jinja2", config]] });
});
