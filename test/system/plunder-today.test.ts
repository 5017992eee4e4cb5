/** plunder's manifests of 2019 as `slipway convert` writes them: on every API server, under any core. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "@slipway/kube/core";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { PlunderCluster } from "../../src/kinds/plunder/plunder-cluster.ts";
import type { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { CONFIG_LABEL } from "../../src/systems/kubeadm-bootstrap/names.ts";
import { hostNameOf } from "../../src/systems/plunder/claim.ts";
import { CLUSTER, inPlunderWorld, OLD_MANIFESTS } from "./plunder-world.ts";
import { HOUR, MINUTE } from "./world.ts";

test("N45 N46 N47 what slipway convert writes of the manifests of 2019 becomes a cluster with a Node for each Machine, and wiped hosts at the end", () =>
  inPlunderWorld(async (world) => {
    await world.createTodays(OLD_MANIFESTS);
    await world.untilRunning(2);
    const machines = await world.machines();
    const ids = machines.map(({ spec }) => spec.providerID).toSorted();
    for (const id of ids) assert.match(String(id), /^plunder:\/\/([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
    assert.deepEqual((await world.nodes()).map(({ spec }) => spec?.providerID).toSorted(), ids);
    for (const { metadata, status } of await world.plunderMachines()) {
      const [namespace, name] = status!.host!.split("/");
      const host = (await world.own.hosts()).find((one) => one.metadata.name === name);
      assert.deepEqual([host?.metadata.namespace, host?.spec.consumerRef?.name], [namespace, metadata.name]);
      assert.ok(
        (await world.told(metadata.name)).some((one) => /^PlunderInstall: Task has been succesfully/.test(one)),
      );
    }
    await world.remove(Cluster, CLUSTER);
    await world.untilGone();
    const left = async () => [
      ...(await world.whileTimePasses(world.client.list(Cluster))).items,
      ...(await world.whileTimePasses(world.client.list(PlunderCluster))).items,
    ];
    await world.until("the clusters are gone", async () => (await left()).length === 0);
    await world.own.checkAllFree();
  }));

test("N39 a worker that was created before the control plane takes no host until that is there, and joins then", () =>
  inPlunderWorld(async (world) => {
    await world.createTodays(OLD_MANIFESTS, [CLUSTER, "worker"]);
    const why =
      /the control plane's endpoint of Cluster cluster-plunder|the first machine of Cluster cluster-plunder's control plane/;
    await world.until("it says so", async () =>
      why.test((await world.plunderMachine("worker"))?.status?.waitingFor ?? ""),
    );
    await world.clock.run(2 * HOUR);
    assert.deepEqual(world.own.cloud.machines(), []);
    assert.match((await world.plunderMachine("worker"))!.status!.waitingFor!, why);
    await world.createTodays([OLD_MANIFESTS[1]!], ["controlplane"]);
    await world.untilRunning(2);
  }));

test("N37 N39 the token by which a worker joins is renewed while its machine is on its way, and the machine keeps its name", async () => {
  let isStuck = false;
  const firmware = { hangs: (_: unknown, stage: string) => isStuck && stage === "kernel" };
  await inPlunderWorld(
    async (world) => {
      await world.createTodays(OLD_MANIFESTS, [CLUSTER, "controlplane"]);
      await world.untilRunning(1);
      isStuck = true;
      await world.createTodays([OLD_MANIFESTS[1]!], ["worker"]);
      const ends = async (): Promise<number[]> => {
        const workload = await world.workload();
        const tokens = { namespace: "kube-system", labelSelector: CONFIG_LABEL };
        const { items } = await world.whileTimePasses(workload.list(Secret, tokens));
        return items.map(({ data }) => Date.parse(Buffer.from(data!.expiration!, "base64").toString()));
      };
      await world.until("the worker has a token", async () => (await ends()).length === 1);
      const [first] = await ends();
      await world.clock.run(60 * MINUTE);
      const [last, ...others] = await ends();
      assert.deepEqual(others, [], "it has one token");
      assert.ok(
        last! > world.clock.now() && last! > first! + 30 * MINUTE,
        `it ends ${last! - world.clock.now()} ms from now`,
      );
      assert.equal((await world.plunderMachine("worker"))?.status?.hostName, "worker");
    },
    { firmware },
  );
});

test("N37 a host's name is its object's, as RFC 1123 has it: without dots, and not longer than a label", () => {
  const named = (name: string): string => hostNameOf({ metadata: { name } } as PlunderMachine);
  assert.equal(named("a.b-c"), "a-b-c");
  const long = named("x".repeat(253));
  assert.match(long, /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/);
  assert.notEqual(long, named("x".repeat(252)));
  assert.equal(long, named("x".repeat(253)));
});
