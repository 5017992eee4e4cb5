/** From other systems to hosts that are left as they are: what docs/migration-*.md say, on simulated servers with systems on their disks. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Draft } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { type InventoryWorld, MINUTE, rack } from "./inventory-world.ts";

const skip = spawnSync("jq", ["--version"]).error === undefined ? false : "not installed: jq";
const ROOT = join(import.meta.dirname, "../..");

type Item = Draft<BareMetalHost> & { kind: string; stringData?: Record<string, string> };

/** What the page's command makes of these files. Fails with what jq says. */
function converted(t: TestContext, page: string, files: Readonly<Record<string, unknown>>): Item[] {
  const command = /^jq .*-f (examples\/inventory\/\S+) .*>hosts\.json$/m.exec(readFileSync(join(ROOT, page), "utf8"));
  assert.ok(command !== null, `${page} has the command`);
  const folder = mkdtempSync(join(tmpdir(), "slipway-migration-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
  const line = command[0].replace(command[1]!, join(ROOT, command[1]!));
  const { status, stderr } = spawnSync("sh", ["-c", line], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return (JSON.parse(readFileSync(join(folder, "hosts.json"), "utf8")) as { items: Item[] }).items;
}

/** Applies them where a system runs on each server, as before. */
async function apply(world: InventoryWorld, items: readonly Item[]): Promise<string[]> {
  const hosts = items.filter(({ kind }) => kind === "BareMetalHost");
  for (const { metadata } of hosts) {
    const server = world.rack(metadata.name!);
    server.disks[0]!.content = LEFT_OVER;
    server.bootFirst = "disk";
    server.on();
  }
  for (const { kind: _, ...draft } of items.filter(({ kind }) => kind === "Secret"))
    await world.whileTimePasses(world.client.create(Secret, draft as Draft<Secret>));
  for (const { kind: _, ...draft } of hosts) await world.whileTimePasses(world.client.create(BareMetalHost, draft));
  return hosts.map(({ metadata }) => metadata.name!);
}

const machine = (n: number, more: object) => ({
  ...{ system_id: `abc${n}`, hostname: `node-${n}`, power_state: "on", status_name: "Deployed", node_type: 0 },
  ...{ zone: { name: "rack 1", id: 1 }, pool: { name: "default", id: 0 }, bios_boot_method: "uefi" },
  boot_interface: { mac_address: `52:54:00:00:00:0${n}`, name: "eno1" },
  ...more,
});
const LOGIN = { power_user: "admin", power_pass: "right" };

test("what MAAS exports becomes hosts whose machines go on as they were; the one that is given up is wiped, and no other", {
  skip,
}, async (t) => {
  const machines = [
    machine(1, { power_type: "ipmi", hostname: "Node-1" }),
    machine(2, { power_type: "redfish", power_state: "unknown" }),
    machine(3, { power_type: "manual", power_state: "unknown", bios_boot_method: null }),
  ];
  const power = { abc1: { power_address: "node-1", ...LOGIN }, abc2: { power_address: "node-2", ...LOGIN }, abc3: {} };
  const items = converted(t, "docs/migration-from-maas.md", { "machines.json": machines, "power.json": power });
  const world = await rack(t);
  const names = await apply(world, items);
  assert.deepEqual(names, ["node-1", "node-2", "node-3"]);
  for (const name of ["node-1", "node-2"]) await world.reaches(name, "externally provisioned");
  await world.reaches("node-3", "unmanaged");
  await world.clock.run(60 * MINUTE);
  const untouched = (name: string): void => {
    const { starts, running, disks } = world.servers.get(name)!;
    assert.deepEqual([starts, running?.is, disks[0]?.content], [1, "system", LEFT_OVER], name);
  };
  names.forEach(untouched);

  const given = world.servers.get("node-2")!;
  given.bootFirst = "network";
  await world.change("node-2", { spec: { externallyProvisioned: false } });
  await world.reaches("node-2", "available");
  assert.equal(given.disks[0]?.content, undefined);
  untouched("node-1");
  untouched("node-3");
});

test("MAAS' addresses of BMCs become those of the hosts, and two machines of one name are refused", { skip }, (t) => {
  const address = (type: string, parameters: object): unknown => {
    const files = { "machines.json": [machine(1, { power_type: type })], "power.json": { abc1: parameters } };
    const host = converted(t, "docs/migration-from-maas.md", files).find(({ kind }) => kind === "BareMetalHost");
    assert.equal(host?.spec.externallyProvisioned, true);
    return host.spec.bmc?.address;
  };
  assert.equal(address("ipmi", { power_address: "10.0.0.1" }), "ipmi://10.0.0.1");
  assert.equal(address("ipmi", { power_address: "fd00::1" }), "ipmi://[fd00::1]");
  assert.equal(address("redfish", { power_address: "https://bmc.lan:8443/" }), "redfish://bmc.lan:8443");
  assert.equal(address("redfish", { power_address: "http://bmc.lan" }), "redfish+http://bmc.lan");
  assert.equal(address("redfish", { power_address: "a", node_id: "1" }), "redfish://a/redfish/v1/Systems/1");
  for (const type of ["virsh", "lxd", "manual", "webhook"])
    assert.equal(address(type, { power_address: "a" }), undefined);
  const twice = { "machines.json": [machine(1, {}), machine(2, { hostname: "NODE-1" })], "power.json": {} };
  assert.throws(() => converted(t, "docs/migration-from-maas.md", twice), /several machines are called/);
});

test("plunder's deployments become hosts whose machines go on as they were", { skip }, async (t) => {
  const deployments = [
    { mac: "52-54-00-00-00-01", bootConfigName: "preseed", config: { address: "10.0.0.5", hostname: "Web-1" } },
    { mac: "52:54:00:00:00:0A", bootConfigName: "preseed", config: {} },
  ];
  const answer = { success: "true", payload: { globalConfig: { username: "ops" }, deployments } };
  const items = converted(t, "docs/migration-from-plunder.md", { "deployments.json": answer });
  const world = await rack(t);
  const names = await apply(world, items);
  assert.deepEqual(names, ["web-1", "host-52-54-00-00-00-0a"]);
  assert.deepEqual(
    items.map(({ spec }) => spec.bootMACAddress),
    ["52:54:00:00:00:01", "52:54:00:00:00:0a"],
  );
  for (const name of names) await world.reaches(name, "unmanaged");
  await world.clock.run(60 * MINUTE);
  for (const name of names) assert.deepEqual(world.servers.get(name)!.disks[0]?.content, LEFT_OVER);
});
