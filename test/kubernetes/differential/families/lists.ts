import { del, type Family, get, post, type Step, served, step } from "../step.ts";

const NAMESPACE = "/api/v1/namespaces/diff-lists";
const MAPS = `${NAMESPACE}/configmaps`;
const SECRETS = `${NAMESPACE}/secrets`;
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS = "/apis/lists.example.com/v1/namespaces/diff-lists/things";
const labels = { family: "lists" };
const OURS = { labelSelector: "family=lists" };
const map = (name: string, group: string) => ({ metadata: { name, labels: { ...labels, group } }, data: { name } });
const thing = (name: string) => ({ apiVersion: "lists.example.com/v1", kind: "Thing", metadata: { name, labels } });
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.lists.example.com" },
  spec: {
    group: "lists.example.com",
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};

const NAMES = ["a", "b", "c", "d", "e", "f", "g"];

/** All pages of a collection, one after the other. */
function pages(path: string, limit: number, query: Record<string, string>, count: number): Step[] {
  const key = `${path} by ${limit} ${JSON.stringify(query)}`;
  return Array.from({ length: count }, (_, page) =>
    step(
      (kept) => {
        const token = page === 0 ? {} : { continue: kept[`${key} ${page - 1}`]!.body.metadata.continue ?? "" };
        return get(path, { ...query, limit: `${limit}`, ...token });
      },
      { keep: `${key} ${page}` },
    ),
  );
}

/** Options of a list, good and bad, in every combination that means something. */
const OPTIONS: Record<string, string>[] = [
  { limit: "0" },
  { limit: "-1" },
  { limit: "100" },
  { limit: "x" },
  { limit: "1.5" },
  { limit: "" },
  { limit: "99999999999999999999" },
  { resourceVersion: "0" },
  { resourceVersion: "0", limit: "2" },
  { resourceVersion: "" },
  { resourceVersion: "x" },
  { resourceVersion: "-1" },
  { resourceVersion: "1.5" },
  { resourceVersion: "1" },
  { resourceVersion: "1", limit: "2" },
  { resourceVersion: "99999999999999999999999" },
  { resourceVersionMatch: "Exact" },
  { resourceVersionMatch: "NotOlderThan" },
  { resourceVersionMatch: "Whatever" },
  { resourceVersionMatch: "Whatever", resourceVersion: "1" },
  { resourceVersionMatch: "exact", resourceVersion: "1" },
  { resourceVersionMatch: "Exact", resourceVersion: "0" },
  { resourceVersionMatch: "Exact", resourceVersion: "x" },
  { resourceVersionMatch: "NotOlderThan", resourceVersion: "0" },
  { resourceVersionMatch: "NotOlderThan", resourceVersion: "0", limit: "2" },
  { resourceVersionMatch: "NotOlderThan", resourceVersion: "1" },
  { resourceVersionMatch: "NotOlderThan", resourceVersion: "1", limit: "2" },
  { resourceVersionMatch: "NotOlderThan", continue: "x" },
  { resourceVersionMatch: "NotOlderThan", continue: "x", resourceVersion: "1" },
  { continue: "x" },
  { continue: "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLiJ9" },
  { continue: "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0" },
  { continue: "eyJ2IjoidjIiLCJydiI6MSwic3RhcnQiOiJhIn0" },
  { continue: "e30" },
  { sendInitialEvents: "true" },
  { sendInitialEvents: "false" },
  { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" },
  { sendInitialEvents: "x" },
  { allowWatchBookmarks: "true" },
  { allowWatchBookmarks: "x" },
  { timeoutSeconds: "1" },
  { timeoutSeconds: "x" },
  { timeoutSeconds: "-1" },
  { timeout: "1s" },
  { timeout: "x" },
  { timeout: "1" },
  { timeout: "1m30.5s" },
  { timeout: "1d" },
  { timeout: "-1s" },
  { watch: "false" },
  { watch: "0" },
  { pretty: "true" },
  { pretty: "x" },
  { unknown: "x" },
];

const family: Family = {
  name: "lists",
  steps: [
    ...NAMES.map((name, at) => step(post(MAPS, map(name, at < 4 ? "low" : "high")), { unseen: true })),
    step(post(DEFINITIONS, definition), { unseen: true }),
    ...served("things.lists.example.com"),
    ...NAMES.map((name) => step(post(THINGS, thing(name)), { unseen: true })),
    ...[MAPS, THINGS].flatMap((path) => [
      step(get(path, OURS), { keep: path }),
      ...OPTIONS.map((query) => step(get(path, { ...OURS, ...query }))),
      ...pages(path, 3, {}, 3),
      ...pages(path, 3, OURS, 3),
      ...pages(path, 2, { labelSelector: "group=low" }, path === MAPS ? 2 : 1),
      ...pages(path, 5, { ...OURS, resourceVersion: "0" }, 1),
      step((kept) => get(path, { ...OURS, resourceVersion: kept[path]!.body.metadata.resourceVersion })),
      ...["Exact", "NotOlderThan"].flatMap((resourceVersionMatch) => [
        step((kept) =>
          get(path, { ...OURS, resourceVersionMatch, resourceVersion: kept[path]!.body.metadata.resourceVersion }),
        ),
        step((kept) =>
          get(path, {
            ...OURS,
            resourceVersionMatch,
            limit: "2",
            resourceVersion: kept[path]!.body.metadata.resourceVersion,
          }),
        ),
        step(get(path, { ...OURS, resourceVersionMatch, resourceVersion: "999999999" })),
      ]),
      step(get(path, { ...OURS, resourceVersion: "999999999" })),
      step(get(`${path}/a`, { resourceVersion: "999999999" })),
      step(get(`${path}/a`, { resourceVersion: "0" })),
      step(get(`${path}/a`, { resourceVersion: "1" })),
      step(get(`${path}/a`, { resourceVersion: "x" })),
      step(get(`${path}/a`, { resourceVersionMatch: "Exact" })),
      step(get(`${path}/a`, { pretty: "true", export: "true" })),
      step(get(`${path}/a`, { export: "false" })),
      step(get(`${path}/a`, { export: "x" })),
      // Pages show the collection as it was at the first of them.
      step(get(path, { ...OURS, limit: "3" }), { keep: `${path} first` }),
      step(del(`${path}/e`), { unseen: true }),
      step(post(path, path === MAPS ? map("dd", "low") : thing("dd")), { unseen: true }),
      step((kept) => get(path, { ...OURS, limit: "9", continue: kept[`${path} first`]!.body.metadata.continue })),
      step((kept) =>
        get(path, {
          ...OURS,
          limit: "9",
          continue: kept[`${path} first`]!.body.metadata.continue,
          resourceVersion: "1",
        }),
      ),
      step((kept) =>
        get(path, {
          ...OURS,
          limit: "9",
          continue: kept[`${path} first`]!.body.metadata.continue,
          resourceVersion: "0",
        }),
      ),
      step((kept) =>
        get(path, {
          ...OURS,
          resourceVersionMatch: "Exact",
          resourceVersion: kept[`${path} first`]!.body.metadata.resourceVersion,
        }),
      ),
      step(get(path, OURS)),
    ]),
    step(get(SECRETS)),
    step(get("/api/v1/configmaps", OURS)),
    step(get("/api/v1/configmaps", { ...OURS, limit: "2" })),
    step(get("/apis/lists.example.com/v1/things", { limit: "2" })),
    step(get("/api/v1/namespaces/nowhere/configmaps")),
    step(get("/api/v1/namespaces/nowhere/configmaps/a")),
    step(get("/apis/lists.example.com/v1/namespaces/nowhere/things")),
  ],
};
export default family;
