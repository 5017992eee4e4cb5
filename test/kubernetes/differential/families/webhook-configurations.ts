import {
  APPLY,
  del,
  type Family,
  get,
  type Json,
  MERGE,
  patch,
  post,
  put,
  STRATEGIC,
  type Step,
  step,
} from "../step.ts";

const BASE = "/apis/admissionregistration.k8s.io/v1";
const MUTATING = `${BASE}/mutatingwebhookconfigurations`;
const VALIDATING = `${BASE}/validatingwebhookconfigurations`;
const anyMap = { operations: ["CREATE", "UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };

const configuration = (kind: string, name: string, webhooks: Json[]): Json => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: `${kind}WebhookConfiguration`,
  metadata: { name },
  webhooks,
});

const bare = {
  name: "a.example.com",
  clientConfig: { url: "https://127.0.0.1/a" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};
const client = (clientConfig: Json): Json => ({ ...bare, clientConfig });
const rule = (more: Json): Json => ({ ...bare, rules: [{ ...anyMap, ...more }] });
const refusedHooks: Json[] = [
  { ...bare, name: "a" },
  { ...bare, name: "" },
  { ...bare, name: "A.example.com" },
  { ...bare, name: undefined },
  { ...bare, sideEffects: undefined },
  { ...bare, sideEffects: "Some" },
  { ...bare, sideEffects: "Never" },
  { ...bare, failurePolicy: "Never" },
  { ...bare, matchPolicy: "Never" },
  { ...bare, timeoutSeconds: 0 },
  { ...bare, timeoutSeconds: 31 },
  { ...bare, admissionReviewVersions: undefined },
  { ...bare, admissionReviewVersions: [] },
  { ...bare, admissionReviewVersions: ["v2"] },
  { ...bare, admissionReviewVersions: ["v1", "v1"] },
  { ...bare, admissionReviewVersions: ["v1", "-"] },
  client({}),
  client(undefined),
  client({ url: "https://a", service: { namespace: "a", name: "b" } }),
  client({ url: "http://a" }),
  client({ url: "a" }),
  client({ url: "https://user@a/b?c=d#e" }),
  client({ url: "https://" }),
  client({ service: { namespace: "", name: "" } }),
  client({ service: { namespace: "a", name: "b", port: 0 } }),
  client({ service: { namespace: "a", name: "b", path: "a" } }),
  client({ service: { namespace: "a", name: "b", path: "//" } }),
  client({ service: { namespace: "a", name: "b", path: "/a//B" } }),
  rule({ operations: [] }),
  rule({ operations: ["CREATE", "*"] }),
  rule({ operations: ["READ"] }),
  rule({ apiGroups: [] }),
  rule({ apiGroups: ["", "*"] }),
  rule({ apiVersions: [] }),
  rule({ apiVersions: ["v1", "*"] }),
  rule({ apiVersions: [""] }),
  rule({ resources: [] }),
  rule({ resources: [""] }),
  rule({ resources: ["*", "a"] }),
  rule({ resources: ["a/*", "a/b"] }),
  rule({ resources: ["*/b", "a/b"] }),
  rule({ resources: ["*/*", "a"] }),
  rule({ scope: "Everywhere" }),
  { ...bare, namespaceSelector: { matchLabels: { "-": "a" } } },
  { ...bare, objectSelector: { matchExpressions: [{ key: "a", operator: "In" }] } },
  { ...bare, objectSelector: { matchExpressions: [{ key: "a", operator: "Like", values: ["b"] }] } },
  { ...bare, matchConditions: [{ name: "", expression: "" }] },
  { ...bare, matchConditions: [{ name: "a b", expression: "true" }] },
  {
    ...bare,
    matchConditions: [
      { name: "a", expression: "true" },
      { name: "a", expression: "true" },
    ],
  },
  { ...bare, matchConditions: [{ name: "a", expression: "nowhere == 1" }] },
  { ...bare, matchConditions: [{ name: "a", expression: "1" }] },
];

const stored: Step[] = [
  step(
    post(
      VALIDATING,
      configuration("Validating", "diff-webhook-stored", [rule({}), { ...rule({}), name: "b.example.com" }]),
    ),
  ),
  step(
    post(
      MUTATING,
      configuration("Mutating", "diff-webhook-stored", [client({ service: { namespace: "a", name: "b" } })]),
    ),
  ),
  step(post(MUTATING, configuration("Mutating", "diff-webhook-stored-2", [{ ...bare, reinvocationPolicy: "Ever" }]))),
  step(post(MUTATING, configuration("Mutating", "diff-webhook-stored-2", [bare, bare]))),
  step(post(VALIDATING, configuration("Validating", "diff-webhook-stored-2", []))),
  step(post(VALIDATING, { ...configuration("Validating", "diff-webhook-stored-3", []), webhooks: undefined })),
  step(get(`${VALIDATING}/diff-webhook-stored`), { keep: "stored" }),
  step(get(VALIDATING, undefined, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" })),
  step(
    patch(`${VALIDATING}/diff-webhook-stored`, STRATEGIC, {
      webhooks: [{ name: "b.example.com", timeoutSeconds: 3 }],
    }),
  ),
  step(patch(`${VALIDATING}/diff-webhook-stored`, MERGE, { metadata: { labels: { a: "b" } } })),
  step(
    patch(
      `${VALIDATING}/diff-webhook-stored`,
      APPLY,
      {
        ...configuration("Validating", "diff-webhook-stored", [{ ...bare, name: "c.example.com" }]),
      },
      { query: { fieldManager: "applier" } },
    ),
  ),
  step((kept) =>
    put(`${VALIDATING}/diff-webhook-stored`, { ...kept.stored!.body, webhooks: [{ ...bare, sideEffects: "Some" }] }),
  ),
  step(del(`${VALIDATING}/diff-webhook-stored`)),
  step(del(`${MUTATING}/diff-webhook-stored`)),
];

const steps: Step[] = [
  ...refusedHooks.map((one) => step(post(VALIDATING, configuration("Validating", "diff-webhook-refused", [one])))),
  ...stored,
];

export default { name: "webhook-configurations", steps } satisfies Family;
