import { type Family, get, patch, post, type Step, served, step } from "../step.ts";

const MAPS = "/api/v1/namespaces/diff-negotiation/configmaps";
const THINGS = "/apis/negotiation.example.com/v1/namespaces/diff-negotiation/things";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const map = (name: string, data?: object) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...(data && { data }),
});
const thing = (name: string) => ({ apiVersion: "negotiation.example.com/v1", kind: "Thing", metadata: { name } });
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.negotiation.example.com" },
  spec: {
    group: "negotiation.example.com",
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};

const types = [
  "text/plain",
  "application/xml",
  "application/cbor",
  "application/vnd.kubernetes.protobuf",
  "application/json-patch+json",
  "application/json; charset=utf-8",
  "application/json;charset",
  "application/yaml",
  "APPLICATION/JSON",
  "*/*",
  "",
  ",",
  "nonsense",
];

const accepts = [
  "text/plain",
  "application/xml",
  "application/cbor",
  "application/json;as=Nothing",
  "application/json;as=Table;v=v2;g=meta.k8s.io",
  "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
  "application/json;as=Table;v=v1;g=nowhere",
  "application/json;as=Table;v=v1",
  "application/json;as=Table",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
  "application/json;as=Nothing,application/json",
  "application/vnd.kubernetes.protobuf,application/json",
  "application/vnd.kubernetes.protobuf, */*",
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "text/*",
  "application/*",
  "*/*",
  "application/json;q=0",
  "application/json;q=0.1,application/yaml;q=0.9",
  "application/json;stream=watch",
  "application/json; charset=utf-8",
  "nonsense",
  ",",
];

/** Where protobuf would be the answer the request says so, for the ledger. */
const marked = (accept: string) =>
  accept.startsWith("application/vnd.kubernetes.protobuf") ? { form: "protobuf" } : {};
const DRY = { query: { dryRun: "All" } };
/** What text looks like in YAML, where it needs quotes. */
const TEXTS = [
  "",
  " a",
  "a ",
  "1",
  "1.0",
  "true",
  "no",
  "null",
  "~",
  "a: b",
  "- a",
  "#a",
  "a #b",
  "x\ny",
  "x\ny\n",
  "\t",
  "'",
  '"',
  "é",
  "2026-01-01",
  "0x1",
  "1e3",
  "@a",
  "*a",
  "&a",
  "!a",
  "{a}",
  "[a]",
  "y",
  ":",
  "?",
  "|",
  ">",
];
const texts = Object.fromEntries(TEXTS.map((text, at) => [`t${at}`, text]));

const steps = (path: string, object: (name: string) => object): Step[] => [
  // Upstream breaks the connection over protobuf for a kind that has none.
  ...types
    .filter((contentType) => path === MAPS || !contentType.includes("protobuf"))
    .map((contentType) => step(post(path, object("typed"), { contentType, ...DRY }))),
  ...types.map((contentType) => step(patch(`${path}/a`, contentType, {}, DRY))),
  ...accepts.map((accept) => step(get(`${path}/nowhere`, marked(accept), { accept }))),
  ...accepts.map((accept) =>
    step(get(path, { fieldSelector: "metadata.name=nowhere", ...marked(accept) }, { accept })),
  ),
  ...accepts.map((accept) => step(get(`${path}/a`, marked(accept), { accept }))),
];

const family: Family = {
  name: "negotiation",
  steps: [
    step(post(MAPS, map("a", texts)), { unseen: true }),
    step(post(DEFINITIONS, definition), { unseen: true }),
    ...served("things.negotiation.example.com"),
    step(post(THINGS, thing("a")), { unseen: true }),
    ...steps(MAPS, map),
    ...steps(THINGS, thing),
    ...accepts.map((accept) => step(get("/api", marked(accept), { accept }))),
    ...accepts.map((accept) => step(get("/apis/apps/v1", marked(accept), { accept }))),
    ...accepts.map((accept) => step(get("/apis/negotiation.example.com/v1", marked(accept), { accept }))),
    step(get("/version", undefined, { accept: "application/yaml" })),
    step(get("/version", undefined, { accept: "text/plain" })),
    step(get("/healthz", undefined, { accept: "application/json" })),
  ],
};
export default family;
