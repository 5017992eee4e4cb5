import { del, type Family, get, MERGE, patch, post, put, type Request, type Step, served, step } from "../step.ts";

const NAMESPACE = "/api/v1/namespaces/diff-watches";
const MAPS = `${NAMESPACE}/configmaps`;
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS = "/apis/watches.example.com/v1/namespaces/diff-watches/things";
const labels = { family: "watches" };
const OURS = { labelSelector: "family=watches" };
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.watches.example.com" },
  spec: {
    group: "watches.example.com",
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        additionalPrinterColumns: [{ name: "Colour", type: "string", jsonPath: ".colour" }],
      },
    ],
  },
};
const object = (path: string, name: string, more: object = {}) => ({
  ...(path === MAPS
    ? { apiVersion: "v1", kind: "ConfigMap", data: { x: "1" } }
    : { apiVersion: "watches.example.com/v1", kind: "Thing", colour: "red" }),
  metadata: { name, labels: { ...labels, ...more } },
});
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const META = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const META_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

interface Watching {
  accept?: string;
  /** Sent once the watch is open. */
  during?: Request[];
}

/** A watch for `events` events. */
const watching = (
  path: string,
  query: Record<string, string>,
  events: number,
  { accept, during = [] }: Watching = {},
): Step => ({
  ask: { ...get(path, { ...OURS, watch: "true", ...query }), ...(accept !== undefined && { accept }) },
  watch: { during, events },
});

/** Since the moment a list was kept. */
const since = (path: string, key: string, query: Record<string, string>, events: number): Step => ({
  ask: (kept) =>
    get(path, { ...OURS, watch: "true", resourceVersion: kept[key]!.body.metadata.resourceVersion, ...query }),
  watch: { events },
});

