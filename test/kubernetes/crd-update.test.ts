/** CRDs are brought up to date over objects that exist: of an older Slipway, of harvester-equinix-addon, and of a newer Slipway under a running operator. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient, isTrue } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { crdOf, type CustomResourceDefinition as Definition } from "../../src/kinds/crd.ts";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { KINDS } from "../../src/operator/kinds.ts";
import { type Cluster, startCluster, whyNotHere } from "./cluster.ts";
import { startLive, until } from "./live.ts";
import { operatorTransport, prepare } from "./operator-account.ts";

const skip = (await whyNotHere()) ?? false;
const REFERENCE = process.env.SLIPWAY_REFERENCE ?? "../shared/reference/data";
const addonsCrds = await readFile(join(REFERENCE, "crds/harvester-equinix-addon/crds.yaml"), "utf8").catch(
  () => undefined,
);

type Schema = { properties?: Record<string, Schema>; items?: Schema; nullable?: boolean; [key: string]: unknown };

let cluster: Cluster;
let client: Client;

before(async () => {
  if (skip) return;
  cluster = await startCluster();
  client = cluster.client;
  await prepare(cluster);
});
after(() => cluster?.close());

/** As the operator does when it starts, with its own account. */
async function installOurs(): Promise<void> {
  const transport = await operatorTransport(cluster);
  await installCrds(
    createClient(transport, { clock, random, log: quietLog }),
    clock,
    new AbortController().signal,
    KINDS,
  );
  await transport.close();
  await until(
    "the new schemas are served",
    async () => {
      const { spec } = (await client.get(CustomResourceDefinition, {
        name: "instancepools.equinix.harvesterhci.io",
      })) as never as Definition;
      return JSON.stringify(spec.versions[0]!.schema).includes("updateStrategy");
    },
    60_000,
  );
}

/** Puts definitions in place of those there are, as somebody else than the operator would. */
async function define(definitions: readonly Definition[]): Promise<void> {
  for (const { metadata } of definitions) {
    await client.delete(CustomResourceDefinition, { name: metadata.name });
    await until(
      `${metadata.name} is gone`,
      async () => (await client.find(CustomResourceDefinition, { name: metadata.name })) === undefined,
      30_000,
    );
  }
  for (const definition of definitions) {
    await client.create(CustomResourceDefinition, definition as never);
    const held = async () =>
      (await client.get(CustomResourceDefinition, { name: definition.metadata.name })).status?.conditions;
    await until(`${definition.metadata.name} is served`, async () => isTrue(await held(), "Established"), 60_000);
  }
}

const schemaOf = (definition: Definition): Schema => definition.spec.versions[0]!.schema.openAPIV3Schema as Schema;

/** The same schema without limits, defaults and rules, and without the fields that came later. */
function older(schema: Schema, later: readonly string[]): Schema {
  const { default: _, enum: __, pattern: ___, minimum: ____, maximum: _____, required: ______, ...rest } = schema;
  delete rest["x-kubernetes-validations"];
  const properties = Object.entries(rest.properties ?? {}).filter(([name]) => !later.includes(name));
  return {
    ...rest,
    ...(rest.properties && {
      properties: Object.fromEntries(properties.map(([name, of]) => [name, older(of, later)])),
    }),
    ...(rest.items && { items: older(rest.items, later) }),
  };
}

test("objects of an older Slipway are read, defaulted and kept; what is invalid by now may stay as it is, but not change into something else invalid", {
  skip,
}, async () => {
  const definitions = KINDS.map((versions) => structuredClone(crdOf(versions)));
  for (const definition of definitions) {
    const version = definition.spec.versions[0]!;
    version.schema = {
      openAPIV3Schema: older(schemaOf(definition), ["updateStrategy", "drifted", "conditions"]) as never,
    };
  }
  await define(definitions);
  const spec = { plan: "c3.small.x86", metro: "SG", billingCycle: "hourly" };
  await client.create(InstancePool, { metadata: { name: "bare" }, spec: spec as InstancePool["spec"] });
  await client.create(InstancePool, { metadata: { name: "odd" }, spec: { ...spec, count: 6000 } });

  await installOurs();

  const ref = { name: "odd" };
  const change = (body: object) => client.patch(InstancePool, ref, { type: "merge", body });
  await until(
    "defaults are filled in",
    async () => (await client.get(InstancePool, { name: "bare" })).spec.count === 0,
    60_000,
  );
  assert.equal((await client.get(InstancePool, ref)).spec.count, 6000);
  await change({ metadata: { labels: { seen: "yes" } }, spec: { description: "still odd" } });
  const odd = await client.get(InstancePool, ref);
  await client.updateStatus(InstancePool, { ...odd, status: { status: "submitted", drifted: 0 } });
  await assert.rejects(change({ spec: { count: 7000 } }), { code: "Invalid" });
  await change({ spec: { count: 1, updateStrategy: { type: "RollingUpdate" } } });
  assert.equal((await client.get(InstancePool, ref)).spec.updateStrategy?.type, "RollingUpdate");
});

test("objects of harvester-equinix-addon with every nullable field null are read, labelled and given a status", {
  skip: skip || (addonsCrds === undefined && "the addon's CRDs are not here"),
}, async () => {
  const text = addonsCrds!.replaceAll(/^\{\{.*\}\}$/gm, "");
  // Its chart holds them in a form for clusters of before 1.16, too.
  const definitions = (loadAll(text) as (Definition | null)[]).filter(
    (definition) => definition?.apiVersion === "apiextensions.k8s.io/v1",
  ) as Definition[];
  await define(definitions);
  const nulls = ({ properties = {} }: Schema): object => {
    const values = Object.entries(properties).map(([name, of]) => [
      name,
      of.nullable ? null : of.properties && nulls(of),
    ]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  };
  for (const resource of [InstancePool, Instance]) {
    const definition = definitions.find(({ spec }) => spec.names.kind === resource.kind)!;
    await client.create(
      resource as never,
      { metadata: { name: "empty" }, spec: nulls(schemaOf(definition).properties!.spec!) } as never,
    );
  }

  await installOurs();

  const labels = { seen: "yes" };
  const pool = await client.patch(InstancePool, { name: "empty" }, { type: "merge", body: { metadata: { labels } } });
  await client.updateStatus(InstancePool, { ...pool, status: { status: "ready" } });
  const instance = await client.patch(Instance, { name: "empty" }, { type: "merge", body: { metadata: { labels } } });
  await client.updateStatus(Instance, { ...instance, status: { status: "managed" } });
});

test("a newer Slipway's CRDs under a running operator: it goes on, and leaves what it does not know as it is", {
  skip,
}, async (t) => {
  const live = await startLive();
  t.after(() => live.close());
  await live.operator("--no-leader-election");
  await live.scale(1);
  await live.whole(1);

  const newer = structuredClone(crdOf([InstancePool]));
  const spec = schemaOf(newer).properties!.spec!;
  spec.properties!.colour = { type: "string", default: "blue" };
  const body = newer as never;
  await live.cluster.client.patch(
    CustomResourceDefinition,
    { name: newer.metadata.name },
    { type: "apply", body, fieldManager: "slipway", force: true },
  );
  const colour = async (): Promise<unknown> => {
    const pool = await live.cluster.client.get(InstancePool, { name: "rack" });
    return (pool.spec as { colour?: string }).colour;
  };
  await until("the new field is served", async () => (await colour()) === "blue", 60_000);
  await live.cluster.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { colour: "red" } } });
  await live.scale(2);
  await live.whole(2);
  assert.equal(await colour(), "red");
});
