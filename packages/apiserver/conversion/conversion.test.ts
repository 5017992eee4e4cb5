import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Body } from "../model/served.ts";
import { DEFINITIONS, type World, world } from "../testing.ts";
import { type Review, webhookFunctions } from "../webhook/testing.ts";

const path = (version: string): string => `/apis/sea.example.com/${version}/namespaces/default/boats`;
const MERGE = { contentType: "application/merge-patch+json" };
const apply = (fieldManager: string, force = "false") => ({
  contentType: "application/apply-patch+yaml",
  query: { fieldManager, force },
});

/** Boats: v1 (stored) has `spec.name`, v2 calls it `spec.title`. */
function boats(conversion: object = { strategy: "None" }, stored = "v1"): object {
  const version = (name: string, field: string, crew: number) => ({
    name,
    served: true,
    storage: name === stored,
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              [field]: { type: "string" },
              oars: { type: "integer" },
              crew: { type: "integer", default: crew },
            },
          },
          status: { type: "object", properties: { afloat: { type: "boolean" } } },
        },
      },
    },
  });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "boats.sea.example.com" },
    spec: {
      group: "sea.example.com",
      scope: "Namespaced",
      names: { plural: "boats", kind: "Boat" },
      versions: [version("v1", "name", 1), version("v2", "title", 2)],
      conversion,
    },
  };
}

const boat = (version: string, name: string, spec: object): object => ({
  apiVersion: `sea.example.com/${version}`,
  kind: "Boat",
  metadata: { name },
  spec,
});

/** Renames the field, both ways. */
function renamed(object: Body, apiVersion: string): Body {
  const { name, title, ...rest } = (object.spec ?? {}) as Record<string, unknown>;
  const value = name ?? title;
  const field = apiVersion.endsWith("v1") ? "name" : "title";
  return { ...object, apiVersion, spec: { ...rest, ...(value !== undefined && { [field]: value }) } };
}

const WEBHOOK = {
  strategy: "Webhook",
  webhook: { clientConfig: { url: "https://hooks/convert" }, conversionReviewVersions: ["v1"] },
};
const convert = ({ objects, desiredAPIVersion }: Review) => ({
  result: { status: "Success" },
  convertedObjects: objects.map((object: Body) => renamed(object, desiredAPIVersion)),
});

const ways: [way: string, start: () => Promise<World>][] = [
  ["by a function", () => world({ conversions: { "boats.sea.example.com": renamed } })],
  ["by webhook", () => world({ webhooks: webhookFunctions({ convert }) })],
];

for (const [way, start] of ways) {
  const withBoats = async (act: (w: World) => Promise<void>): Promise<void> => {
    const w = await start();
    try {
      await w.ask("POST", DEFINITIONS, boats(way === "by webhook" ? WEBHOOK : undefined));
      await act(w);
    } finally {
      await w.close();
    }
  };

  test(`${way}: what is written in one version is read, listed, patched and deleted in the other`, () =>
    withBoats(async (w) => {
      await w.ask("POST", path("v2"), boat("v2", "a", { title: "Argo" }));
      assert.deepEqual((await w.ask("GET", `${path("v1")}/a`)).spec, { crew: 2, name: "Argo" });
      await w.ask("PATCH", `${path("v1")}/a`, { spec: { name: "Beagle" } }, MERGE);
      const [listed] = (await w.ask("GET", path("v2"))).items as Body[];
      assert.deepEqual([listed?.apiVersion, listed?.spec], ["sea.example.com/v2", { crew: 2, title: "Beagle" }]);
      await w.ask("DELETE", `${path("v2")}/a`);
      assert.equal((await w.refused("GET", `${path("v1")}/a`)).code, 404);
    }));

  test(`${way}: a watch shows every change once, in order, in its own version`, () =>
    withBoats(async (w) => {
      await w.ask("POST", path("v1"), boat("v1", "a", { name: "Argo" }));
      const watch = await w.watch(path("v2"), { resourceVersion: "0" });
      for (const name of ["b", "c"]) await w.ask("POST", path("v1"), boat("v1", name, { name }));
      await w.ask("PATCH", `${path("v1")}/b`, { spec: { name: "bb" } }, MERGE);
      await w.ask("DELETE", `${path("v1")}/c`);
      await w.clock.settle();
      const seen = watch.seen.map(({ type, object }) => {
        const { metadata, spec } = object as Body;
        return `${type} ${metadata.name} ${(spec as { title: string }).title}`;
      });
      assert.deepEqual(seen, ["ADDED a Argo", "ADDED b b", "ADDED c c", "MODIFIED b bb", "DELETED c c"]);
      watch.stop();
    }));

  test(`${way}: owners of a field are known in whatever version they wrote it`, () =>
    withBoats(async (w) => {
      await w.ask("PATCH", `${path("v1")}/a`, boat("v1", "a", { name: "Argo", oars: 2 }), apply("x"));
      const refused = await w.refused("PATCH", `${path("v2")}/a`, boat("v2", "a", { title: "Beagle" }), apply("y"));
      assert.equal(refused.message, 'Apply failed with 1 conflict: conflict with "x": .spec.name');
      await w.ask("PATCH", `${path("v2")}/a`, boat("v2", "a", { title: "Beagle" }), apply("y", "true"));
      const left = await w.ask("PATCH", `${path("v2")}/a`, boat("v2", "a", {}), apply("x"));
      assert.deepEqual(left.spec, { crew: 1, title: "Beagle" }, "x gave its oars up, and its name was taken");
    }));
}