const BAD: Record<string, string>[] = [
  { resourceVersion: "x" },
  { resourceVersion: "-1" },
  { timeoutSeconds: "x" },
  { resourceVersionMatch: "NotOlderThan" },
  { resourceVersionMatch: "Exact", resourceVersion: "1" },
  { resourceVersionMatch: "x" },
  { sendInitialEvents: "true" },
  { sendInitialEvents: "false" },
  { sendInitialEvents: "true", resourceVersionMatch: "Exact" },
  { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", continue: "x" },
  { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", resourceVersion: "x" },
  { labelSelector: "a=b=c" },
  { fieldSelector: "nowhere=x" },
  { includeObject: "x" },
];

const steps = (path: string): Step[] => {
  const change = (name: string, body: object) => patch(`${path}/${name}`, MERGE, body);
  const colour = path === MAPS ? { data: { x: "2" } } : { colour: "blue" };
  return [
    step(post(path, object(path, "a")), { unseen: true }),
    step(post(path, object(path, "b")), { unseen: true }),
    step(get(path, OURS), { keep: `${path} two` }),
    // What there is, then what comes.
    watching(path, {}, 3, { during: [post(path, object(path, "c"))] }),
    watching(path, { resourceVersion: "0" }, 4, { during: [change("c", colour)] }),
    watching(path, { resourceVersion: "" }, 4, { during: [change("c", { metadata: { annotations: { a: "b" } } })] }),
    watching(path, { allowWatchBookmarks: "true" }, 5, { during: [del(`${path}/c`)] }),
    since(path, `${path} two`, {}, 4),
    since(path, `${path} two`, { timeoutSeconds: "1" }, 9),
    // A short watch ends before its first bookmark is due.
    since(path, `${path} two`, { timeoutSeconds: "1", allowWatchBookmarks: "true" }, 9),
    watching(path, { resourceVersion: "1", timeoutSeconds: "1" }, 9),
    // With the initial events marked.
    watching(path, { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }, 2),
    watching(
      path,
      { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" },
      4,
      { during: [post(path, object(path, "d"))] },
    ),
    watching(
      path,
      {
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: "true",
        resourceVersion: "0",
      },
      4,
    ),
    watching(
      path,
      {
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: "true",
        resourceVersion: "1",
      },
      4,
    ),
    watching(
      path,
      { sendInitialEvents: "false", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" },
      1,
      { during: [post(path, object(path, "e"))] },
    ),
    {
      ask: (kept) =>
        get(path, {
          ...OURS,
          watch: "true",
          sendInitialEvents: "true",
          resourceVersionMatch: "NotOlderThan",
          allowWatchBookmarks: "true",
          resourceVersion: kept[`${path} two`]!.body.metadata.resourceVersion,
        }),
      watch: { events: 5 },
    },
    watching(
      path,
      { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", resourceVersion: "999999999" },
      1,
    ),
    // Coming into the selection, changing in it, leaving it.
    watching(path, { labelSelector: "side=left", resourceVersion: "0" }, 4, {
      during: [
        change("a", { metadata: { labels: { side: "left" } } }),
        change("a", colour),
        change("a", { metadata: { labels: { side: "right" } } }),
        change("a", { metadata: { labels: { side: null } } }),
        change("b", { metadata: { labels: { side: "left" } } }),
      ],
    }),
    watching(path, { labelSelector: "side=left", resourceVersion: "0" }, 2, { during: [del(`${path}/b`)] }),
    watching(path, { labelSelector: "", fieldSelector: "metadata.name=a" }, 2, {
      during: [
        change("d", { metadata: { annotations: { x: "y" } } }),
        change("a", { metadata: { annotations: { x: "y" } } }),
      ],
    }),
    watching(path, { labelSelector: "", fieldSelector: "metadata.name!=a", resourceVersion: "0" }, 2),
    // Finalizers, updates that change nothing, and recreation.
    watching(path, { fieldSelector: "metadata.name=f", labelSelector: "" }, 4, {
      during: [
        post(path, { ...object(path, "f"), metadata: { name: "f", labels, finalizers: ["example.com/f"] } }),
        change("f", {}),
        del(`${path}/f`),
        change("f", { metadata: { finalizers: null } }),
        post(path, object(path, "f")),
      ],
    }),
    // Old paths, single objects, other spellings of true.
    { ask: get(path.replace("/v1/", "/v1/watch/"), OURS), watch: { events: 2 } },
    { ask: get(`${path.replace("/v1/", "/v1/watch/")}/a`), watch: { events: 1 } },
    { ask: get(`${path.replace("/v1/", "/v1/watch/")}/a`, { fieldSelector: "metadata.name=b" }), watch: { events: 1 } },
    {
      ask: get(path.replace("/v1/", "/v1/watch/").replace("namespaces/diff-watches/", ""), OURS),
      watch: { events: 2 },
    },
    step(get(`${path}/a`, { watch: "true" })),
    ...["1", "True", "yes", "x", ""].map((watch): Step => watching(path, { watch }, 1)),
    // Timeouts.
    watching(path, { timeoutSeconds: "1" }, 9),
    watching(path, { timeoutSeconds: "1", resourceVersion: "999999999" }, 9, { during: [change("a", colour)] }),
    // Other forms.
    ...[TABLE, META, META_LIST, `${TABLE},application/json`, "application/json;stream=watch", "*/*"].map((accept) =>
      watching(path, { timeoutSeconds: "1" }, 2, { accept }),
    ),
    ...["None", "Metadata", "Object"].map((includeObject) => watching(path, { includeObject }, 2, { accept: TABLE })),
    watching(path, { allowWatchBookmarks: "true" }, 4, { accept: TABLE }),
    watching(path, { allowWatchBookmarks: "true" }, 4, { accept: META }),
    watching(path, {}, 1, { accept: "application/yaml" }),
    watching(path, {}, 1, { accept: "text/plain" }),
    ...BAD.map((query) =>
      watching(path, { timeoutSeconds: "1", ...query }, 1, {
        accept: query.includeObject ? TABLE : "application/json",
      }),
    ),
    step(put(`${path}/a`, object(path, "a")), { unseen: true }),
  ];
};

const family: Family = {
  name: "watches",
  steps: [
    step(post(DEFINITIONS, definition), { unseen: true }),
    ...served("things.watches.example.com"),
    ...steps(MAPS),
    ...steps(THINGS),
    watching("/api/v1/pods", { labelSelector: "family=nowhere", timeoutSeconds: "1" }, 1),
    watching("/api/v1/namespaces/nowhere/pods", { timeoutSeconds: "1" }, 1),
    watching("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { timeoutSeconds: "1" }, 1),
    // The watch of what is not served any more ends.
    {
      ask: get(THINGS, { watch: "true", resourceVersion: "0", labelSelector: "a=b" }),
      watch: { events: 1, during: [del(`${DEFINITIONS}/things.watches.example.com`)] },
    },
  ],
};
export default family;
