/** What a tenant's kube-apiserver and its users are set up with, so that they log in by the provider. Pure; holds no secret. */
import { dump } from "js-yaml";
import { CLIENT_ID } from "./dex-config.ts";

export interface OidcSettings {
  issuer: string;
  /** PEM of the authority of the provider's certificate. */
  caPem: string;
  /** The tenant's API server; undefined: it is not known yet. */
  apiServer?: { server: string; caPem?: string | undefined } | undefined;
}

/** What an API server must know of the provider. */
export interface OidcClient {
  issuer: string;
  clientID: string;
  /** PEM. */
  ca: string;
  /** Has the authority as `ca.crt`. */
  configMap: string;
}

const CA_FILE = "/etc/kubernetes/certs/dex-cert/tls.crt";

/** By the key of the ConfigMap. Users' names are their e-mail addresses, and their groups those of the provider, both without a prefix. */
export function oidcSettings({ issuer, caPem, apiServer }: OidcSettings): Record<string, string> {
  const flags = [
    `--oidc-issuer-url=${issuer}`,
    `--oidc-client-id=${CLIENT_ID}`,
    "--oidc-username-claim=email",
    "--oidc-groups-claim=groups",
    `--oidc-ca-file=${CA_FILE}`,
  ];
  const authentication = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: { url: issuer, audiences: [CLIENT_ID], certificateAuthority: caPem },
        claimMappings: { username: { claim: "email", prefix: "" }, groups: { claim: "groups", prefix: "" } },
        claimValidationRules: [
          { expression: "claims.?email_verified.orValue(true) == true", message: "the e-mail address is not verified" },
        ],
        // Names of Kubernetes' own are not the provider's to give: its group system:masters would be administrator.
        userValidationRules: [
          { expression: "!user.username.startsWith('system:')", message: "users' names may not begin with system:" },
          {
            expression: "!has(user.groups) || user.groups.all(group, !group.startsWith('system:'))",
            message: "groups' names may not begin with system:",
          },
        ],
      },
    ],
  };
  return {
    "issuer-url": issuer,
    "client-id": CLIENT_ID,
    "ca.crt": caPem,
    "kube-apiserver-flags": `${flags.join("\n")}\n`,
    "authentication-config.yaml": yaml(authentication),
    ...(apiServer !== undefined && { kubeconfig: userKubeconfig(issuer, caPem, apiServer) }),
  };
}

/** Users log in by the plugin oidc-login of kubectl. */
function userKubeconfig(
  issuer: string,
  caPem: string,
  { server, caPem: serverCa }: NonNullable<OidcSettings["apiServer"]>,
): string {
  const args = [
    ...["oidc-login", "get-token", `--oidc-issuer-url=${issuer}`, `--oidc-client-id=${CLIENT_ID}`],
    ...["email", "groups", "offline_access"].map((scope) => `--oidc-extra-scope=${scope}`),
    `--certificate-authority-data=${base64(caPem)}`,
  ];
  const exec = {
    ...{ apiVersion: "client.authentication.k8s.io/v1", command: "kubectl", args },
    interactiveMode: "IfAvailable",
  };
  const name = "tenant";
  const cluster = { server, ...(serverCa !== undefined && { "certificate-authority-data": base64(serverCa) }) };
  return yaml({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster }],
    users: [{ name: "oidc", user: { exec } }],
    contexts: [{ name: `oidc@${name}`, context: { cluster: name, user: "oidc" } }],
    "current-context": `oidc@${name}`,
  });
}

const yaml = (value: object): string => dump(value, { lineWidth: -1 });
const base64 = (text: string): string => Buffer.from(text).toString("base64");
