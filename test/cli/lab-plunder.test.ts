/** The course of `slipway lab --plunder`, with its manifests, on simulated machines. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { labPlunderIn } from "../../src/cli/lab-plunder.ts";
import { labMac } from "../../src/lab/machine.ts";
import { runCourse } from "../../src/lab/plunder/course.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { laptopWithRack } from "./laptop-with-rack.ts";

const PATIENCE_MS = 240_000;

test("N45 N47 the lab's walk of 2019: unleased machines become a cluster without bootstrap data of its manifests, and are unleased and wiped at the end", async (t) => {
  const { laptop, rack, machines } = await laptopWithRack(t, { machines: 2, trust: "first-seen", of: {} });
  const { client, transport } = laptop;
  const told: string[] = [];
  const steps: string[] = [];
  const { objects, ...lab } = await labPlunderIn("examples/lab-plunder");
  // The simulated machines have cards of their own.
  const withCards = machines.reduce(
    (text, { mac }, at) => text.replaceAll(labMac(at + 1), mac),
    JSON.stringify(objects),
  );
  await runCourse(
    { ...lab, objects: JSON.parse(withCards) as KubeObject[] },
    {
      ...{ client, transport, machines, clock, random, log, apply: applyObjects },
      openApi: laptop.metal.controlPlanes.open,
      signal: new AbortController().signal,
      tell: (line) => told.push(line),
      ...{ patienceMs: PATIENCE_MS, lookMs: 50 },
      reached: async (step) => void steps.push(step),
    },
  );
  assert.deepEqual(steps, ["discovered", "available", "joined", "running", "deleted", "wiped"]);
  for (const { disks } of rack.servers.values()) assert.equal(disks[0]!.content, undefined);
  const all = told.join("\n");
  for (const [at, name] of ["controlplane", "worker"].entries()) {
    const { mac } = machines[at]!;
    assert.equal(told.filter((line) => line.startsWith(`  unleased: ${mac} `)).length, 2, all);
    assert.match(all, new RegExp(`^ {2}${name} {2}plunder://${mac} {2}running$`, "m"));
    assert.match(all, new RegExp(`^ {2}lab-${at + 1}: wiped, and read back: `, "m"));
    assert.match(
      all,
      new RegExp(`^ {2}${name}: PlunderProvision: Plunder has begun provisioning the Operating System$`, "m"),
    );
    assert.match(all, new RegExp(`^ {2}${name}: PlunderDelete: Machine removed succesfully$`, "m"));
  }
});
