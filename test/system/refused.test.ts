/** What can never work is refused when it is applied (point 20); what ever worked, and what the addon writes, is taken. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { loadAll } from "js-yaml";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { HarvesterWorld } from "./harvester-world.ts";

async function in_(work: (world: HarvesterWorld) => Promise<void>): Promise<void> {
  const world = await HarvesterWorld.create();
  try {
    await work(world);
  } finally {
    await world.close();
  }
}

const network = (of: object) => ({ networkingConfiguration: of });
const vlans = (...vlanIDS: (string | null)[]) => network({ interfaceConfiguration: [{ name: "bond0", vlanIDS }] });

const REFUSED: readonly [what: string, spec: object, says: RegExp][] = [
  ["an unknown network mode", network({ type: "token-ring" }), /networkingConfiguration\.type/],
  ["a VLAN of no known shape", vlans("bond0 7"), /vlanIDS/],
  ["VLAN 0", vlans("0"), /vlanIDS/],
  ["VLAN 4095", vlans("4095"), /vlanIDS/],
  ["an empty VLAN", vlans(""), /vlanIDS/],
  ["a script over FTP", { ipxeScriptUrl: "ftp://mirror.example/x.ipxe" }, /ipxeScriptUrl/],
  ["a script without a host", { ipxeScriptUrl: "https:///x.ipxe" }, /ipxeScriptUrl/],
  ["an ISO over FTP", { isoUrl: "ftp://mirror.example/x.iso" }, /isoUrl/],
  ["artifacts from a file", { harvester: { artifactsURL: "file:///srv" } }, /artifactsURL/],
  ["a negative interval", { nodeCleanupWaitInterval: "-5m" }, /nodeCleanupWaitInterval/],
  ["a negative time-out", { joinTimeout: "-1h" }, /joinTimeout/],
  ["an interval in words", { provisionTimeout: "5 minutes" }, /provisionTimeout/],
  ["a negative drain", { drain: { timeout: "-10s" } }, /drain\.timeout/],
  ["a negative price", { spotPriceMax: "-1" }, /spotPriceMax/],
  ["a price in words", { spotPriceMax: "cheap" }, /spotPriceMax/],
  ["a subnet that is none", { publicIPv4SubnetSize: 64 }, /publicIPv4SubnetSize/],
  ["a billing cycle that is none", { billingCycle: "weekly" }, /billingCycle/],
  ["a label that is none", { harvester: { labels: { rack: "seven of nine" } } }, /labels/],
];

const TAKEN: readonly [what: string, spec: object][] = [
  [
    "nulls everywhere",
    { billingCycle: null, spotPriceMax: null, ipxeScriptUrl: null, isoUrl: null, ...vlans(null), joinTimeout: null },
  ],
  [
    "what Go writes for nothing",
    {
      billingCycle: "",
      spotPriceMax: "0",
      ipxeScriptUrl: "",
      isoUrl: "",
      nodeCleanupWaitInterval: "",
      ...network({ type: "" }),
      publicIPv4SubnetSize: 0,
    },
  ],
  ["VLANs by number and id", vlans("2", "1000", "4094", "0aa1c2d3-1111-4222-8333-444455556666", "vlan_VaNgDq3XeQ0pM")],
  [
    "durations as Go reads them",
    { nodeCleanupWaitInterval: "1h30m", provisionTimeout: "1.5h", joinTimeout: "0", drain: { timeout: ".5m" } },
  ],
  ["prices as Quantities", { spotPriceMax: "500m" }],
  ["a decimal price", { spotPriceMax: "0.55" }],
  ["plain HTTP, port and query", { ipxeScriptUrl: "http://10.0.0.1:8080/x.ipxe?a=b" }],
  ["every mode", network({ type: "layer2-individual" })],
];

test("what can never work is refused on apply, and the field is named", () =>
  in_(async (world) => {
    for (const [what, spec, says] of REFUSED) {
      const refused = (error: unknown): boolean => isFault(error, "Invalid") && says.test(error.message);
      await assert.rejects(world.pool("rack", spec), refused, what);
      const name = "one";
      const made = world.whileTimePasses(world.client.create(Instance, { metadata: { name }, spec } as never));
      await assert.rejects(made, refused, `${what} of an Instance`);
    }
  }));

test("what works, and what the addon writes, is taken", () =>
  in_(async (world) => {
    for (const [index, [, spec]] of TAKEN.entries()) {
      await world.pool(`rack-${index}`, spec);
      await world.whileTimePasses(world.client.create(Instance, { metadata: { name: `one-${index}` }, spec } as never));
    }
  }));

test("a name whose instances could not become labels is refused; the longest that can is taken", () =>
  in_(async (world) => {
    await assert.rejects(world.pool("a".repeat(55), {}), /54 characters/);
    await world.pool("a".repeat(54), {});
    const create = (name: string) =>
      world.whileTimePasses(world.client.create(Instance, { metadata: { name }, spec: {} }));
    await assert.rejects(create("a".repeat(64)), /63 characters/);
    await create("a".repeat(63));
  }));

test("every manifest of the examples is taken as before", () =>
  in_(async (world) => {
    const folder = "examples/harvester";
    let taken = 0;
    for (const file of (await readdir(folder)).filter((name) => name.endsWith(".yaml"))) {
      for (const object of loadAll(await readFile(`${folder}/${file}`, "utf8")) as KubeObject[]) {
        const resource = [InstancePool, Instance].find(({ kind }) => kind === object?.kind);
        if (resource === undefined) continue;
        await world.whileTimePasses(world.client.create(resource as typeof InstancePool, object as InstancePool));
        taken++;
      }
    }
    assert.ok(taken >= 3, `${taken} manifests`);
  }));
