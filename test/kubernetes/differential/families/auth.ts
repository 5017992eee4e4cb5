import { CLUSTER_BINDINGS, CLUSTER_ROLES, grant, group, ofAccount, RBAC, role, rule, soon, user } from "../grants.ts";
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
  type Request,
  type Step,
  step,
} from "../step.ts";

/** Who may do what: roles and bindings, the reviews, impersonation, refusals without rights or credentials. */

const NAMESPACE = "diff-auth";
const HOME = `/api/v1/namespaces/${NAMESPACE}`;
const ROLES = `${RBAC}/namespaces/${NAMESPACE}/roles`;
const BINDINGS = `${RBAC}/namespaces/${NAMESPACE}/rolebindings`;
const AUTHORIZATION = "/apis/authorization.k8s.io/v1";
const AUTHENTICATION = "/apis/authentication.k8s.io/v1";

const bob = { as: { user: "bob", groups: ["dev"] } };
const eve = { as: { user: "eve" } };
const account = (name: string) => ({ as: { user: `system:serviceaccount:${NAMESPACE}:${name}` } });
const nobody = { headers: { authorization: "Basic bm9ib2R5" } };

const can = (verb: string, resource: string, more: object = {}): Json => ({
  spec: { resourceAttributes: { verb, resource, namespace: NAMESPACE, ...more } },
});
const review = (kind: string, body: unknown, more: Omit<Request, "method" | "path"> = {}) =>
  post(`${AUTHORIZATION}/${kind}`, body, more);
const mine = (body: unknown, more: Omit<Request, "method" | "path"> = bob) =>
  review("selfsubjectaccessreviews", body, more);
const decided = (ask: Step["ask"], allowed: boolean): Step =>
  step(ask, { until: ({ body }) => body.status?.allowed === allowed });

const withoutRights: Step[] = [
  step(get("/api/v1/pods", {}, bob)),
  step(get(`${HOME}/pods`, {}, bob)),
  step(get(`${HOME}/pods/x`, {}, bob)),
  step(get(`${HOME}/pods/x/log`, {}, bob)),
  step(get(`${HOME}/pods`, { watch: "true" }, bob)),
  step(get(`${HOME}/pods`, { fieldSelector: "metadata.name=one" }, bob)),
  step(get(`/api/v1/namespaces/${NAMESPACE}`, {}, bob)),
  step(post(`${HOME}/configmaps`, { metadata: { name: "x" } }, bob)),
  step(put(`${HOME}/configmaps/x`, { metadata: { name: "x" } }, bob)),
  step(patch(`${HOME}/configmaps/x`, MERGE, {}, bob)),
  step(del(`${HOME}/configmaps/x`, undefined, bob)),
  step(del(`${HOME}/configmaps`, undefined, bob)),
  step(get("/apis/apps/v1/deployments", {}, bob)),
  step(get("/apis/apps/v1/namespaces/x/deployments/y/scale", {}, bob)),
  step(get("/apis/nowhere.example.com/v1/things", {}, bob)),
  step(get("/apis/nowhere.example.com/v1/namespaces/a/things/b/status", {}, bob)),
  step(get("/metrics", {}, bob)),
  step(get("/foo/bar", {}, bob)),
  step(post("/foo/bar", {}, bob)),
  step(get("/api/v1/nodes", {}, { as: { user: "<b>&amp;</b>" } })),
];

const strangers: Step[] = [
  step(get("/api/v1/pods", {}, nobody)),
  step(get("/version", {}, nobody), { unseen: true }),
  step(get("/healthz", {}, nobody)),
  step(get("/livez", {}, nobody)),
  step(get("/readyz", {}, nobody)),
  step(get("/readyz/ping", {}, nobody)),
  step(get("/api", {}, nobody)),
  step(get("/", {}, nobody)),
  step(get("/metrics", {}, nobody)),
  step(get("/api/v1/pods", {}, { headers: { authorization: "Bearer nonsense" } })),
  step(get("/healthz", {}, { headers: { authorization: "Bearer nonsense" } })),
  step(post(`${AUTHENTICATION}/selfsubjectreviews`, {}, nobody)),
];

