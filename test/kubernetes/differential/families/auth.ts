import {
  del,
  type Family,
  get,
  type Json,
  type Kept,
  MERGE,
  patch,
  post,
  put,
  type Request,
  type Step,
  step,
} from "../step.ts";

/** Who may do what: RBAC, the reviews, impersonation, tokens of ServiceAccounts, refusals without credentials. */

const NAMESPACE = "diff-auth";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const HOME = `/api/v1/namespaces/${NAMESPACE}`;
const ROLES = `${RBAC}/namespaces/${NAMESPACE}/roles`;
const BINDINGS = `${RBAC}/namespaces/${NAMESPACE}/rolebindings`;
const CLUSTER_ROLES = `${RBAC}/clusterroles`;
const CLUSTER_BINDINGS = `${RBAC}/clusterrolebindings`;
const ACCOUNTS = `${HOME}/serviceaccounts`;
const AUTHORIZATION = "/apis/authorization.k8s.io/v1";
const AUTHENTICATION = "/apis/authentication.k8s.io/v1";

const bob = { as: { user: "bob", groups: ["dev"] } };
const eve = { as: { user: "eve" } };
const account = (name: string) => ({ as: { user: `system:serviceaccount:${NAMESPACE}:${name}` } });
const nobody = { headers: { authorization: "Basic bm9ib2R5" } };
const bearer = (kept: Kept, name: string) => ({
  headers: { authorization: `Bearer ${kept[name]!.body.status.token}` },
});

const rule = (verbs: string, resources: string, more: object = {}) => ({
  apiGroups: [""],
  resources: resources.split(","),
  verbs: verbs.split(","),
  ...more,
});
const role = (name: string, ...rules: object[]) => ({ metadata: { name }, rules });
const grant = (name: string, kind: string, roleName: string, ...subjects: object[]) => ({
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: roleName },
  subjects,
});
const user = (name: string) => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name });
const group = (name: string) => ({ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name });
const ofAccount = (name: string, namespace?: string) => ({
  kind: "ServiceAccount",
  name,
  ...(namespace && { namespace }),
});

/** Authorizers see changes a moment later: asks until the answer has this status, and compares that one. */
const soon = (ask: Step["ask"], status: number): Step => step(ask, { until: (answer) => answer.status === status });
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

const tokenOf = (name: string, spec: object = {}, more: Omit<Request, "method" | "path"> = {}) =>
  post(`${ACCOUNTS}/${name}/token`, { spec }, more);
const bound = (kind: string, name: string, more: object = {}) => ({
  boundObjectRef: { kind, apiVersion: "v1", name, ...more },
});
const judged =
  (name: string, spec: object = {}) =>
  (kept: Kept) =>
    post(`${AUTHENTICATION}/tokenreviews`, { spec: { token: kept[name]!.body.status.token, ...spec } });
const POD = { metadata: { name: "p" }, spec: { serviceAccountName: "app", containers: [{ name: "c", image: "i" }] } };

