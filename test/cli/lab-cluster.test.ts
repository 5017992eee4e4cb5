/** The course of `slipway lab --cluster`, with its manifests, on simulated machines and embedded tenants. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { labClusterIn } from "../../src/cli/lab-cluster.ts";
import { runCourse } from "../../src/lab/cluster/course.ts";
import type { LabCluster } from "../../src/lab/cluster/manifests.ts";
import { WorkloadWay } from "../../src/lab/cluster/workload-api.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { OWN_LOOPBACK } from "../system/tenants-world.ts";
import { laptopWithRack } from "./laptop-with-rack.ts";

const PATIENCE_MS = 240_000;

/** The example, with a health check that waits for less. */
async function example(): Promise<LabCluster> {
  const { objects, ...cluster } = await labClusterIn("examples/lab-cluster");
  const quick = (object: KubeObject): KubeObject => {
    if (object.kind !== "MachineHealthCheck") return object;
    const text = JSON.stringify(object).replaceAll(/"timeoutSeconds":\d+/g, '"timeoutSeconds":1');
    return JSON.parse(text) as KubeObject;
  };
  return { ...cluster, objects: objects.map(quick) };
}

test("the lab's cluster: discovered machines join it, one that dies is replaced, and all are wiped when it goes", async (t) => {
  const { laptop, rack, machines } = await laptopWithRack(t, {
    ...{ machines: 4, trust: "approved" },
    // As the node image has it: no DaemonSet brings the network.
    of: { "cluster-addons": { addons: "network", networkImage: undefined }, kamaji: { host: OWN_LOOPBACK } },
  });
  const { client, transport } = laptop;
  const told: string[] = [];
  const steps: string[] = [];
  // Nothing schedules or runs Pods here: the workload is the firmware suite's.
  const cluster: LabCluster = { ...(await example()), workload: [] };
  const ports = { clock, random, log };
  const way = new WorkloadWay(client, cluster.ref, ports);
  t.after(() => way.close());
  await runCourse(cluster, {
    ...{ client, transport, machines, ...ports, apply: applyObjects },
    signal: new AbortController().signal,
    tell: (line) => told.push(line),
    patienceMs: PATIENCE_MS,
    lookMs: 50,
    async reached(step, view) {
      steps.push(step);
      if (step !== "killed") return;
      // What a controller of nodes says of one that is silent.
      const tenant = (await way.api())!.client;
      const off = [...rack.servers.values()].find((server) => !server.isOn)!;
      const host = view.hosts.find(({ spec }) => spec.bootMACAddress === off.mac)!;
      const conditions = [{ type: "Ready", status: "Unknown", reason: "NodeStatusUnknown", message: "silent" }];
      const body = { status: { conditions } };
      await tenant.patch(
        Node,
        { name: host.spec.consumerRef!.name! },
        { type: "merge", body },
        { subresource: "status" },
      );
    },
  });
  assert.deepEqual(steps, ["discovered", "available", "joined", "killed", "replaced", "deleted", "wiped"]);
  for (const { disks } of rack.servers.values()) assert.equal(disks[0]!.content, undefined);
  assert.ok(told.filter((line) => /^ {2}lab-\d: wiped, and read back: /.test(line)).length >= 3, told.join("\n"));
});
