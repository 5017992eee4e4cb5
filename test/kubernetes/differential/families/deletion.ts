import { defined, definition, withSpec } from "../definitions.ts";
import { del, type Family, get, type Json, MERGE, patch, post, type Step, step } from "../step.ts";

const GROUP = "deletion.example.com";
const NS = "diff-deletion";
const MAPS = `/api/v1/namespaces/${NS}/configmaps`;
const THINGS = `/apis/${GROUP}/v1/namespaces/${NS}/things`;

const map = (name: string, metadata: Json = {}): Step => step(post(MAPS, { metadata: { name, ...metadata } }));
const thing = (name: string, metadata: Json = {}, keep?: string): Step =>
  step(
    post(THINGS, { apiVersion: `${GROUP}/v1`, kind: "Thing", metadata: { name, ...metadata } }),
    keep === undefined ? {} : { keep },
  );
const gone = (path: string): Step => step(get(path), { until: ({ status }) => status === 404 });
const unheld = (path: string): Step => step(patch(path, MERGE, { metadata: { finalizers: null } }));
/** A ConfigMap that belongs to kept objects. */
const owned = (name: string, owners: readonly string[], more: Json = {}, metadata: Json = {}): Step =>
  step((kept) =>
    post(MAPS, {
      metadata: {
        name,
        ...metadata,
        ownerReferences: owners.map((owner) => {
          const { apiVersion, kind, metadata } = kept[owner]!.body;
          return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more };
        }),
      },
    }),
  );

const OPTIONS: Json[] = [
  { gracePeriodSeconds: -1 },
  { gracePeriodSeconds: 1.5 },
  { gracePeriodSeconds: "5" },
  { propagationPolicy: "Sideways" },
  { propagationPolicy: "Background", orphanDependents: true },
  { orphanDependents: "yes" },
  { preconditions: { uid: "00000000-0000-0000-0000-000000000000" } },
  { preconditions: { resourceVersion: "1" } },
  { preconditions: { uid: 5 } },
  { dryRun: ["All"] },
  { dryRun: ["Some"] },
  { kind: "DeleteOptions", apiVersion: "v1", dryRun: ["All"] },
  { kind: "DeleteOptions", apiVersion: `${GROUP}/v1`, dryRun: ["All"] },
  { kind: "Other", apiVersion: "v1" },
];
const QUERIES: Record<string, string>[] = [
  { dryRun: "All" },
  { dryRun: "Some" },
  { gracePeriodSeconds: "x" },
  { gracePeriodSeconds: "5", dryRun: "All" },
  { propagationPolicy: "Sideways" },
  { propagationPolicy: "Orphan", dryRun: "All" },
  { orphanDependents: "true", dryRun: "All" },
];

