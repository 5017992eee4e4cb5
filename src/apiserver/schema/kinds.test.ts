import assert from "node:assert/strict";
import { test } from "node:test";
import { crdOf } from "../../kinds/crd.ts";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import type { Kind } from "../../kinds/kind.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import type { Body } from "../served.ts";
import { compile } from "./compile.ts";
import { defaultCrd, servedFromCrd, validateCrd } from "./crd.ts";

for (const kind of [InstancePool, Instance, MachineProvider] as readonly Kind[])
  test(`the definition of ${kind.kind} is one that the API takes`, () => {
    const crd = structuredClone(crdOf([kind])) as unknown as Body;
    defaultCrd(crd);

    assert.deepEqual(validateCrd(crd), []);
    assert.equal(servedFromCrd(crd)[0]?.status, true);
  });

test("a pool with a null in every nullable field is taken, one with a count in words is not", () => {
  const [pool] = servedFromCrd(structuredClone(crdOf([InstancePool])) as unknown as Body);
  assert.ok(pool);
  const { validate } = compile(pool.schema);

  assert.deepEqual(
    validate({ metadata: { name: "a" }, spec: { count: 1, plan: null, facility: [null], features: { a: null } } }),
    [],
  );
  assert.deepEqual(
    validate({ metadata: { name: "a" }, spec: { count: "one" } }).map((e) => `${e.field}: ${e.message}`),
    ['spec.count: Invalid value: "string": spec.count in body must be of type integer: "string"'],
  );
});
