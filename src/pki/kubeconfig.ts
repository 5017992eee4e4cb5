import { dump } from "js-yaml";

/** How a kubeconfig proves who its user is. */
export type KubeconfigUser = { clientCertPem: string; clientKeyPem: string } | { token: string };

export type KubeconfigInput = {
  /** Of cluster, user and context alike. */
  name: string;
  /** Of the user, where it differs; the context is then `<user>@<name>`, as kubeadm has it. */
  userName?: string;
  /** URL of the API server. */
  server: string;
  /** Unset: the system's authorities are trusted. */
  caPem?: string;
  /** Of the context. `default` unless said. */
  namespace?: string;
} & KubeconfigUser;

/** A kubeconfig with one context, certificates embedded: it works wherever the file is moved. Holds secrets. */
export function kubeconfig(input: KubeconfigInput): string {
  const { name, userName = name, server, caPem, namespace } = input;
  const contextName = userName === name ? name : `${userName}@${name}`;
  const cluster = { server, ...(caPem !== undefined && { "certificate-authority-data": base64(caPem) }) };
  const context = { cluster: name, user: userName, ...(namespace !== undefined && { namespace }) };
  const user =
    "token" in input
      ? { token: input.token }
      : {
          "client-certificate-data": base64(input.clientCertPem),
          "client-key-data": base64(input.clientKeyPem),
        };
  return dump(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster }],
      users: [{ name: userName, user }],
      contexts: [{ name: contextName, context }],
      "current-context": contextName,
    },
    { lineWidth: -1 },
  );
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
