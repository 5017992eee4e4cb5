import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFINITIONS, world } from "@slipway/apiserver/testing";
import { crdOf } from "./crd.ts";
import { Instance } from "./harvester/instance.ts";
import { InstancePool } from "./harvester/instance-pool.ts";
import type { Kind } from "./kind.ts";
import { MachineProvider } from "./slipway/machine-provider.ts";

for (const kind of [InstancePool, Instance, MachineProvider] as readonly Kind[])
  test(`the definition of ${kind.kind} is one that the API takes, with a status of its own`, async () => {
    const { ask, close } = await world();

    await ask("POST", DEFINITIONS, crdOf([kind]));
    const { resources } = (await ask("GET", `/apis/${kind.group}/${kind.version}`)) as unknown as {
      resources: { name: string }[];
    };

    assert.deepEqual(
      resources.map(({ name }) => name).filter((name) => name.startsWith(kind.plural) && !name.endsWith("/scale")),
      [kind.plural, `${kind.plural}/status`],
    );
    await close();
  });

test("a pool with a null in every nullable field is taken, one with a count in words is not", async () => {
  const { ask, refused, close } = await world();
  await ask("POST", DEFINITIONS, crdOf([InstancePool]));
  const { group, version, plural, kind } = InstancePool;
  const path = `/apis/${group}/${version}/${plural}`;
  const pool = (name: string, spec: object) => ({ apiVersion: `${group}/${version}`, kind, metadata: { name }, spec });

  await ask("POST", path, pool("a", { count: 1, plan: null, facility: [null], features: { a: null } }));
  const { details } = await refused("POST", path, pool("b", { count: "one" }));

  assert.deepEqual(
    details?.causes?.map((e) => `${e.field}: ${e.message}`),
    [
      'spec.count: Invalid value: "string": spec.count in body must be of type integer: "string"',
      // By the path of the scale subresource.
      ".spec.count: Invalid value: 0: .spec.count accessor error: one is of the type string, expected int64",
      // As kube-apiserver adds where a kind has rules.
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    ],
  );
  await close();
});