const tokens: Step[] = [
  step(post(ACCOUNTS, { metadata: { name: "app" } })),
  step(tokenOf("app"), { keep: "token" }),
  step(post(`${ACCOUNTS}/app/token`, {})),
  step(tokenOf("app", { audiences: ["vault"], expirationSeconds: 700 }), { keep: "vault" }),
  step(tokenOf("app", { expirationSeconds: 5 })),
  step(tokenOf("app", { expirationSeconds: 5_000_000_000 })),
  step(tokenOf("nope")),
  step(post(`${ACCOUNTS}/app/token`, { metadata: { name: "other" } })),
  step(post(`${ACCOUNTS}/app/token`, { metadata: { namespace: "other" } })),
  step(post(`${ACCOUNTS}/app/token`, { metadata: { uid: "123" } })),
  step(get(`${ACCOUNTS}/app/token`)),
  step(tokenOf("app", {}, bob)),
  step(tokenOf("app", bound("Pod", "nope"))),
  step(tokenOf("app", bound("Secret", "nope"))),
  step(tokenOf("app", bound("Node", "nope"))),
  step(tokenOf("app", bound("Thing", "nope"))),
  step(tokenOf("app", { boundObjectRef: { kind: "Deployment", apiVersion: "apps/v1", name: "x" } })),
  step(judged("token")),
  step(judged("vault")),
  step(judged("vault", { audiences: ["vault", "other"] })),
  step(judged("token", { audiences: ["other"] })),
  step((kept) => post(`${AUTHENTICATION}/selfsubjectreviews`, {}, bearer(kept, "token"))),
  step((kept) => get(`${HOME}/pods`, {}, bearer(kept, "token"))),
  step((kept) => get(`${HOME}/secrets`, {}, bearer(kept, "token"))),
  step((kept) => get(`${HOME}/pods`, {}, bearer(kept, "vault"))),
  step((kept) => get(`${HOME}/pods`, {}, { headers: { authorization: `Bearer ${kept.token!.body.status.token}x` } })),
  step((kept) => get("/.well-known/openid-configuration", {}, bearer(kept, "token"))),
  step(get("/openid/v1/jwks")),
  step(get("/openid/v1/jwks", {}, { accept: "application/jwk-set+json" })),
  step(get("/.well-known/openid-configuration", {}, bob)),
  step(post(`${HOME}/pods`, POD), { unseen: true }),
  step(tokenOf("app", { ...bound("Pod", "p"), expirationSeconds: 3607 }), { keep: "bound" }),
  step(tokenOf("default", bound("Pod", "p"))),
  step(tokenOf("app", bound("Pod", "p", { uid: "zz" }))),
  step(judged("bound")),
  step((kept) => post(`${AUTHENTICATION}/selfsubjectreviews`, {}, bearer(kept, "bound"))),
  step(
    post(`${HOME}/secrets`, {
      metadata: { name: "s", annotations: { "kubernetes.io/service-account.name": "app" } },
      type: "kubernetes.io/service-account-token",
    }),
    { unseen: true },
  ),
  step(get(`${HOME}/secrets/s`), {
    until: ({ body }) => body.data?.token !== undefined && body.data.namespace !== undefined,
    keep: "secret",
    unseen: true,
  }),
  step((kept) =>
    get(
      `${HOME}/pods`,
      {},
      { headers: { authorization: `Bearer ${Buffer.from(kept.secret!.body.data.token, "base64").toString()}` } },
    ),
  ),
  step(post(`${HOME}/secrets`, { metadata: { name: "t" }, type: "kubernetes.io/service-account-token" })),
  step(post(`${HOME}/pods`, { ...POD, metadata: { name: "q" }, spec: { ...POD.spec, serviceAccountName: "nope" } })),
  step(
    post(`${HOME}/pods`, {
      ...POD,
      metadata: { name: "r" },
      spec: { ...POD.spec, automountServiceAccountToken: false },
    }),
  ),
  step(post(`${HOME}/pods`, { metadata: { name: "gen-aaaaa" }, spec: { containers: [{ name: "c", image: "i" }] } })),
  step(get(`${ACCOUNTS}/default`)),
  step(get(`${HOME}/configmaps/kube-root-ca.crt`)),
];

const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
/** For `system:node:n1`, made with openssl; nobody has its key. */
const PEM =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIck1JR1NBZ0VBTURBeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVYTUJVR0ExVUVBd3dPYzNsegpkR1Z0T201dlpHVTZiakV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVFWNStQcnZ0KzhhL1JKCkpZZi91d1JubEZteU5TbzhQb1kwUWFiUGZGMmxvTm8ycm5HR0x2RE9GaHh0QzRCLzI5N2NnYWZUVEtlUTBYOU8KTlk1NWhRM3BvQUF3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUloQU85Wm1iUmxwWHpMMWdBZDhycGZKM0h3ZXp4YgpidUtIaFBuVUc1TGVlQStiQWlCU0hzWjVuaGN6T2VQMDcrU1QzeXNRMW01YUo3Rk04UVA3bEF0VzZhdFJWdz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
const CERTIFICATE =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJiakNDQVJXZ0F3SUJBZ0lVV3kzZjcyN2VHNVBhZmRHSy9wUVBxbkNXb3ljd0NnWUlLb1pJemowRUF3SXcKRERFS01BZ0dBMVVFQXd3QmVEQWdGdzB5TmpFeE1qRXdOelEyTWpSYUdBOHlNVEkyTVRBeU9EQTNORFl5TkZvdwpEREVLTUFnR0ExVUVBd3dCZURCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OUF3RUhBMElBQk9tQUhJaWorRis5CnRlb1NtdjBDL25tRXFsRTNlWXFSWGVQTzNrbjZyWmdyajJ0NUhVRmh4Qjc5VW5KVTVtdzIwWEI2VlZSUnZESzkKMUhQek1xR0JPbE9qVXpCUk1CMEdBMVVkRGdRV0JCUXFWNEFwdE9hb1pZWXd6RlpyY1JYNWFpVkU0akFmQmdOVgpIU01FR0RBV2dCUXFWNEFwdE9hb1pZWXd6RlpyY1JYNWFpVkU0akFQQmdOVkhSTUJBZjhFQlRBREFRSC9NQW9HCkNDcUdTTTQ5QkFNQ0EwY0FNRVFDSUNFTURZbW9qd3NMdlYzRG1TRTl0aXl6by9WcFpidi9PcTU5YmZNbmUyVUkKQWlCOGlVcGJOQnV0TnpYNVk0MDBHQ3MzOHVXNTBCY0pPUUM1aEJlempMa2JRdz09Ci0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K";
const SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";
const wanted = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { request: PEM, signerName: SIGNER, usages: ["digital signature", "client auth"], ...spec },
});
const approved = { status: { conditions: [{ type: "Approved", status: "True", reason: "r", message: "m" }] } };

