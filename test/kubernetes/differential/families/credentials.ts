import { CLUSTER_BINDINGS, CLUSTER_ROLES, grant, ofAccount, RBAC, role, rule, soon, user } from "../grants.ts";
import { type Family, get, type Kept, MERGE, patch, post, type Request, type Step, step } from "../step.ts";

/** How one becomes somebody: tokens of ServiceAccounts, requests for certificates, impersonation within limits, bootstrap tokens. */

const NAMESPACE = "diff-credentials";
const HOME = `/api/v1/namespaces/${NAMESPACE}`;
const ACCOUNTS = `${HOME}/serviceaccounts`;
const AUTHENTICATION = "/apis/authentication.k8s.io/v1";

const bob = { as: { user: "bob", groups: ["dev"] } };
const bearer = (kept: Kept, name: string) => ({
  headers: { authorization: `Bearer ${kept[name]!.body.status.token}` },
});

const readers: Step[] = [
  step(post(`${RBAC}/namespaces/${NAMESPACE}/roles`, role("reader", rule("get,list,watch", "pods")))),
  step(
    post(
      `${RBAC}/namespaces/${NAMESPACE}/rolebindings`,
      grant("readers", "Role", "reader", user("bob"), ofAccount("app")),
    ),
  ),
  soon(get(`${HOME}/pods`, {}, bob), 200),
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
/** The same for `O=system:masters, CN=x`. */
const MASTERS =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZ01JR0hBZ0VBTUNVeEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRwdFlYTjBaWEp6TVFvd0NBWURWUVFEREFGNApNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVBQ1BNaFowQlpWeUdWb2xUR1EraGtjSk9LQUFsCkJIMW54U3lJbWpML1FCU2tGWG5RNWNDclArajlZcUFFeEVjL0RWaG1abkRxamZ6dnUvYUlKWE5YcEtBQU1Bb0cKQ0NxR1NNNDlCQU1DQTBnQU1FVUNJUUQ3TldHUHRiVFFyeE11NDdzQ3FFQ2lFVEx5S3dFQiszUVZmMkRPQVB5NApKZ0lnTFR6VzVLK0hncHYreTJaQTRsaU03R3JxeCtDOEF3MEwwald6aDFMd3hLQT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
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
      role("diff-credentials-csr", {
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
  step(post(CLUSTER_BINDINGS, grant("diff-credentials-csr", "ClusterRole", "diff-credentials-csr", user("carol")))),
  soon(post(REQUESTS, wanted("diff-credentials-one"), { as: { user: "carol" } }), 201),
  step(
    post(
      REQUESTS,
      wanted("diff-credentials-two", { username: "root", groups: ["system:masters"], uid: "0", extra: { a: ["b"] } }),
      { as: { user: "carol" } },
    ),
  ),
  step(post(REQUESTS, wanted("diff-credentials-three"), bob)),
  step(
    post(
      REQUESTS,
      wanted("diff-credentials-four", { request: MASTERS, signerName: "kubernetes.io/kube-apiserver-client" }),
    ),
  ),
  step(patch(`${REQUESTS}/diff-credentials-one/approval`, MERGE, approved, { as: { user: "carol" } })),
  step(
    patch(
      `${REQUESTS}/diff-credentials-one/status`,
      MERGE,
      { status: { certificate: CERTIFICATE } },
      { as: { user: "carol" } },
    ),
  ),
  step(
    post(
      CLUSTER_ROLES,
      role("diff-credentials-signer", {
        apiGroups: ["certificates.k8s.io"],
        resources: ["signers"],
        resourceNames: ["kubernetes.io/*"],
        verbs: ["approve"],
      }),
    ),
  ),
  step(
    post(CLUSTER_BINDINGS, grant("diff-credentials-signer", "ClusterRole", "diff-credentials-signer", user("carol"))),
  ),
  soon(patch(`${REQUESTS}/diff-credentials-one/approval`, MERGE, approved, { as: { user: "carol" } }), 200),
  step(get(`${REQUESTS}/diff-credentials-one`), { unseen: true }),
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
  step(post(CLUSTER_ROLES, role(`diff-credentials-${name}`, ...rules))),
  step(
    post(
      CLUSTER_BINDINGS,
      grant(`diff-credentials-${name}`, "ClusterRole", `diff-credentials-${name}`, ofAccount(who, NAMESPACE)),
    ),
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
  acts("limited", { ...AS_BOB, "impersonate-extra-scopes": "view" }),
  acts("limited", { ...AS_BOB, "impersonate-extra-acme.io%2fscopes": "view" }),
  acts("limited", { ...AS_BOB, "impersonate-extra-acme_io%2fscopes": "view" }),
  acts("limited", { ...AS_BOB, "impersonate-extra-acme.io%2f": "view" }),
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
  name: "credentials",
  steps: [...readers, ...tokens, ...certificates, ...limitedImpersonation, ...bootstrap],
};
export default family;
