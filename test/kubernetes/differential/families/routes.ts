import { del, type Family, get, MERGE, patch, post, put, type Request, type Step, served, step } from "../step.ts";

const NAMESPACE = "/api/v1/namespaces/diff-routes";
const MAPS = `${NAMESPACE}/configmaps`;
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP = "/apis/routes.example.com/v1";
const THINGS = `${GROUP}/namespaces/diff-routes/things`;
const PLACES = `${GROUP}/places`;
const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const thing = (name: string, kind = "Thing") => ({
  apiVersion: "routes.example.com/v1",
  kind,
  metadata: { name },
});
const definition = (plural: string, kind: string, scope: string, more: object = {}) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.routes.example.com` },
  spec: {
    group: "routes.example.com",
    scope,
    names: { plural, kind },
    versions: [
      { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } }, ...more },
      { name: "v2", served: false, storage: false, schema: { openAPIV3Schema: { type: "object" } } },
    ],
  },
});

const nowhere = [
  "/nowhere",
  "/api/v1/nowhere",
  "/api/v1/nowhere/a",
  "/api/v2",
  "/api/v2/pods",
  "/api/v1/pods/a",
  "/api/v1/namespaces/diff-routes/nowhere",
  "/api/v1/namespaces/diff-routes/nodes",
  "/api/v1/namespaces/diff-routes/nodes/a",
  "/api/v1/namespaces/diff-routes/configmaps/a/status",
  "/api/v1/namespaces/diff-routes/configmaps/a/b/c",
  "/api/v1/namespaces/diff-routes/pods/a/nowhere",
  "/api/v1/nodes/a/nowhere",
  "/apis/nowhere",
  "/apis/nowhere/v1",
  "/apis/nowhere.example.com/v1/things",
  "/apis/nowhere.example.com/v1/namespaces/diff-routes/things/a",
  "/apis/apps/v2",
  "/apis/apps/v2/deployments",
  "/apis/apps/v1/nowhere",
  "/apis/apps/v1/namespaces/diff-routes/nowhere/a",
  "/apis/apps/v1/namespaces/diff-routes/deployments/a/nowhere",
  "/version/nowhere",
  "/openapi/v3/nowhere",
  "/openapi/v3/apis/nowhere/v1",
  "/openapi/v4",
];

const wrongMethods: Request[] = [
  post(`${MAPS}/a`, map("a")),
  put(MAPS, map("a")),
  patch(MAPS, MERGE, {}),
  post("/api/v1/configmaps", map("a")),
  del("/api/v1/configmaps"),
  del("/api/v1/namespaces"),
  put("/api/v1/configmaps", map("a")),
  post("/version", {}),
  post("/api", {}),
  post("/api/v1", {}),
  put("/apis/apps", {}),
  del("/apis/apps/v1"),
  { method: "OPTIONS", path: MAPS },
  { method: "OPTIONS", path: `${MAPS}/a` },
  { method: "OPTIONS", path: "/api" },
  { method: "HEAD", path: MAPS },
  { method: "HEAD", path: `${MAPS}/a` },
  { method: "HEAD", path: `${MAPS}/nowhere` },
  { method: "HEAD", path: "/api/v1" },
  { method: "HEAD", path: "/nowhere" },
  get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
  get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/a"),
  put("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/a", {}),
  get(`${NAMESPACE}/pods/a/eviction`),
  put(`${NAMESPACE}/pods/a/eviction`, {}),
  post(`${NAMESPACE}/pods/a/status`, {}),
  del(`${NAMESPACE}/pods/a/status`),
  get(`${NAMESPACE}/finalize`),
  post(`${NAMESPACE}/status`, {}),
];

/** Every method on a path. */
const everyMethod = (path: string): Step[] =>
  (["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const).map((method) =>
    step({
      method,
      path,
      ...(["POST", "PUT", "PATCH"].includes(method) && {
        body: method === "PATCH" ? {} : thing("a", path.includes("places") ? "Place" : "Thing"),
        contentType: method === "PATCH" ? MERGE : "application/json",
      }),
    }),
  );

/** Paths of defined kinds, there or not. */
const defined = [
  `${GROUP}/nowhere`,
  `${GROUP}/namespaces/diff-routes/nowhere/a`,
  "/apis/routes.example.com/v2/namespaces/diff-routes/things",
  "/apis/routes.example.com/v3/namespaces/diff-routes/things",
  `${GROUP}/things`,
  `${GROUP}/things/a`,
  `${GROUP}/namespaces/diff-routes/places`,
  `${GROUP}/namespaces/diff-routes/places/a`,
  `${THINGS}/nowhere`,
  `${THINGS}/a/status`,
  `${THINGS}/a/scale`,
  `${THINGS}/a/nowhere`,
  `${THINGS}/a/b/c`,
  `${PLACES}/nowhere`,
  `${PLACES}/a/status`,
];

const odd = [
  `${MAPS}/`,
  `${MAPS}/a/`,
  "//api/v1/namespaces",
  "/api//v1/namespaces",
  "/api/v1//namespaces",
  "/apis/coordination.k8s.io/v1/namespaces/diff-routes/leases/",
  "/api/v1/namespaces/diff-routes/configmaps/%61",
  "/api/v1/namespaces/diff-routes/configmaps/%2e%2e",
  "/api/v1/namespaces/diff-routes/configmaps/a%2Fb",
  "/API/v1/namespaces",
  "/api/V1/namespaces",
  "/api/v1/Namespaces",
  "/api/v1/namespace",
  "/api/v1/watch/nowhere",
  "/api/v1/proxy/namespaces/x",
  "/apis//v1",
  "/metrics/nowhere",
];

const family: Family = {
  name: "routes",
  steps: [
    step(post(MAPS, map("a")), { unseen: true }),
    step(post(DEFINITIONS, definition("things", "Thing", "Namespaced", { subresources: { status: {} } })), {
      unseen: true,
    }),
    step(post(DEFINITIONS, definition("places", "Place", "Cluster")), { unseen: true }),
    ...served("things.routes.example.com"),
    ...served("places.routes.example.com"),
    step(post(THINGS, thing("a")), { unseen: true }),
    ...nowhere.map((path) => step(get(path))),
    ...nowhere.slice(0, 4).map((path) => step(post(path, {}))),
    ...wrongMethods.map((request) => step(request)),
    ...odd.map((path) => step(get(path))),
    ...defined.flatMap(everyMethod),
    step(put(THINGS, thing("a"))),
    step(patch(THINGS, MERGE, {})),
    step({ method: "OPTIONS", path: THINGS }),
    step({ method: "HEAD", path: THINGS }),
    step({ method: "HEAD", path: `${THINGS}/a` }),
    step(post(`${THINGS}/a`, thing("a"))),
    step(post(`${THINGS}/b`, thing("b"))),
  ],
};
export default family;
