import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { type Cache, controllerReference, type KubeObject, ownerReference, type Ref } from "@slipway/kube";
import { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import { contextOver, externalOver, type Held, holding, machine, machineSet } from "../testing.ts";
import { makeMachine, removeLeftovers, templatesOf } from "./make-machine.ts";

const NOBODY = { who: "nobody", wake: () => {} };
const INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io";
const BOOTSTRAP = "bootstrap.cluster.x-k8s.io";
const template = (group: string, kind: string): KubeObject =>
  ({
    ...{ apiVersion: `${group}/v1beta2`, kind, metadata: { name: "t", namespace: "default" } },
    spec: { template: { spec: { size: 2 } } },
  }) as unknown as KubeObject;

const set = (of: object = {}, name = "s") =>
  machineSet(name, {
    spec: of,
    template: {
      infrastructureRef: { apiGroup: INFRASTRUCTURE, kind: "SimMachineTemplate", name: "t" },
      bootstrap: { configRef: { apiGroup: BOOTSTRAP, kind: "SimBootstrapTemplate", name: "t" } },
    },
  });
const whole = (): Held =>
  holding(template(INFRASTRUCTURE, "SimMachineTemplate"), template(BOOTSTRAP, "SimBootstrapTemplate"));

async function made(held: Held, of: MachineSet): Promise<void> {
  await makeMachine(contextOver(held).context, of, await templatesOf(externalOver(held), of, NOBODY));
}

test("a Machine is made after its bootstrap and infrastructure objects, all of one name, which it refers to", async () => {
  const held = whole();
  await made(held, set());
  const [first, second, third] = held.asked as [string, string, string];
  const [, name = ""] = /^create SimBootstrap\/(s-[bcdfghjkmnpqrstvwxyz2456789]{5})$/.exec(first) ?? [];
  assert.deepEqual([second, third], [`create SimMachine/${name}`, `create Machine/${name}`]);
  const { spec } = held.get("Machine", name) as unknown as { spec: Record<string, unknown> };
  assert.deepEqual(spec.infrastructureRef, { apiGroup: INFRASTRUCTURE, kind: "SimMachine", name });
  assert.deepEqual(spec.bootstrap, { configRef: { apiGroup: BOOTSTRAP, kind: "SimBootstrap", name } });
  assert.deepEqual((held.get("SimMachine", name) as unknown as { spec: object }).spec, { size: 2 });
});

test("where the set names bootstrap data, or an object that is no template, nothing is made for it", async () => {
  for (const bootstrap of [
    { dataSecretName: "data" },
    { configRef: { apiGroup: BOOTSTRAP, kind: "SimBootstrap", name: "shared" } },
  ]) {
    const held = whole();
    const own = set();
    own.spec.template.spec.bootstrap = bootstrap as never;
    await made(held, own);
    assert.deepEqual(
      held.asked.map((line) => line.split("/")[0]),
      ["create SimMachine", "create Machine"],
    );
    const [, name] = held.asked[1]!.split("/") as [string, string];
    assert.deepEqual(
      (held.get("Machine", name) as unknown as { spec: { bootstrap: object } }).spec.bootstrap,
      bootstrap,
    );
  }
});

test("names follow the set's template of names, and have at most 63 characters", async () => {
  const nameFor = async (template: string | undefined, name = "s") => {
    const held = whole();
    await made(held, set(template === undefined ? {} : { machineNaming: { template } }, name));
    return held.asked.at(-1)!.split("/")[1]!;
  };
  assert.match(await nameFor("{{ .cluster.name }}-{{.machineSet.name}}-{{- .random -}}"), /^quay-s-\w{5}$/);
  assert.equal(await nameFor("a-{{ .other }}"), "a-{{ .other }}");
  assert.equal(await nameFor("a".repeat(70)), "a".repeat(63));
  const long = await nameFor(undefined, "s".repeat(70));
  assert.match(long, /^s{57}-\w{5}$/);
});

test("what was made for a Machine that could not be made is removed again, and the failure names the Machine", async () => {
  const held = whole();
  held.faults.set("create Machine", new Fault("Invalid", "Machine", "no such version"));
  await assert.rejects(
    made(held, set()),
    (error) => isFault(error, "Invalid") && /no such version/.test(error.message),
  );
  const [first, second, ...removed] = held.asked.map((line) => line.replace(/\/.*/, ""));
  assert.deepEqual([first, second], ["create SimBootstrap", "create SimMachine"]);
  assert.deepEqual(removed, ["delete SimBootstrap", "delete SimMachine"]);
  const name = held.asked[0]!.split("/")[1]!;
  assert.deepEqual(held.bodies.get(`delete SimMachine/${name}`), { uid: `uid-${name}` });

  const second2 = whole();
  second2.faults.set("create SimMachine", new Fault("Forbidden", "SimMachine", "no right"));
  second2.faults.set("delete SimBootstrap", new Fault("NotFound", "SimBootstrap", "gone"));
  await assert.rejects(made(second2, set()), /no right/);
  second2.faults.set("delete SimBootstrap", new Fault("Forbidden", "SimBootstrap", "may not delete"));
  await assert.rejects(made(second2, set()), /may not delete/);
});

test("a template that is not there is refused by its name, with what to do", async () => {
  const held = holding(template(INFRASTRUCTURE, "SimMachineTemplate"));
  await assert.rejects(
    templatesOf(externalOver(held), set(), NOBODY),
    (error) =>
      isFault(error, "NotFound") &&
      error.on === "SimBootstrapTemplate/default/t" &&
      /create it, or name another one/.test(error.advice),
  );
});

test("objects that a set has made and no Machine uses are removed; those of others, and those that are leaving, are not", async () => {
  const owner = set();
  const object = (kind: string, name: string, metadata: object = {}): KubeObject =>
    ({
      ...{ apiVersion: `${INFRASTRUCTURE}/v1beta2`, kind },
      metadata: {
        ...{ name, namespace: "default", uid: `uid-${name}`, ownerReferences: [ownerReference(MachineSet, owner)] },
        ...metadata,
      },
    }) as KubeObject;
  const held = whole();
  held.put(
    object("SimMachine", "left"),
    object("SimMachine", "used"),
    object("SimMachine", "leaving", { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    object("SimMachine", "foreign", { ownerReferences: [{ ...ownerReference(MachineSet, owner), uid: "other" }] }),
    object("SimMachine", "controlled", { ownerReferences: [controllerReference(MachineSet, owner)] }),
    object("SimMachine", "nobody", { ownerReferences: undefined }),
    object("SimBootstrap", "left-too"),
  );
  const templates = await templatesOf(externalOver(held), owner, NOBODY);
  const cache = { get: (_: object, { name }: Ref) => (name === "used" ? machine(name) : undefined) } as Cache;
  const remove = (of: typeof templates) =>
    removeLeftovers(externalOver(held), { client: held.client, cache }, owner, of);
  await remove({ ...templates, bootstrap: undefined });
  assert.deepEqual(held.asked, ["delete SimMachine/left"]);
  await remove(templates);
  assert.deepEqual(held.asked, ["delete SimMachine/left", "delete SimBootstrap/left-too"]);
});