const health: Step[] = [
  step(get("/readyz/ping")),
  step(get("/livez/ping")),
  step(get("/healthz/ping")),
  step(get("/readyz/nope")),
  step(get("/readyz")),
];

const impersonation: Step[] = [
  step(post(`${AUTHENTICATION}/selfsubjectreviews`, {}, bob)),
  step(post(`${AUTHENTICATION}/selfsubjectreviews`, {}, account("default"))),
  step(
    post(
      `${AUTHENTICATION}/selfsubjectreviews`,
      {},
      {
        ...bob,
        headers: {
          "impersonate-uid": "u-1",
          "impersonate-extra-scopes": "view",
          "impersonate-extra-a.example%2fb": "c",
        },
      },
    ),
  ),
  step(post(`${AUTHENTICATION}/selfsubjectreviews`, {}, { as: { user: "x", groups: ["system:authenticated", "g"] } })),
  step(post(`${AUTHENTICATION}/selfsubjectreviews`, {}, { as: { user: "system:anonymous" } })),
  step(post(`${AUTHENTICATION}/selfsubjectreviews`, {}, { as: { user: "x", groups: ["system:unauthenticated"] } })),
  step(get("/api/v1/pods", {}, { as: { user: "system:anonymous" } })),
  step(get("/api/v1/pods", {}, { headers: { "impersonate-group": "dev" } })),
  step(get("/api/v1/pods", {}, { headers: { "impersonate-uid": "u-1" } })),
  step(get("/api/v1/pods", {}, { headers: { "impersonate-extra-scopes": "view" } })),
  step(post(`${AUTHENTICATION}/selfsubjectreviews`, {}, { as: { user: "system:node:n1" } })),
];

const reviews: Step[] = [
  step(mine(can("get", "pods"))),
  step(mine(can("get", "pods"), {})),
  step(mine({ spec: {} })),
  step(mine({ spec: { ...can("get", "pods").spec, nonResourceAttributes: { path: "/x", verb: "get" } } })),
  step(mine({ ...can("get", "pods"), metadata: { name: "x" } })),
  step(mine({ spec: { nonResourceAttributes: { path: "/metrics", verb: "get" } } })),
  step(mine({ spec: { nonResourceAttributes: { path: "/openapi/v3", verb: "get" } } })),
  step(mine({ ...can("get", "pods"), bogus: 1 })),
  step(post(`${AUTHORIZATION}/selfsubjectaccessreviews`, { ...can("get", "pods"), bogus: 1 }, {}), {}),
  step({ ...mine({ ...can("get", "pods"), bogus: 1 }), query: { fieldValidation: "Strict" } }),
  step(mine(can("get", "pods", { fieldSelector: {} }))),
  step(
    mine(
      can("get", "pods", { labelSelector: { rawSelector: "a=b", requirements: [{ key: "a", operator: "Exists" }] } }),
    ),
  ),
  step(review("subjectaccessreviews", { spec: {} })),
  step(review("subjectaccessreviews", { spec: { user: "bob", ...can("get", "pods").spec } })),
  step(review("subjectaccessreviews", { spec: { groups: ["system:masters"], ...can("get", "pods").spec } })),
  step(review("subjectaccessreviews", { spec: { user: "bob", ...can("get", "pods").spec } }, bob)),
  step(get(`${AUTHORIZATION}/subjectaccessreviews`)),
  step(
    review(`namespaces/${NAMESPACE}/localsubjectaccessreviews`, { spec: { user: "bob", ...can("get", "pods").spec } }),
  ),
  step(
    review(`namespaces/${NAMESPACE}/localsubjectaccessreviews`, {
      spec: { user: "bob", ...can("get", "pods", { namespace: "x" }).spec },
    }),
  ),
  step(
    review(`namespaces/${NAMESPACE}/localsubjectaccessreviews`, {
      spec: { user: "bob", nonResourceAttributes: { path: "/", verb: "get" } },
    }),
  ),
  step(review("selfsubjectrulesreviews", { spec: {} }, bob)),
  step(post(`${AUTHENTICATION}/tokenreviews`, { spec: {} })),
  step(post(`${AUTHENTICATION}/tokenreviews`, { spec: { token: "nonsense" } })),
  step(post(`${AUTHENTICATION}/tokenreviews`, { spec: { token: "nonsense" } }, bob)),
];

