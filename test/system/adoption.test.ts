/** Live objects of harvester-equinix-addon are taken over: as it wrote them, with the machines it bought. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plain } from "@slipway/base";
import { Node, Secret } from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { CapiMachine } from "../../src/sim/site/capi-machine.ts";
import {
  API_KEY,
  assertNoSecretOutsideSecrets,
  call,
  FINALIZERS,
  MANAGERS,
  PASSWORD,
  poolOfAddon,
  STATES,
  using,
} from "./addon-objects.ts";
import { numbers, sampled } from "./api.ts";
import type { Death } from "./mortal.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

for (const state of STATES) {
  test(`an addon's machine that is ${state} is taken over: kept, served, marked, its secrets moved into Secrets`, () =>
    using(async (world) => {
      const [taken] = await poolOfAddon(world, [state]);
      const { id, name } = taken!;
      const node = await world.client.find(Node, { name });
      assert.equal(node !== undefined, state === "managed");
      const reinstalls = world.equinix.counters().performAction ?? 0;

      await world.operator();
      await world.until("the machine is in service", () => world.converged());
      assert.equal((await world.events()).filter((event) => event.reason === "Adopted").length, 1);
      await world.clock.run(30 * MINUTE);

      assert.equal(world.equinix.boughtEver().length, 1, "nothing is bought again");
      const again = (world.equinix.counters().performAction ?? 0) - reinstalls;
      assert.equal(
        again,
        state === "queued" || state === "submitted" ? 1 : 0,
        "only what waits in the shell is installed anew",
      );
      const instance = await world.client.get(Instance, { name });
      assert.equal(instance.status!.instanceID, id);
      assert.equal(instance.status!.status, "managed");
      assert.ok(world.equinix.device(id)!.tags.includes(`slipway:claim:${instance.metadata.uid}`));
      if (node !== undefined) assert.equal((await world.client.get(Node, { name })).metadata.uid, node.metadata.uid);
      assert.equal(instance.status!.node!.uid, (await world.client.get(Node, { name })).metadata.uid);

      const pool = await world.client.get(InstancePool, { name: "rack" });
      assert.equal(pool.status!.token ?? "", "");
      assert.equal(pool.status!.drifted, 0, "being taken over is no drift");
      const secret = await world.client.get(Secret, { namespace: "harvester-system", name: `${name}-os` });
      assert.equal(Buffer.from(secret.data!.password!, "base64").toString(), PASSWORD);
      await assertNoSecretOutsideSecrets(world);
    }));
}

test("a pool with a machine in every state is taken over whole, and deleting it lets everything go", () =>
  using(async (world) => {
    const taken = await poolOfAddon(world, STATES);
    await world.operator();
    await world.until("the pool is ready", () => world.converged());
    assert.deepEqual(new Set(world.equinix.devices().map((device) => device.id)), new Set(taken.map(({ id }) => id)));
    assert.equal(world.equinix.boughtEver().length, STATES.length);

    await world.client.delete(InstancePool, { name: "rack" });
    await world.until("all objects are gone", async () => (await world.instances()).length === 0);
    assert.deepEqual(
      (await world.nodes()).map((node) => node.metadata.name),
      MANAGERS,
    );
    await world.until("all machines are gone", () => world.equinix.devices().length === 0);
    assert.deepEqual((await world.client.list(CapiMachine, { namespace: "fleet-local" })).items, []);
  }));

test("H6 an adopted machine's Node is cordoned and drained before the machine goes, and both finalizers go last", () =>
  using(async (world) => {
    const [taken] = await poolOfAddon(world, ["managed"]);
    await world.operator();
    await world.until("the machine is in service", () => world.converged());
    const { name, id } = taken!;
    await world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count: 0 } } });
    await world.until(
      "the machine is being released",
      () => world.equinix.device(id)?.state === "deprovisioning",
      HOUR,
      SECOND,
    );
    const leaving = await world.client.get(Instance, { name });
    assert.deepEqual(leaving.metadata.finalizers, FINALIZERS);
    assert.equal(leaving.status!.release!.drained, true);
    assert.equal((await world.client.get(Node, { name })).spec?.unschedulable, true);
    await world.until("it is gone", async () => (await world.client.find(Instance, { name })) === undefined);
    assert.equal(await world.client.find(Node, { name }), undefined);
  }));

for (const finalizers of [FINALIZERS, [FINALIZERS[0]!], [FINALIZERS[1]!]]) {
  test(`an addon's instance that was being deleted when Slipway came goes with its machine (${finalizers.join(", ")})`, () =>
    using(async (world) => {
      const [taken] = await poolOfAddon(world, ["managed"], { count: 0 });
      const { name, id } = taken!;
      await world.client.patch(Instance, { name }, { type: "merge", body: { metadata: { finalizers } } });
      await world.client.delete(Instance, { name });
      assert.ok(await world.client.find(Instance, { name }), "its finalizers hold it");

      await world.operator();
      await world.until("it is gone", async () => (await world.client.find(Instance, { name })) === undefined);
      await world.until("so is its machine", () => world.equinix.device(id) === undefined);
      assert.equal(await world.client.find(Node, { name }), undefined);
      await assertNoSecretOutsideSecrets(world);
    }));
}

test("an addon's machine in service whose Node is not Ready just now is neither reinstalled nor replaced", () =>
  using(async (world) => {
    const [taken] = await poolOfAddon(world, ["managed"]);
    const { name } = taken!;
    await world.site.sicken(name, true);
    await world.operator();
    await world.clock.run(5 * HOUR);
    assert.equal(world.equinix.boughtEver().length, 1);
    const instance = await world.client.get(Instance, { name });
    assert.match(instance.status!.conditions!.find((c) => c.type === "Ready")!.reason, /NodeNotReady/);
    await world.site.sicken(name, false);
    await world.until("ready", () => world.converged());
  }));

test("H7 a Node that only shares an adopted instance's name is a stranger: its addresses are not the machine's", () =>
  using(async (world) => {
    const [taken] = await poolOfAddon(world, ["queued"]);
    const { name } = taken!;
    await world.client.create(Node, { metadata: { name }, spec: {} });
    const status = {
      addresses: [{ type: "InternalIP", address: "192.0.2.99" }],
      conditions: [{ type: "Ready", status: "True" }],
    };
    await world.client.patch(Node, { name }, { type: "merge", body: { status } }, { subresource: "status" });
    await world.operator();
    await world.until("the conflict is reported", async () =>
      Boolean(
        (await world.client.get(Instance, { name })).status?.conditions?.some(
          (c) => c.type === "NodeConflict" && c.status === "True",
        ),
      ),
    );
    assert.notEqual((await world.client.get(Instance, { name })).status?.status, "managed");
  }));

test("an addon's machine that vanished or hangs is replaced after all, by the pool", () =>
  using(
    async (world) => {
      const taken = await poolOfAddon(world, ["reinstalling", "managed"]);
      const managed = taken.find(({ state }) => state === "managed")!;
      await call(world, "POST", `/devices/${managed.id}/actions`, { type: "power_off" });
      const headers = { "x-auth-token": API_KEY };
      const url = `https://api.equinix.com/metal/v1/devices/${managed.id}`;
      await world.equinix.handle({ method: "DELETE", url, headers, remote: "192.0.2.1" });
      await world.operator();
      await world.until("the pool is whole again", () => world.converged(), 6 * HOUR);
      assert.ok(!(await world.instances()).some(({ metadata }) => metadata.name === managed.name));
      assert.equal(world.equinix.boughtEver().length, 4);
      assert.equal(world.equinix.devices().length, 2);
    },
    { firmware: { hangs: (hardware, stage) => stage === "disk" && hardware.hostname === "rack-abcdefga" } },
  ));

test("a key that may not tag machines keeps nothing from going on", () =>
  using(
    async (world) => {
      await poolOfAddon(world, ["managed"]);
      await world.operator();
      await world.until("the machine is in service", () => world.converged(), 10 * MINUTE);
      assert.deepEqual(world.equinix.devices()[0]!.tags, []);
    },
    {
      clouds: (inner) => async (request) =>
        request.method === "PUT" ? plain(403, '{"errors":["not authorized"]}') : await inner(request),
    },
  ));

test("a machine that the addon bought and died before it wrote that down is found by its name, not bought again", () =>
  using(async (world) => {
    const [taken] = await poolOfAddon(world, ["queued"]);
    const { name, id } = taken!;
    const status = { status: "", instanceID: "" };
    await world.client.patch(Instance, { name }, { type: "merge", body: { status } }, { subresource: "status" });
    await world.operator();
    await world.until("the machine is in service", () => world.converged());
    assert.equal(world.equinix.boughtEver().length, 1);
    const instance = await world.client.get(Instance, { name });
    assert.equal(instance.status!.instanceID, id);
    assert.ok(world.equinix.device(id)!.tags.includes(`slipway:claim:${instance.metadata.uid}`));
  }));

/** Two machines of the addon's, one in its shell and one in service, taken over and let go. Returns how many effects the taking over took. */
async function takeOver(death?: Death): Promise<number> {
  let effects = 0;
  await using(async (world) => {
    const taken = await poolOfAddon(world, ["queued", "managed"]);
    const first = await world.operator(death === undefined ? {} : { death });
    let restarted = false;
    const until = (what: string, holds: () => Promise<boolean>): Promise<void> =>
      world.until(what, async () => {
        if (first.mortal.dead && !restarted) {
          restarted = true;
          await world.operator();
        }
        return await holds();
      });
    await until("both are in service", () => world.converged());
    effects = first.mortal.effects;
    assert.deepEqual(
      new Set((await world.instances()).map((i) => i.status!.instanceID)),
      new Set(taken.map((t) => t.id)),
    );
    await assertNoSecretOutsideSecrets(world);
    await world.client.delete(InstancePool, { name: "rack" });
    await until("all is gone", async () => (await world.instances()).length === 0);
    await world.clock.run(5 * MINUTE);
    assert.deepEqual(world.equinix.devices(), []);
    assert.equal(world.equinix.boughtEver().length, 2);
  });
  return effects;
}

test("H1 the operator may die before or after any effect of taking over: no machine is bought, lost or left over", async () => {
  const effects = await takeOver();
  assert.ok(effects > 20, `${effects} effects`);
  for (const atEffect of ofTurn(sampled(numbers(1, effects)), process.env)) {
    for (const when of ["before", "after"] as const) {
      try {
        await takeOver({ atEffect, when });
      } catch (error) {
        throw new Error(`dying ${when} effect ${atEffect} of ${effects}`, { cause: error });
      }
    }
  }
});
