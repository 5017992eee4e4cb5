/** What happens to watches of a custom resource when its definition changes under them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { WatchEvent, WatchStream } from "@slipway/kube";
import type { Body } from "../model/served.ts";
import { DEFINITIONS, WIDGET, WIDGETS, type World, widgets, world } from "../testing.ts";
import { webhookFunctions } from "../webhook/testing.ts";

const NAME = "widgets.example.com";
const MERGE = { contentType: "application/merge-patch+json" };
const SECOND_VERSION = WIDGETS.replace("/v1/", "/v2/");

type Definition = typeof widgets;

const widget = (name: string, spec: object = {}): object => ({ ...WIDGET, metadata: { name }, spec });

async function definitionOf(w: World): Promise<Definition> {
  return structuredClone(await w.ask("GET", `${DEFINITIONS}/${NAME}`)) as unknown as Definition;
}

/** Changes the definition as `change` says. */
async function redefine(w: World, change: (spec: Definition["spec"] & Record<string, unknown>) => void): Promise<void> {
  const definition = await definitionOf(w);
  change(definition.spec);
  await w.ask("PUT", `${DEFINITIONS}/${NAME}`, definition);
  await w.clock.settle();
}

/** Gives every version a new field, `spec.shape`. */
function addShape(spec: Definition["spec"]): void {
  for (const { schema } of spec.versions)
    Object.assign(schema.openAPIV3Schema.properties.spec.properties, { shape: { type: "string" } });
}

interface Follower {
  reported: string[];
  ended: boolean;
  /** The version that a client would go on from. */
  version: string;
}

/** Watches as a client does that notes how far it came and whether the server ended the watch. */
async function follow(w: World, path: string, query: Record<string, string>): Promise<Follower> {
  const stream = (await w.server.transport().watch({ method: "GET", path, query })) as WatchStream;
  const follower: Follower = { reported: [], ended: false, version: query.resourceVersion ?? "" };
  void (async () => {
    for await (const { type, object } of stream as AsyncIterable<WatchEvent>) {
      const { metadata, spec } = object as Body;
      follower.version = metadata.resourceVersion ?? "";
      if (type !== "BOOKMARK")
        follower.reported.push(`${type} ${metadata.name} ${(spec as { shape?: string }).shape ?? "-"}`);
    }
    follower.ended = true;
  })();
  await w.clock.settle();
  return follower;
}

const CHANGES: [what: string, change: (spec: Definition["spec"] & Record<string, unknown>) => void][] = [
  ["its schema", addShape],
  ["its printed columns", (spec) => Object.assign(spec.versions[0]!, { additionalPrinterColumns: [COLOR] })],
  [
    "its storage version",
    (spec) => {
      for (const version of spec.versions) version.storage = !version.storage;
    },
  ],
  ["how it is converted", (spec) => Object.assign(spec, { conversion: WEBHOOK })],
  ["another version that is no longer served", (spec) => Object.assign(spec.versions[1]!, { served: false })],
];

const COLOR = { name: "Color", type: "string", jsonPath: ".spec.color" };
const WEBHOOK = {
  strategy: "Webhook",
  webhook: { clientConfig: { url: "https://hooks/convert" }, conversionReviewVersions: ["v1"] },
};

for (const [what, change] of CHANGES)
  test(`a watch ends when its definition changes ${what}; from its last version a client goes on without a gap`, async () => {
    const w = await world({ webhooks: webhookFunctions({}) });
    await w.ask("POST", DEFINITIONS, widgets);
    await w.ask("POST", WIDGETS, widget("a"));
    const before = await follow(w, WIDGETS, { resourceVersion: "0" });
    await w.ask("POST", WIDGETS, widget("b"));
    await redefine(w, change);
    await w.ask("POST", WIDGETS, widget("c"));
    const after = await follow(w, WIDGETS, { resourceVersion: before.version });
    await w.ask("PATCH", `${WIDGETS}/a`, { spec: { color: "red" } }, MERGE);
    await w.clock.settle();
    assert.deepEqual([before.ended, before.reported], [true, ["ADDED a -", "ADDED b -"]]);
    assert.deepEqual([after.ended, after.reported], [false, ["ADDED c -", "MODIFIED a -"]]);
    await w.close();
  });

test("a new field is shown to every watcher, though one had a watch open before the definition knew it", async () => {
  const w = await world();
  await w.ask("POST", DEFINITIONS, widgets);
  const before = await follow(w, WIDGETS, { resourceVersion: "0" });
  await redefine(w, addShape);
  const watchers = [
    await follow(w, WIDGETS, { resourceVersion: "0" }),
    await follow(w, WIDGETS, { resourceVersion: "0" }),
  ];
  await w.ask("POST", WIDGETS, widget("a", { shape: "round" }));
  await w.clock.settle();
  assert.deepEqual(
    watchers.map(({ reported }) => reported),
    [["ADDED a round"], ["ADDED a round"]],
  );
  assert.deepEqual(before.reported, []);
  await w.close();
});