const roles: Step[] = [
  step(post(ROLES, role("reader", rule("get,list,watch", "pods,pods/log")))),
  step(post(BINDINGS, grant("readers", "Role", "reader", user("bob"), ofAccount("app")))),
  soon(get(`${HOME}/pods`, {}, bob), 200),
  step(get(`${HOME}/pods/x`, {}, bob)),
  step(get("/api/v1/pods", {}, bob)),
  step(get(`${HOME}/pods`, {}, account("app"))),
  step(get(`${HOME}/pods`, {}, account("other"))),
  step(post(`${HOME}/pods`, {}, bob)),
  decided(mine(can("get", "pods")), true),
  decided(mine(can("get", "pods", { subresource: "log" })), true),
  decided(mine(can("get", "pods", { subresource: "exec" })), false),
  decided(mine(can("*", "pods")), false),
  step(
    review("subjectaccessreviews", {
      spec: { user: `system:serviceaccount:${NAMESPACE}:app`, ...can("list", "pods").spec },
    }),
  ),
  step(post(ROLES, role("named", rule("get,list,watch,delete", "configmaps", { resourceNames: ["one"] })))),
  step(post(BINDINGS, grant("named", "Role", "named", user("bob")))),
  soon(get(`${HOME}/configmaps/one`, {}, bob), 404),
  step(get(`${HOME}/configmaps/two`, {}, bob)),
  step(get(`${HOME}/configmaps`, {}, bob)),
  step(get(`${HOME}/configmaps`, { fieldSelector: "metadata.name=one" }, bob)),
  step(get(`${HOME}/configmaps`, { fieldSelector: "metadata.name=two" }, bob)),
  step(del(`${HOME}/configmaps/one`, undefined, bob)),
  step(del(`${HOME}/configmaps`, undefined, bob)),
  step(post(CLUSTER_ROLES, role("diff-auth-scale", { apiGroups: ["*"], resources: ["*/scale"], verbs: ["get"] }))),
  step(post(CLUSTER_BINDINGS, grant("diff-auth-scale", "ClusterRole", "diff-auth-scale", group("dev")))),
  soon(get(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/x/scale`, {}, bob), 404),
  step(get(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/x`, {}, bob)),
  step(get(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/x/scale`, {}, eve)),
  decided(mine(can("get", "statefulsets", { group: "apps", subresource: "scale" })), true),
  step(post(CLUSTER_ROLES, role("diff-auth-paths", { nonResourceURLs: ["/metrics", "/debug/*"], verbs: ["get"] }))),
  step(post(CLUSTER_BINDINGS, grant("diff-auth-paths", "ClusterRole", "diff-auth-paths", user("eve")))),
  decided(mine({ spec: { nonResourceAttributes: { path: "/debug/a/b", verb: "get" } } }, eve), true),
  decided(mine({ spec: { nonResourceAttributes: { path: "/metrics", verb: "get" } } }, eve), true),
  decided(mine({ spec: { nonResourceAttributes: { path: "/metrics", verb: "post" } } }, eve), false),
  step(post(BINDINGS, grant("hanging", "ClusterRole", "diff-auth-nowhere", user("mallory")))),
  step(get(`${HOME}/pods`, {}, { as: { user: "mallory" } }), {
    until: ({ body }) => String(body.message).includes("not found"),
  }),
  step(post(BINDINGS, grant("hanging-too", "Role", "nowhere", user("trent")))),
  step(get(`${HOME}/pods`, {}, { as: { user: "trent" } }), {
    until: ({ body }) => String(body.message).includes("not found"),
  }),
  step(
    post(
      CLUSTER_ROLES,
      role(
        "diff-auth-own-rules",
        { apiGroups: ["authorization.k8s.io"], resources: ["selfsubjectrulesreviews"], verbs: ["create"] },
        rule("get", "secrets", { resourceNames: ["a"] }),
      ),
    ),
  ),
  step(post(CLUSTER_BINDINGS, grant("diff-auth-own-rules", "ClusterRole", "diff-auth-own-rules", user("walter")))),
  soon(
    review(
      "selfsubjectrulesreviews",
      { spec: { namespace: NAMESPACE } },
      { as: { user: "walter", groups: ["system:unauthenticated"] } },
    ),
    201,
  ),
  step(get(CLUSTER_ROLES, { labelSelector: "kubernetes.io/bootstrapping=rbac-defaults" })),
  step(get(CLUSTER_BINDINGS, { labelSelector: "kubernetes.io/bootstrapping=rbac-defaults" })),
  step(get(`${RBAC}/roles`, { labelSelector: "kubernetes.io/bootstrapping=rbac-defaults" })),
  step(get(`${RBAC}/rolebindings`, { labelSelector: "kubernetes.io/bootstrapping=rbac-defaults" })),
  step(get(`${CLUSTER_ROLES}/view`)),
];

const AGGREGATED = {
  metadata: { name: "diff-auth-sum" },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "diff-auth": "part" } }] },
};
const aggregation: Step[] = [
  step(post(CLUSTER_ROLES, AGGREGATED)),
  step(
    post(CLUSTER_ROLES, {
      ...role("diff-auth-part", rule("get", "pods")),
      metadata: { name: "diff-auth-part", labels: { "diff-auth": "part" } },
    }),
  ),
  step(get(`${CLUSTER_ROLES}/diff-auth-sum`), { until: ({ body }) => body.rules?.length === 1 }),
  step(patch(`${CLUSTER_ROLES}/diff-auth-part`, MERGE, { rules: [rule("get", "pods"), rule("list", "secrets")] })),
  step(get(`${CLUSTER_ROLES}/diff-auth-sum`), { until: ({ body }) => body.rules?.length === 2 }),
  step(del(`${CLUSTER_ROLES}/diff-auth-part`)),
  step(get(`${CLUSTER_ROLES}/diff-auth-sum`), { until: ({ body }) => !body.rules?.length }),
];

const invalid: Step[] = [
  step(post(ROLES, role("x", { apiGroups: [""], resources: ["pods"] }))),
  step(post(ROLES, role("x", { resources: ["pods"], verbs: ["get"] }))),
  step(post(ROLES, role("x", { apiGroups: [""], verbs: ["get"] }))),
  step(post(ROLES, role("x", { nonResourceURLs: ["/x"], verbs: ["get"] }))),
  step(post(CLUSTER_ROLES, role("diff-auth-x", { nonResourceURLs: ["/x"], apiGroups: [""], verbs: ["get"] }))),
  step(
    post(CLUSTER_ROLES, {
      ...AGGREGATED,
      metadata: { name: "diff-auth-x" },
      aggregationRule: { clusterRoleSelectors: [] },
    }),
  ),
  step(post(ROLES, role("a/b", rule("get", "pods")))),
  step(post(BINDINGS, { metadata: { name: "x" } })),
  step(post(BINDINGS, grant("x", "Foo", "reader", user("bob")))),
  step(
    post(BINDINGS, { ...grant("x", "Role", "reader"), roleRef: { apiGroup: "other", kind: "Role", name: "reader" } }),
  ),
  step(post(BINDINGS, grant("x", "Role", "", user("bob")))),
  step(post(BINDINGS, grant("x", "Role", "reader", { kind: "User", name: "bob", apiGroup: "other" }))),
  step(post(BINDINGS, grant("x", "Role", "reader", { kind: "Robot", name: "bob" }))),
  step(post(BINDINGS, grant("x", "Role", "reader", { kind: "User" }))),
  step(post(BINDINGS, grant("x", "Role", "reader", { kind: "ServiceAccount", name: "A_b", namespace: "x" }))),
  step(post(CLUSTER_BINDINGS, grant("diff-auth-x", "Role", "reader", user("bob")))),
  step(post(CLUSTER_BINDINGS, grant("diff-auth-x", "ClusterRole", "view", ofAccount("a")))),
  step(patch(`${BINDINGS}/readers`, MERGE, { roleRef: { name: "other" } })),
];

const escalation: Step[] = [
  step(
    post(
      CLUSTER_ROLES,
      role("diff-auth-granter", {
        apiGroups: ["rbac.authorization.k8s.io"],
        resources: ["*"],
        verbs: ["create", "update", "patch", "get", "delete"],
      }),
    ),
  ),
  step(post(BINDINGS, grant("granters", "ClusterRole", "diff-auth-granter", user("gina")))),
  step(post(CLUSTER_BINDINGS, grant("diff-auth-granters", "ClusterRole", "diff-auth-granter", user("gina")))),
  soon(post(ROLES, role("gina-0"), { as: { user: "gina" } }), 201),
  step(post(ROLES, role("gina-1", rule("get,list", "pods")), { as: { user: "gina" } })),
  step(
    post(ROLES, role("gina-2", rule("get", "pods,secrets", { resourceNames: ["a", "b"] })), {
      as: { user: "gina", groups: ["g1", "g2"] },
    }),
  ),
  step(
    post(CLUSTER_ROLES, role("diff-auth-gina", { nonResourceURLs: ["/x", "/healthz"], verbs: ["get", "post"] }), {
      as: { user: "gina" },
    }),
  ),
  step(post(CLUSTER_ROLES, { ...AGGREGATED, metadata: { name: "diff-auth-gina" } }, { as: { user: "gina" } })),
  step(
    post(ROLES, role("gina-3", { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["get"] }), {
      as: { user: "gina" },
    }),
  ),
  step(patch(`${ROLES}/gina-3`, MERGE, { rules: [rule("get", "nodes")] }, { as: { user: "gina" } })),
  step(patch(`${ROLES}/gina-3`, MERGE, { metadata: { labels: { a: "b" } } }, { as: { user: "gina" } })),
  step(post(BINDINGS, grant("gina-1", "Role", "reader", user("gina")), { as: { user: "gina" } })),
  step(post(BINDINGS, grant("gina-2", "ClusterRole", "cluster-admin", user("gina")), { as: { user: "gina" } })),
  step(post(BINDINGS, grant("gina-3", "Role", "missing", user("gina")), { as: { user: "gina" } })),
  step(post(BINDINGS, grant("gina-4", "Role", "gina-3", user("gina")), { as: { user: "gina" } })),
  step(post(CLUSTER_BINDINGS, grant("diff-auth-gina", "ClusterRole", "view", user("gina")), { as: { user: "gina" } }), {
    unseen: true,
  }),
  step(
    post(
      CLUSTER_ROLES,
      role(
        "diff-auth-binder",
        {
          apiGroups: ["rbac.authorization.k8s.io"],
          resources: ["clusterroles"],
          resourceNames: ["view"],
          verbs: ["bind"],
        },
        { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["escalate"] },
      ),
    ),
  ),
  step(post(CLUSTER_BINDINGS, grant("diff-auth-binder", "ClusterRole", "diff-auth-binder", user("gina")))),
  soon(post(BINDINGS, grant("gina-view", "ClusterRole", "view", user("gina")), { as: { user: "gina" } }), 201),
  step(post(BINDINGS, grant("gina-edit", "ClusterRole", "cluster-admin", user("gina")), { as: { user: "gina" } })),
  step(post(ROLES, role("gina-5", rule("*", "*")), { as: { user: "gina" } })),
];

const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const erin = { as: { user: "erin" } };
const applied = (name: string, more: Omit<Request, "method" | "path"> = erin): Request =>
  patch(
    `${HOME}/configmaps/${name}`,
    APPLY,
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "1" } },
    { query: { fieldManager: "erin" }, ...more },
  );
const creationByUpdate: Step[] = [
  step(
    post(
      ROLES,
      role("writer", rule("update,patch", "configmaps"), {
        apiGroups: ["coordination.k8s.io"],
        resources: ["leases"],
        verbs: ["update", "patch"],
      }),
    ),
  ),
  step(post(BINDINGS, grant("writers", "Role", "writer", user("erin")))),
  soon(patch(`${HOME}/configmaps/none`, MERGE, {}, erin), 404),
  step(applied("new")),
  step(put(`${LEASES}/new`, { metadata: { name: "new" } }, erin)),
  step(applied("new", {})),
  step(put(`${LEASES}/new`, { metadata: { name: "new" } })),
  step(applied("new")),
];

const family: Family = {
  name: "auth",
  steps: [
    ...withoutRights,
    ...strangers,
    ...health,
    ...impersonation,
    ...reviews,
    ...roles,
    ...aggregation,
    ...invalid,
    ...escalation,
    ...creationByUpdate,
  ],
};
export default family;
