/** Which hosts machines of a control plane have, fields of 2019 without an effect, and how an object goes whose host can't be asked. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf } from "@slipway/kube";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { PlunderCluster } from "../../src/kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { CLUSTER, inPlunderWorld, NAMESPACE, OLD_MANIFESTS, type PlunderWorld } from "./plunder-world.ts";
import { inRemoteWorld } from "./remote-netboot.ts";

const OF_CONTROL_PLANE = { "cluster.x-k8s.io/control-plane": "" };

/** A PlunderMachine of 2019 and a Machine without bootstrap data. */
async function machine(world: PlunderWorld, name: string, spec: object, labels: object = {}): Promise<void> {
  const { group, kind } = PlunderMachine;
  await world.createObject({ apiVersion: `${group}/v1alpha1`, kind, metadata: { name }, spec });
  const infrastructureRef = { apiGroup: group, kind, name };
  const draft = {
    metadata: { namespace: NAMESPACE, name, labels },
    spec: { clusterName: CLUSTER, version: "v1.36.1", bootstrap: { dataSecretName: "" }, infrastructureRef },
  };
  await world.whileTimePasses(world.client.create(Machine, draft as never));
}

test("N38 N45 machines of a control plane have hosts of controlPlaneMacPool, else the one of the PlunderCluster's staticMAC; workers have any that is left", () =>
  inPlunderWorld(
    async (world) => {
      const macs = [...world.own.rack.servers.values()].map(({ mac }) => mac);
      await world.createTodays([OLD_MANIFESTS[0]!]);
      const spec = {
        controlPlaneEndpoint: { host: "192.168.1.200", port: 6443 },
        controlPlaneMACAddress: macs[3]!.toUpperCase(),
      };
      const ref = { namespace: NAMESPACE, name: CLUSTER };
      await world.whileTimePasses(world.client.patch(PlunderCluster, ref, { type: "merge", body: { spec } }));
      const controlPlaneMacPool = [macs[1], macs[2]];
      for (const name of ["a", "b", "c"]) await machine(world, name, { controlPlaneMacPool }, OF_CONTROL_PLANE);
      await machine(world, "d", {}, OF_CONTROL_PLANE);
      const waits = async (): Promise<string[]> => {
        const all = await world.plunderMachines();
        return all
          .filter(({ status }) => status?.purchase?.state === "Refused")
          .map(({ metadata, status }) => `${metadata.name}: ${conditionOf(status?.conditions, "Installed")?.reason}`);
      };
      await world.until("one of three waits, since the pool has two", async () => (await waits()).length === 1);
      const running = (count: number) =>
        world.until(`${count} have joined`, async () => {
          const phases = (await world.machines()).map(({ status }) => status?.phase);
          return phases.filter((phase) => phase === "Running").length === count;
        });
      await running(3);
      await machine(world, "worker", { controlPlaneMacPool });
      await running(4);
      const [waiting] = await waits();
      assert.match(waiting!, /^[abc]: NoHost$/);
      const macOf = async (name: string) => (await world.plunderMachine(name))?.status?.macAddress;
      const taken = await Promise.all(["a", "b", "c"].filter((name) => !waiting!.startsWith(name)).map(macOf));
      assert.deepEqual(taken.toSorted(), [macs[1], macs[2]].toSorted());
      assert.equal(await macOf("d"), macs[3], "the PlunderCluster's");
      assert.equal(await macOf("worker"), macs[0], "the pool is for the control plane alone");
    },
    { servers: { sg: 4, ny: 0 } },
  ));

test("N46 a dockerVersion of 2019 is reported as ignored, with what is run in its place", () =>
  inPlunderWorld(async (world) => {
    await world.createTodays([OLD_MANIFESTS[0]!]);
    const spec = { ipaddress: "192.168.1.123", dockerVersion: "18.06.1~ce~3-0~ubuntu" };
    await machine(world, "a", spec, OF_CONTROL_PLANE);
    await world.untilRunning(1);
    const told = await world.told("a");
    assert.ok(
      told.includes("Ignored: spec.dockerVersion: machines run containerd, which their image has"),
      told.join(),
    );
  }));

test("N33 N34 an object whose netboot has no proof of its wipe goes with slipway.dev/abandon-machine=true, and the last event says that the machine may need removing", () =>
  inRemoteWorld(async (world, netboot) => {
    await world.operator();
    await world.createTodays(OLD_MANIFESTS);
    await world.untilRunning(2);
    const { macAddress } = (await world.plunderMachine("worker"))!.status!;
    netboot.befall = async (_, answer) => {
      const { body, ...rest } = await answer();
      return body.includes("machines") ? { ...rest, body: '{"machines":[]}' } : { ...rest, body };
    };
    await world.remove(Machine, "worker");
    const trouble = async () => conditionOf((await world.plunderMachine("worker"))?.status?.conditions, "Stalled");
    await world.until("no proof is reported", async () => /has no proof/.test((await trouble())?.message ?? ""));
    assert.match((await trouble())!.message, /slipway\.dev\/abandon-machine=true/);
    const body = { metadata: { annotations: { "slipway.dev/abandon-machine": "true" } } };
    const ref = { namespace: NAMESPACE, name: "worker" };
    await world.whileTimePasses(world.client.patch(PlunderMachine, ref, { type: "merge", body }));
    await world.until("it is gone", async () => (await world.plunderMachine("worker")) === undefined);
    const told = await world.told("worker");
    const last = "PlunderDelete: Machine removed. Plunder couldn't succesfully remove the physical host";
    assert.ok(
      told.some((one) => one.startsWith(last)),
      told.join(),
    );
    const server = [...netboot.rack.servers.values()].find(({ mac }) => mac === macAddress)!;
    assert.notEqual(server.running, undefined, "the machine is left as it runs");
  }));