test("a list asks the webhook once for all", async () => {
  const webhooks = webhookFunctions({ convert });
  const w = await world({ webhooks });
  await w.ask("POST", DEFINITIONS, boats(WEBHOOK));
  for (const name of ["a", "b", "c"]) await w.ask("POST", path("v1"), boat("v1", name, { name }));
  webhooks.posts.length = 0;
  assert.equal(((await w.ask("GET", path("v2"))).items as Body[]).length, 3);
  assert.equal(webhooks.posts.length, 1);
  await w.ask("GET", `${path("v2")}/b`);
  assert.equal(webhooks.posts.length, 1, "what was converted once is not asked for again");
  await w.close();
});

test("a converter may change nothing of the metadata but labels and annotations", async () => {
  const meddle = (object: Body, apiVersion: string): Body => ({
    ...renamed(object, apiVersion),
    metadata: { ...object.metadata, generation: 99, finalizers: ["x.example.com/y"], labels: { by: "converter" } },
  });
  const w = await world({ conversions: { "boats.sea.example.com": meddle } });
  await w.ask("POST", DEFINITIONS, boats());
  await w.ask("POST", path("v1"), boat("v1", "a", {}));
  const { generation, finalizers, labels } = (await w.ask("GET", `${path("v2")}/a`)).metadata;
  assert.deepEqual([generation, finalizers, labels], [1, undefined, { by: "converter" }]);
  await w.close();
});

test("a conversion that fails is reported to readers and writers, and ends a watch with an error", async () => {
  let broken = false;
  const flaky = (request: Review) =>
    broken ? { result: { status: "Failure", message: "not today" } } : convert(request);
  const w = await world({ webhooks: webhookFunctions({ convert: flaky }) });
  await w.ask("POST", DEFINITIONS, boats(WEBHOOK));
  const watch = await w.watch(path("v2"), { resourceVersion: "0" });
  broken = true;
  await w.ask("POST", path("v1"), boat("v1", "a", {}));
  const message = "conversion webhook for sea.example.com/v1, Kind=Boat failed: not today";
  const { code, message: told } = await w.refused("GET", `${path("v2")}/a`);
  assert.deepEqual([code, told], [500, message]);
  assert.match(
    (await w.refused("POST", path("v2"), boat("v2", "b", {}))).message ?? "",
    /v2, Kind=Boat failed: not today/,
  );
  await w.clock.settle();
  assert.deepEqual(
    watch.seen.map((e) => [e.type, (e.object as Body).message]),
    [["ERROR", message]],
  );
  broken = false;
  assert.equal((await w.ask("GET", `${path("v2")}/a`)).metadata.name, "a");
  await w.close();
});

