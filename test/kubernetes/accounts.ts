import { rename, writeFile } from "node:fs/promises";
import type { Client, KubeObject, Resource, Transport } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { dump } from "js-yaml";
import { create } from "../../src/sim/site/capi-machine.ts";
import { NAMESPACE } from "./follower.ts";

const ServiceAccount: Resource = {
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};
const rbac = (kind: string, plural: string): Resource<KubeObject & Record<string, unknown>> => ({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind,
  plural,
  namespaced: true,
});
const Role = rbac("Role", "roles");
const RoleBinding = rbac("RoleBinding", "rolebindings");

/** Who follows: a ServiceAccount, and the user `follower` of client certificates, who may read where `churn` writes. */
export async function allowFollowing(client: Client): Promise<void> {
  const metadata = { name: "follower", namespace: NAMESPACE };
  const apiGroup = Role.group;
  await create(client, ServiceAccount, { metadata });
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] }];
  await create(client, Role, { metadata, rules });
  await create(client, RoleBinding, {
    metadata,
    roleRef: { apiGroup, kind: "Role", name: "follower" },
    subjects: [
      { kind: "ServiceAccount", name: "follower", namespace: NAMESPACE },
      { apiGroup, kind: "User", name: "follower" },
    ],
  });
}

/** A token of the ServiceAccount that ends when the Secret of that name is deleted. */
export async function boundToken(client: Client, transport: Transport, name: string): Promise<string> {
  const secret = await client.create(Secret, { metadata: { name, namespace: NAMESPACE } });
  const boundObjectRef = { apiVersion: "v1", kind: "Secret", name, uid: secret.metadata.uid };
  const { body } = await transport.request({
    method: "POST",
    path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/follower/token`,
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 3600, boundObjectRef },
    },
  });
  return (body as { status: { token: string } }).status.token;
}

/** A kubeconfig whose user and cluster are as given: for credentials in files. */
export function kubeconfigOf(cluster: object, user: object): string {
  return dump({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}

/** Writes a file as credentials are renewed: at once, as a whole. */
export async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
