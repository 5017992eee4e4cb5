import { type Answer, del, type Family, get, type Json, post, put, type Step, served, step } from "../step.ts";

/** Groups that the embedded API serves, with their versions. */
const GROUPS = [
  "apiextensions.k8s.io/v1",
  "apiregistration.k8s.io/v1",
  "apps/v1",
  "authentication.k8s.io/v1",
  "authorization.k8s.io/v1",
  "admissionregistration.k8s.io/v1",
  "batch/v1",
  "certificates.k8s.io/v1",
  "coordination.k8s.io/v1",
  "discovery.k8s.io/v1",
  "events.k8s.io/v1",
  "node.k8s.io/v1",
  "policy/v1",
  "rbac.authorization.k8s.io/v1",
  "scheduling.k8s.io/v1",
  "storage.k8s.io/v1",
];
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const OLDER = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const OURS = "discovery.example.com";

const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  ...more,
});
const definition = (plural: string, kind: string, spec: object) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${OURS}` },
  spec: { group: OURS, scope: "Namespaced", names: { plural, kind }, ...spec },
});
const full = definition("things", "Thing", {
  names: { plural: "things", kind: "Thing", singular: "thingy", shortNames: ["th", "tg"], categories: ["all", "odd"] },
  versions: [
    version("v1", {
      storage: true,
      subresources: { status: {}, scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" } },
    }),
    version("v1beta1", { deprecated: true, subresources: { status: {} } }),
    version("v2alpha1", { served: false }),
    version("v2"),
  ],
});
const bare = definition("others", "Other", { scope: "Cluster", versions: [version("v1", { storage: true })] });

const SERVED = ["", OURS, ...GROUPS.map((groupVersion) => groupVersion.split("/")[0]!)];
/** Lists of what is served by name, as one server serves more; the order of what both serve is compared beside them. */
const only = (answer: Answer): Answer => {
  const { paths, groups, resources, items, ...rest } = answer.body ?? {};
  if (typeof answer.body !== "object") return answer;
  const byName = (list: Json[], name: (one: Json) => string): Json =>
    list && Object.fromEntries(list.map((one) => [name(one), one]));
  const order = (list: Json[], name: (one: Json) => string): string[] =>
    list?.map(name).filter((one) => SERVED.includes(one));
  const inResource = (resource: Json): Json => ({
    ...resource,
    subresources: byName(resource.subresources, (sub) => sub.subresource),
  });
  const inItem = (item: Json): Json => ({
    ...item,
    versions: byName(
      item.versions.map((v: Json) => ({ ...v, resources: byName(v.resources.map(inResource), (r) => r.resource) })),
      (v) => v.version,
    ),
  });
  const body = {
    ...rest,
    paths: byName(paths, (path) => path),
    groups: byName(groups, (group) => group.name),
    resources: byName(resources, (resource) => resource.name),
    items: byName(items?.map(inItem), (item) => item.metadata.name ?? ""),
    order: order(groups, (g) => g.name) ?? order(items, (item) => item.metadata.name ?? ""),
  };
  return { ...answer, body };
};

/** The entry of one group in an aggregated list, as if it were the whole. */
const listed = (answer: { body: Json }): boolean =>
  (answer.body.items ?? []).some((item: Json) => item.metadata.name === OURS && item.versions.length === 3);

const documents = ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", `/apis/${OURS}`, `/apis/${OURS}/v1`];
const own: Step[] = [
  step(get(`/apis/${OURS}`)),
  ...["v1", "v1beta1", "v2alpha1", "v2", "v3"].map((v) => step(get(`/apis/${OURS}/${v}`))),
];

const steps: Step[] = [
  ...["/", "/api", "/apis", "/version", "/api/v1", "/api/", "/apis/", "/api/v1/"].map((path) => step(get(path))),
  ...GROUPS.flatMap((groupVersion) => [
    step(get(`/apis/${groupVersion.split("/")[0]}`)),
    step(get(`/apis/${groupVersion}`)),
  ]),
  ...own,
  step(post(DEFINITIONS, full), { unseen: true }),
  ...served(`things.${OURS}`, "v2"),
  step(post(DEFINITIONS, bare), { unseen: true }),
  ...served(`others.${OURS}`),
  step(get(`/apis/${OURS}/v1`), { unseen: true, until: ({ body }) => body.resources?.length === 4 }),
  ...own,
  ...documents.flatMap((path) => [
    step(get(path, undefined, { accept: "application/yaml" })),
    step(get(path, undefined, { accept: "text/plain" })),
    step(get(path, undefined, { accept: "*/*" })),
    step(get(path, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" })),
    step(post(path, {})),
    step(put(path, {})),
    step(del(path)),
    step({ method: "HEAD", path }),
    step({ method: "OPTIONS", path }),
  ]),
  step(get("/apis", undefined, { accept: AGGREGATED }), { unseen: true, until: listed }),
  ...["/api", "/apis"].flatMap((path) => [
    step(get(path, undefined, { accept: AGGREGATED }), { keep: `aggregated ${path}` }),
    step((kept) =>
      get(path, undefined, {
        accept: AGGREGATED,
        headers: { "if-none-match": kept[`aggregated ${path}`]!.headers.etag! },
      }),
    ),
    step(get(path, undefined, { accept: AGGREGATED, headers: { "if-none-match": '"old"' } })),
    step(get(path, undefined, { accept: OLDER })),
    step(get(path, undefined, { accept: `${AGGREGATED},${OLDER},application/json` })),
    step(get(path, undefined, { accept: `${OLDER},${AGGREGATED},application/json` })),
    step(get(path, undefined, { accept: `application/json,${AGGREGATED}` })),
    step(get(path, undefined, { accept: AGGREGATED.replace("json", "yaml") })),
  ]),
  ...["/api/v1", "/apis/apps", "/apis/apps/v1", `/apis/${OURS}/v1`, "/version"].map((path) =>
    step(get(path, undefined, { accept: AGGREGATED })),
  ),
  step(del(`${DEFINITIONS}/others.${OURS}`), { unseen: true }),
  step(get(`/apis/${OURS}/v1`), { unseen: true, until: ({ body }) => body.resources?.length === 3 }),
  ...own,
  step(del(`${DEFINITIONS}/things.${OURS}`), { unseen: true }),
  step(get(`/apis/${OURS}`), { unseen: true, until: ({ status }) => status === 404 }),
  step(get(`/apis/${OURS}/v1`), { unseen: true, until: ({ status }) => status === 404 }),
  ...own,
];

const family: Family = {
  name: "discovery",
  steps: steps.map((one) => ({ only, ...one })),
};
export default family;