const certificates: Step[] = [
  step(
    post(
      CLUSTER_ROLES,
      role("diff-auth-csr", {
        apiGroups: ["certificates.k8s.io"],
        resources: [
          "certificatesigningrequests",
          "certificatesigningrequests/approval",
          "certificatesigningrequests/status",
        ],
        verbs: ["create", "get", "update", "patch"],
      }),
    ),
  ),
  step(post(CLUSTER_BINDINGS, grant("diff-auth-csr", "ClusterRole", "diff-auth-csr", user("carol")))),
  soon(post(REQUESTS, wanted("diff-auth-one"), { as: { user: "carol" } }), 201),
  step(
    post(
      REQUESTS,
      wanted("diff-auth-two", { username: "root", groups: ["system:masters"], uid: "0", extra: { a: ["b"] } }),
      { as: { user: "carol" } },
    ),
  ),
  step(post(REQUESTS, wanted("diff-auth-three"), bob)),
  step(patch(`${REQUESTS}/diff-auth-one/approval`, MERGE, approved, { as: { user: "carol" } })),
  step(
    patch(
      `${REQUESTS}/diff-auth-one/status`,
      MERGE,
      { status: { certificate: CERTIFICATE } },
      { as: { user: "carol" } },
    ),
  ),
  step(
    post(
      CLUSTER_ROLES,
      role("diff-auth-signer", {
        apiGroups: ["certificates.k8s.io"],
        resources: ["signers"],
        resourceNames: ["kubernetes.io/*"],
        verbs: ["approve"],
      }),
    ),
  ),
  step(post(CLUSTER_BINDINGS, grant("diff-auth-signer", "ClusterRole", "diff-auth-signer", user("carol")))),
  soon(patch(`${REQUESTS}/diff-auth-one/approval`, MERGE, approved, { as: { user: "carol" } }), 200),
  step(get(`${REQUESTS}/diff-auth-one`), { unseen: true }),
];

/** A request of ServiceAccount `name` (whose token is kept under that name), with more headers. */
const actor =
  (name: string, ask: (more: Pick<Request, "headers">) => Request, headers: Record<string, string> = {}) =>
  (kept: Kept) =>
    ask({ headers: { ...bearer(kept, name).headers, ...headers } });
const whoAmI = (more: Pick<Request, "headers">) => post(`${AUTHENTICATION}/selfsubjectreviews`, {}, more);
const listPods = (more: Pick<Request, "headers">) => get(`${HOME}/pods`, {}, more);
const acts = (name: string, headers: Record<string, string>) => step(actor(name, whoAmI, headers));
const AS_BOB = { "impersonate-user": "bob" };
const may = (name: string, who: string, ...rules: object[]): Step[] => [
  step(post(CLUSTER_ROLES, role(`diff-auth-${name}`, ...rules))),
  step(
    post(CLUSTER_BINDINGS, grant(`diff-auth-${name}`, "ClusterRole", `diff-auth-${name}`, ofAccount(who, NAMESPACE))),
  ),
];
const actors = ["plain", "old", "limited", "node"].flatMap((name) => [
  step(post(ACCOUNTS, { metadata: { name } })),
  step(tokenOf(name), { keep: name }),
]);

