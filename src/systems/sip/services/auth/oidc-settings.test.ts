import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "js-yaml";
import { dexConfig } from "./dex-config.ts";
import { oidcSettings } from "./oidc-settings.ts";

const ISSUER = "https://192.0.2.1:30020/dex";
const base64 = (text: string) => Buffer.from(text).toString("base64");

test("an API server is set up by flags or by a file, which says the same and refuses names of Kubernetes' own", () => {
  const settings = oidcSettings({ issuer: ISSUER, caPem: "CA" });
  assert.deepEqual(Object.keys(settings), [
    "issuer-url",
    "client-id",
    "ca.crt",
    "kube-apiserver-flags",
    "authentication-config.yaml",
  ]);
  assert.deepEqual([settings["issuer-url"], settings["client-id"], settings["ca.crt"]], [ISSUER, "kubernetes", "CA"]);
  assert.equal(
    settings["kube-apiserver-flags"],
    `--oidc-issuer-url=${ISSUER}
--oidc-client-id=kubernetes
--oidc-username-claim=email
--oidc-groups-claim=groups
--oidc-ca-file=/etc/kubernetes/certs/dex-cert/tls.crt
`,
  );
  assert.deepEqual(load(settings["authentication-config.yaml"]!), {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: { url: ISSUER, audiences: ["kubernetes"], certificateAuthority: "CA" },
        claimMappings: { username: { claim: "email", prefix: "" }, groups: { claim: "groups", prefix: "" } },
        claimValidationRules: [
          { expression: "claims.?email_verified.orValue(true) == true", message: "the e-mail address is not verified" },
        ],
        userValidationRules: [
          { expression: "!user.username.startsWith('system:')", message: "users' names may not begin with system:" },
          {
            expression: "!has(user.groups) || user.groups.all(group, !group.startsWith('system:'))",
            message: "groups' names may not begin with system:",
          },
        ],
      },
    ],
  });
});

test("users have a kubeconfig that logs in by kubectl's plugin, and holds nothing secret", () => {
  const of = (caPem?: string) =>
    load(oidcSettings({ issuer: ISSUER, caPem: "CA", apiServer: { server: "https://api:6443", caPem } }).kubeconfig!);
  const exec = {
    ...{ apiVersion: "client.authentication.k8s.io/v1", command: "kubectl", interactiveMode: "IfAvailable" },
    args: [
      ...["oidc-login", "get-token", `--oidc-issuer-url=${ISSUER}`, "--oidc-client-id=kubernetes"],
      ...["--oidc-extra-scope=email", "--oidc-extra-scope=groups", "--oidc-extra-scope=offline_access"],
      `--certificate-authority-data=${base64("CA")}`,
    ],
  };
  const expected = (cluster: object) => ({
    ...{ apiVersion: "v1", kind: "Config", clusters: [{ name: "tenant", cluster }] },
    users: [{ name: "oidc", user: { exec } }],
    contexts: [{ name: "oidc@tenant", context: { cluster: "tenant", user: "oidc" } }],
    "current-context": "oidc@tenant",
  });
  assert.deepEqual(of(), expected({ server: "https://api:6443" }));
  assert.deepEqual(
    of("TENANT"),
    expected({ server: "https://api:6443", "certificate-authority-data": base64("TENANT") }),
  );
});

test("Dex has what the user's Secret gives, and passwords of its own where it gives nothing", () => {
  const read = (connectors: unknown[], staticPasswords: unknown[]) =>
    JSON.parse(dexConfig({ issuer: ISSUER, connectors, staticPasswords }));
  const common = {
    ...{ issuer: ISSUER, storage: { type: "memory" }, oauth2: { skipApprovalScreen: true } },
    web: { https: "0.0.0.0:5556", tlsCert: "/etc/dex/tls/tls.crt", tlsKey: "/etc/dex/tls/tls.key" },
    staticClients: [
      {
        ...{ id: "kubernetes", name: "Kubernetes", public: true },
        redirectURIs: ["http://localhost:8000", "http://localhost:18000"],
      },
    ],
  };
  assert.deepEqual(read([], []), { ...common, enablePasswordDB: true });
  assert.deepEqual(read([1], []), { ...common, connectors: [1], enablePasswordDB: false });
  assert.deepEqual(read([], [2]), { ...common, staticPasswords: [2], enablePasswordDB: true });
  assert.deepEqual(read([1], [2]), { ...common, connectors: [1], staticPasswords: [2], enablePasswordDB: true });
  const places = { listen: "127.0.0.1:1", tls: "/t" };
  const { web } = JSON.parse(dexConfig({ issuer: ISSUER, connectors: [], staticPasswords: [] }, places));
  assert.deepEqual(web, { https: "127.0.0.1:1", tlsCert: "/t/tls.crt", tlsKey: "/t/tls.key" });
});