test("a version that is no longer served ends its watches and refuses new ones", async () => {
  const w = await world();
  await w.ask("POST", DEFINITIONS, widgets);
  const second = await follow(w, SECOND_VERSION, { resourceVersion: "0" });
  await redefine(w, (spec) => Object.assign(spec.versions[1]!, { served: false }));
  assert.equal(second.ended, true);
  assert.equal((await w.refused("GET", SECOND_VERSION, undefined, { query: { watch: "true" } })).code, 404);
  await w.close();
});

test("a definition that is deleted shows watchers each of its objects go, then ends them; its successor's are shown anew", async () => {
  const w = await world();
  await w.ask("POST", DEFINITIONS, widgets);
  await w.ask("POST", WIDGETS, widget("a"));
  await w.ask("POST", WIDGETS, widget("b"));
  const before = await follow(w, WIDGETS, { resourceVersion: "0" });
  await w.ask("DELETE", `${DEFINITIONS}/${NAME}`);
  await w.clock.settle();
  assert.deepEqual([before.ended, before.reported], [true, ["ADDED a -", "ADDED b -", "DELETED a -", "DELETED b -"]]);
  const successor = structuredClone(widgets);
  addShape(successor.spec);
  await w.ask("POST", DEFINITIONS, successor);
  await w.ask("POST", WIDGETS, widget("a", { shape: "round" }));
  const after = await follow(w, WIDGETS, { resourceVersion: before.version });
  assert.deepEqual(after.reported, ["ADDED a round"]);
  await w.close();
});

test("what does not change what is served leaves watches open: labels, a status, being applied again, other definitions", async () => {
  const w = await world();
  await w.ask("POST", DEFINITIONS, widgets);
  // Opened before the definition's status says that it is established.
  const watch = await follow(w, WIDGETS, { resourceVersion: "0" });
  await w.ask("PATCH", `${DEFINITIONS}/${NAME}`, { metadata: { labels: { a: "b" } } }, MERGE);
  await redefine(w, () => {});
  const other = structuredClone(widgets);
  Object.assign(other.metadata, { name: "gadgets.example.com" });
  Object.assign(other.spec.names, { plural: "gadgets", kind: "Gadget", shortNames: [] });
  await w.ask("POST", DEFINITIONS, other);
  await w.ask("DELETE", `${DEFINITIONS}/gadgets.example.com`);
  await w.ask("POST", WIDGETS, widget("a"));
  await w.clock.settle();
  assert.deepEqual([watch.ended, watch.reported], [false, ["ADDED a -"]]);
  await w.close();
});

test("watches that are asked for while a change of their definition is on its way to the disk end or see the new schema", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-watch-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const w = await world({ storage: { file: join(folder, "db") } });
  await w.ask("POST", DEFINITIONS, widgets);
  await w.clock.settle();
  const definition = await definitionOf(w);
  addShape(definition.spec);
  let changed = false;
  const changing = w.ask("PUT", `${DEFINITIONS}/${NAME}`, definition).then(() => {
    changed = true;
  });
  const opening: Promise<Follower>[] = [];
  for (; !changed && opening.length < 100; await undefined) opening.push(follow(w, WIDGETS, { resourceVersion: "0" }));
  await changing;
  const watches = await Promise.all(opening);
  await w.ask("POST", WIDGETS, widget("a", { shape: "round" }));
  await w.clock.settle();
  const open = watches.filter(({ ended }) => !ended);
  assert.ok(open.length > 0 && open.length < watches.length, `${open.length} of ${watches.length}`);
  for (const { reported } of open) assert.deepEqual(reported, ["ADDED a round"]);
  await w.close();
});

test("a bookmark never overtakes a change that waits for its conversion", async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const convert = async ({ objects, desiredAPIVersion }: { objects: Body[]; desiredAPIVersion: string }) => {
    await answered;
    const convertedObjects = objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion }));
    return { result: { status: "Success" }, convertedObjects };
  };
  const w = await world({ webhooks: webhookFunctions({ convert }) });
  await w.ask("POST", DEFINITIONS, { ...widgets, spec: { ...widgets.spec, conversion: WEBHOOK } });
  const stream = (await w.server.transport().watch({
    method: "GET",
    path: SECOND_VERSION,
    query: { resourceVersion: "1", allowWatchBookmarks: "true", timeoutSeconds: "300" },
  })) as WatchStream;
  const reported: string[] = [];
  void (async () => {
    for await (const { type } of stream) reported.push(type);
  })();
  await w.clock.run(50_000);
  await w.ask("POST", WIDGETS, widget("a"));
  await w.clock.run(20_000);
  assert.deepEqual(reported, []);
  answer();
  await w.clock.settle();
  assert.deepEqual(reported, ["ADDED", "BOOKMARK"]);
  await w.close();
});