const limitedImpersonation: Step[] = [
  ...actors,
  acts("plain", AS_BOB),
  acts("plain", { "impersonate-user": `system:serviceaccount:${NAMESPACE}:app` }),
  acts("plain", { "impersonate-user": "system:node:n1" }),
  step(actor("plain", listPods, AS_BOB)),
  step(actor("plain", (more) => get("/metrics", {}, more), AS_BOB)),
  acts("plain", { "impersonate-group": "g" }),
  ...may(
    "old",
    "old",
    rule("impersonate", "users", { resourceNames: ["bob"] }),
    rule("impersonate", "groups", { resourceNames: ["g"] }),
    {
      apiGroups: ["authentication.k8s.io"],
      resources: ["userextras/scopes"],
      resourceNames: ["view"],
      verbs: ["impersonate"],
    },
  ),
  soon(actor("old", whoAmI, AS_BOB), 201),
  acts("old", { ...AS_BOB, "impersonate-group": "g" }),
  acts("old", { ...AS_BOB, "impersonate-group": "h" }),
  acts("old", { ...AS_BOB, "impersonate-uid": "1" }),
  acts("old", { ...AS_BOB, "impersonate-extra-scopes": "view" }),
  acts("old", { ...AS_BOB, "impersonate-extra-scopes": "edit" }),
  acts("old", { ...AS_BOB, "impersonate-extra-more": "view" }),
  acts("old", { "impersonate-user": "eve" }),
  acts("old", { "impersonate-user": "system:node:n1" }),
  ...may(
    "limited",
    "limited",
    {
      apiGroups: ["authentication.k8s.io"],
      resources: ["users"],
      resourceNames: ["bob"],
      verbs: ["impersonate:user-info"],
    },
    { apiGroups: ["authentication.k8s.io"], resources: ["groups"], verbs: ["impersonate:user-info"] },
    {
      apiGroups: ["authentication.k8s.io"],
      resources: ["selfsubjectreviews"],
      verbs: ["impersonate-on:user-info:create"],
    },
  ),
  soon(actor("limited", whoAmI, AS_BOB), 201),
  acts("limited", { ...AS_BOB, "impersonate-group": "g" }),
  acts("limited", { ...AS_BOB, "impersonate-group": "system:masters" }),
  acts("limited", { ...AS_BOB, "impersonate-uid": "1" }),
  step(actor("limited", listPods, AS_BOB)),
  acts("limited", { "impersonate-user": "eve" }),
  acts("limited", { "impersonate-user": "system:node:n1" }),
  ...may(
    "node",
    "node",
    {
      apiGroups: ["authentication.k8s.io"],
      resources: ["nodes"],
      resourceNames: ["n1"],
      verbs: ["impersonate:arbitrary-node"],
    },
    {
      apiGroups: ["authentication.k8s.io"],
      resources: ["serviceaccounts"],
      resourceNames: ["app"],
      verbs: ["impersonate:serviceaccount"],
    },
    {
      apiGroups: ["authentication.k8s.io"],
      resources: ["selfsubjectreviews"],
      verbs: ["impersonate-on:arbitrary-node:create", "impersonate-on:serviceaccount:create"],
    },
  ),
  soon(actor("node", whoAmI, { "impersonate-user": "system:node:n1" }), 201),
  acts("node", { "impersonate-user": "system:node:n2" }),
  acts("node", { "impersonate-user": "system:node:n1", "impersonate-group": "g" }),
  acts("node", { "impersonate-user": `system:serviceaccount:${NAMESPACE}:app` }),
  acts("node", { "impersonate-user": `system:serviceaccount:${NAMESPACE}:other` }),
];

const BOOTSTRAP = "/api/v1/namespaces/kube-system/secrets";
const joining = (id: string, more: object = {}) => ({
  metadata: { name: `bootstrap-token-${id}` },
  type: "bootstrap.kubernetes.io/token",
  stringData: { "token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true", ...more },
});
const joins = (id: string, secret = "0123456789abcdef") =>
  whoAmI({ headers: { authorization: `Bearer ${id}.${secret}` } });
const bootstrap: Step[] = [
  step(post(BOOTSTRAP, joining("aaaaaa", { "auth-extra-groups": "system:bootstrappers:x" })), { unseen: true }),
  soon(joins("aaaaaa"), 201),
  step(joins("aaaaaa", "ffffffffffffffff")),
  step(joins("bbbbbb")),
  step(post(BOOTSTRAP, joining("cccccc", { expiration: "2020-01-01T00:00:00Z" })), { unseen: true }),
  step(joins("cccccc")),
  step(post(BOOTSTRAP, joining("dddddd", { "usage-bootstrap-authentication": "false" })), { unseen: true }),
  step(joins("dddddd")),
  step(post(BOOTSTRAP, joining("eeeeee", { "auth-extra-groups": "system:masters" })), { unseen: true }),
  step(joins("eeeeee")),
  step(post(BOOTSTRAP, { ...joining("ffffff"), type: "Opaque" }), { unseen: true }),
  step(joins("ffffff")),
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
    ...tokens,
    ...certificates,
    ...limitedImpersonation,
    ...bootstrap,
  ],
};
export default family;
