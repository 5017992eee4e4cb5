/** Clients that others wrote, on an Ethernet of their own. */
import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { DhcpConfig } from "../../src/netboot/dhcp/config.ts";
import { bridge } from "./bridge.ts";
import { lacking, Namespace } from "./namespace.ts";
import { Served, scratch } from "./served.ts";

const CONFIG: DhcpConfig = {
  mode: "pool",
  subnets: [
    {
      ...{ network: "10.9.0.0/24", pools: [{ first: "10.9.0.100", last: "10.9.0.199" }], gateway: "10.9.0.1" },
      ...{ nameServers: ["10.9.0.53"], domain: "rack.example", leaseSeconds: 3600, bootLeaseSeconds: 120 },
    },
  ],
  boot: { files: { bios: "undionly.kpxe", x64: "shimx64.efi", arm64: "shimaa64.efi" }, urls: {} },
};

/** Clients leave what they got to a script. */
function scriptIn(folder: string, body: string): string {
  const script = join(folder, "script");
  writeFileSync(script, `#!/bin/sh\n${body}\nexit 0\n`);
  chmodSync(script, 0o755);
  return script;
}

/** What udhcpc hands to its script, by name. */
async function udhcpc(namespace: Namespace, folder: string, args: string[] = []): Promise<Record<string, string>> {
  const script = scriptIn(folder, `[ "$1" = bound ] && env > ${folder}/env`);
  const asking = ["-i", "there", "-n", "-q", "-f", "-s", script, ...args];
  const { code, stderr } = await namespace.run("udhcpc", asking, { net: "client" });
  assert.equal(code, 0, stderr);
  const lines = readFileSync(join(folder, "env"), "utf8").split("\n");
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

test("N13 udhcpc gets an address and its network's options", { skip: await lacking("udhcpc", "perl") }, async (t) => {
  const namespace = await Namespace.open(bridge(["client"]));
  const folder = scratch(t);
  try {
    const serving = { interface: "net", config: CONFIG, leases: join(folder, "leases") };
    const served = await Served.start(namespace, serving);
    const got = await udhcpc(namespace, folder);
    assert.deepEqual(
      [got.ip, got.subnet, got.router, got.dns, got.domain, got.lease, got.serverid],
      ["10.9.0.100", "255.255.255.0", "10.9.0.1", "10.9.0.53", "rack.example", "3600", "10.9.0.1"],
    );
    await served.stop();
  } finally {
    await namespace.close();
  }
});

for (const [architecture, file] of [
  ["0000", "undionly.kpxe"],
  ["0007", "shimx64.efi"],
  ["000b", "shimaa64.efi"],
] as const)
  test(`N11 N12 N13 udhcpc that says it is firmware of architecture ${architecture} is offered ${file}, where it is, and for how long`, {
    skip: await lacking("udhcpc", "perl"),
  }, async (t) => {
    const namespace = await Namespace.open(bridge(["client"]));
    const folder = scratch(t);
    try {
      const serving = { interface: "net", config: CONFIG, leases: join(folder, "leases") };
      const served = await Served.start(namespace, serving);
      const firmware = ["-V", "PXEClient:Arch:00000:UNDI:002001", "-x", `0x5d:${architecture}`];
      const got = await udhcpc(namespace, folder, [...firmware, "-O", "tftp", "-O", "bootfile"]);
      assert.deepEqual(
        [got.boot_file, got.bootfile, got.siaddr, got.tftp, got.lease],
        [...[file, file], ...["10.9.0.1", "10.9.0.1", "120"]],
      );
      await served.stop();
    } finally {
      await namespace.close();
    }
  });

test("N10 dhclient keeps its address over its own restart and the server's, and gives it back", {
  skip: await lacking("dhclient", "perl"),
}, async (t) => {
  const namespace = await Namespace.open(bridge(["client"]));
  const folder = scratch(t);
  const script = scriptIn(folder, "ip addr replace $new_ip_address/24 dev $interface");
  const files = ["-cf", "/dev/null", "-lf", join(folder, "dhclient"), "-pf", join(folder, "pid"), "-sf", script];
  const dhclient = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await namespace.run("dhclient", ["-4", "-v", "-1", ...files, ...args, "there"], {
      net: "client",
    });
    assert.equal(code, 0, stderr);
    return stderr;
  };
  try {
    const serving = { interface: "net", config: CONFIG, leases: join(folder, "leases") };
    const before = await Served.start(namespace, serving);
    assert.match(await dhclient(), /DHCPACK of 10\.9\.0\.100 from 10\.9\.0\.1/);
    await dhclient("-x");
    await before.stop();

    const after = await Served.start(namespace, serving);
    // It asks for the address of its file at once.
    const said = await dhclient();
    assert.match(said, /DHCPREQUEST for 10\.9\.0\.100(.|\n)*DHCPACK of 10\.9\.0\.100/);
    assert.doesNotMatch(said, /DHCPDISCOVER/);
    await dhclient("-r");
    await after.next("released", { address: "10.9.0.100" });
    await after.stop();
  } finally {
    await namespace.close();
  }
});