const family: Family = {
  name: "deletion",
  steps: [
    ...defined(definition(GROUP, "Thing", withSpec({ a: { type: "string" } }))),
    map("a"),
    ...OPTIONS.map((body) => step(del(`${MAPS}/a`, body))),
    ...QUERIES.map((query) => step(del(`${MAPS}/a`, undefined, { query }))),
    step(del(`${MAPS}/a`, "{")),
    step(del(`${MAPS}/a`, "[]")),
    step(del(`${MAPS}/none`)),
    step(del(`${MAPS}/none`, { preconditions: { uid: "x" } })),
    step(del(`${MAPS}/a`, { preconditions: { resourceVersion: "" } })),
    step(del(`${MAPS}/a`)),
    thing("a"),
    ...OPTIONS.map((body) => step(del(`${THINGS}/a`, body))),
    ...QUERIES.map((query) => step(del(`${THINGS}/a`, undefined, { query }))),
    step(del(`${THINGS}/a`, { gracePeriodSeconds: 0 })),
    step(del(`${THINGS}/a`)),
    // Finalizers hold what is deleted.
    map("held", { finalizers: ["example.com/a", "example.com/b"] }),
    step(del(`${MAPS}/held`)),
    step(del(`${MAPS}/held`)),
    step(patch(`${MAPS}/held`, MERGE, { metadata: { finalizers: ["example.com/a", "example.com/c"] } })),
    step(patch(`${MAPS}/held`, MERGE, { data: { x: "1" } })),
    step(patch(`${MAPS}/held`, MERGE, { metadata: { deletionTimestamp: null } })),
    step(patch(`${MAPS}/held`, MERGE, { metadata: { finalizers: ["example.com/b"] } })),
    unheld(`${MAPS}/held`),
    gone(`${MAPS}/held`),
    thing("held", { finalizers: ["example.com/a"] }),
    step(del(`${THINGS}/held`, { propagationPolicy: "Foreground" })),
    step(get(`${THINGS}/held`), { until: ({ body }) => body.metadata.finalizers.length === 1 }),
    step(del(`${THINGS}/held`)),
    step(patch(`${THINGS}/held`, MERGE, { spec: { a: "x" } })),
    unheld(`${THINGS}/held`),
    gone(`${THINGS}/held`),
    // Dependents: in the background, first, or left alone.
    thing("background", {}, "background"),
    owned("by-background", ["background"]),
    step(del(`${THINGS}/background`)),
    gone(`${MAPS}/by-background`),
    thing("foreground", {}, "foreground"),
    owned("by-foreground", ["foreground"], { blockOwnerDeletion: true }, { finalizers: ["example.com/a"] }),
    step(del(`${THINGS}/foreground`, { propagationPolicy: "Foreground" })),
    step(get(`${MAPS}/by-foreground`), { until: ({ body }) => body.metadata.deletionTimestamp !== undefined }),
    step(get(`${THINGS}/foreground`)),
    unheld(`${MAPS}/by-foreground`),
    gone(`${THINGS}/foreground`),
    thing("orphan", {}, "orphan"),
    owned("by-orphan", ["orphan"]),
    step(del(`${THINGS}/orphan`, { propagationPolicy: "Orphan" })),
    gone(`${THINGS}/orphan`),
    step(get(`${MAPS}/by-orphan`)),
    thing("old-orphan", {}, "oldOrphan"),
    owned("by-old-orphan", ["oldOrphan"]),
    step(del(`${THINGS}/old-orphan`, { orphanDependents: true })),
    gone(`${THINGS}/old-orphan`),
    step(get(`${MAPS}/by-old-orphan`)),
    // Several owners: the last one takes the dependent along.
    thing("one", {}, "one"),
    thing("two", {}, "two"),
    owned("by-both", ["one", "two"]),
    step(del(`${THINGS}/one`)),
    step(get(`${MAPS}/by-both`), { until: ({ body }) => body.metadata.ownerReferences.length === 1 }),
    step(del(`${THINGS}/two`)),
    gone(`${MAPS}/by-both`),
    // Owners that never were.
    map("no-owner", {
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "none", uid: "none" }],
    }),
    gone(`${MAPS}/no-owner`),
    // Collections.
    ...["x", "y", "z"].map((name) => map(name, { labels: { of: "collection", name } })),
    step(del(MAPS, undefined, { query: { labelSelector: "name=x", dryRun: "All" } })),
    step(del(MAPS, undefined, { query: { labelSelector: "name=x" } })),
    step(del(MAPS, undefined, { query: { labelSelector: "name in (x" } })),
    step(del(MAPS, undefined, { query: { fieldSelector: "metadata.name=y" } })),
    step(del(MAPS, { propagationPolicy: "Sideways" }, { query: { labelSelector: "of=collection" } })),
    step(get(MAPS, { labelSelector: "of=collection" })),
    step(del(MAPS, undefined, { query: { labelSelector: "of=collection" } })),
    step(get(MAPS, { labelSelector: "of=collection" })),
    thing("c", { labels: { of: "collection" } }),
    step(del(THINGS, undefined, { query: { labelSelector: "of=collection" } })),
    step(get(THINGS)),
    step(del(`/apis/${GROUP}/v1/things`)),
  ],
};
export default family;