test("owners are dropped where the object can't be shown in the version that one of them wrote in; the write goes on", async () => {
  let broken = false;
  const oneWay = (request: Review) =>
    broken && request.desiredAPIVersion.endsWith("v2")
      ? { result: { status: "Failure", message: "not that way" } }
      : convert(request);
  const w = await world({ webhooks: webhookFunctions({ convert: oneWay }) });
  await w.ask("POST", DEFINITIONS, boats(WEBHOOK));
  for (const name of ["merged", "replaced", "applied"])
    await w.ask("POST", path("v2"), boat("v2", name, { title: "Argo" }));
  broken = true;
  const merged = await w.ask("PATCH", `${path("v1")}/merged`, { spec: { oars: 2 } }, MERGE);
  assert.deepEqual([merged.spec, merged.metadata.managedFields], [{ crew: 2, name: "Argo", oars: 2 }, undefined]);
  const again = await w.ask("PATCH", `${path("v1")}/merged/status`, { status: { afloat: true } }, MERGE);
  assert.deepEqual([again.status, again.metadata.managedFields], [{ afloat: true }, undefined]);
  const held = await w.ask("GET", `${path("v1")}/replaced`);
  const replaced = await w.ask("PUT", `${path("v1")}/replaced`, { ...held, spec: { oars: 3 } });
  assert.deepEqual([replaced.spec, replaced.metadata.managedFields], [{ crew: 1, oars: 3 }, undefined]);
  const refused = await w.refused("PATCH", `${path("v1")}/applied`, boat("v1", "applied", { oars: 4 }), apply("x"));
  assert.equal(refused.code, 500, "who applies must be sure whose fields there are");
  await w.close();
});

test("an object stays in the version it was stored in until it is written, whatever is stored since", async () => {
  const w = await world({ conversions: { "boats.sea.example.com": renamed } });
  await w.ask("POST", DEFINITIONS, boats());
  await w.ask("POST", path("v1"), boat("v1", "a", { name: "Argo" }));
  const replaced = (await w.ask("GET", `${DEFINITIONS}/boats.sea.example.com`)) as Body;
  const { spec } = boats(undefined, "v2") as unknown as Body;
  const after = await w.ask("PUT", `${DEFINITIONS}/boats.sea.example.com`, { ...replaced, spec });
  assert.deepEqual((after.status as { storedVersions: string[] }).storedVersions, ["v1", "v2"]);
  for (const version of ["v1", "v2"]) assert.equal((await w.ask("GET", `${path(version)}/a`)).kind, "Boat");
  assert.deepEqual((await w.ask("GET", `${path("v2")}/a`)).spec, { crew: 1, title: "Argo" });
  await w.close();
});

test("an object that is stored in a version which the definition gave up is read by the version that is left", async () => {
  const w = await world();
  const definition = `${DEFINITIONS}/boats.sea.example.com`;
  await w.ask("POST", DEFINITIONS, boats());
  await w.ask("POST", path("v1"), boat("v1", "a", { name: "Argo", oars: 2 }));
  const { spec } = boats(undefined, "v2") as { spec: { versions: { name: string }[] } };
  const held = await w.ask("GET", definition);
  await w.ask("PUT", definition, { ...held, spec });
  await w.ask("PATCH", `${definition}/status`, { status: { storedVersions: ["v2"] } }, MERGE);
  const versions = spec.versions.filter(({ name }) => name === "v2");
  await w.ask("PUT", definition, { ...(await w.ask("GET", definition)), spec: { ...spec, versions } });
  assert.deepEqual((await w.ask("GET", `${path("v2")}/a`)).spec, { crew: 1, oars: 2 });
  await w.close();
});

test("a round trip through the other version gives back what was written, whatever it is", async () => {
  const w = await world({ conversions: { "boats.sea.example.com": renamed } });
  await w.ask("POST", DEFINITIONS, boats());
  const specs = fc.record({ title: fc.string(), oars: fc.nat() }, { requiredKeys: [] });
  let n = 0;
  await fc.assert(
    fc.asyncProperty(specs, async (spec) => {
      const name = `b${n++}`;
      await w.ask("POST", path("v2"), boat("v2", name, { crew: 3, ...spec }));
      assert.deepEqual((await w.ask("GET", `${path("v2")}/${name}`)).spec, { crew: 3, ...spec });
    }),
    { numRuns: 30 },
  );
  await w.close();
});
