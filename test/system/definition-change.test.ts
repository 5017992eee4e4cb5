import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { crdOf } from "../../src/kinds/crd.ts";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { KINDS } from "../../src/operator/kinds.ts";
import { HarvesterWorld } from "./harvester-world.ts";
import { SECOND } from "./world.ts";

type Schema = { properties?: Record<string, Schema> };

/** Instances as harvester-equinix-addon defined them: nothing of their journal has a field. */
function addonsInstances(): ReturnType<typeof crdOf> {
  const older = structuredClone(crdOf([Instance]));
  for (const { schema } of older.spec.versions) {
    const { status, instanceID, publicIP, privateIP } = (schema.openAPIV3Schema as Schema).properties!.status!
      .properties!;
    Object.assign((schema.openAPIV3Schema as Schema).properties!.status!, {
      properties: { status, instanceID, publicIP, privateIP },
    });
  }
  return older;
}

test("what watches the addon's Instances while Slipway's definitions are installed costs the operator no field: it buys each machine once and rests", async () => {
  const world = await HarvesterWorld.create();
  const client = createClient(world.api.transport("administrator"), {
    clock: world.clock,
    random: world.random,
    log: quietLog,
  });
  const apply = { type: "apply", fieldManager: "slipway", force: true } as const;
  const older = addonsInstances();
  await world.whileTimePasses(
    client.patch(CustomResourceDefinition, { name: older.metadata.name }, { ...apply, body: older }),
  );
  await world.clock.run(SECOND);
  await client.watch(Instance, { resourceVersion: "0", timeoutSeconds: 3600 });
  await world.whileTimePasses(installCrds(client, world.clock, new AbortController().signal, KINDS));
  await world.operator();

  await world.pool("rack", { count: 2 });
  await world.until("the pool is ready", async () => await world.converged());
  assert.equal(world.cloud.bought(), 2);
  const before = await world.events();
  await world.clock.run(600_000);
  assert.deepEqual(
    (await world.events()).map(({ metadata, count }) => [metadata.name, count]),
    before.map(({ metadata, count }) => [metadata.name, count]),
  );
  await world.close();
});
