/** The operator's account as `deploy/` ships it: written into a cluster, and used. */
import { systemClock } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import type { RbacObject } from "../../src/operator/rbac.ts";
import { create, ensureMachineKind } from "../../src/sim/site/capi-machine.ts";
import type { Cluster } from "./cluster.ts";
import { shippedRbac } from "./grants.ts";

/** Writes the namespaces, the RBAC (the shipped one unless given) and the kinds of others, as the administrator who installs Slipway. */
export async function prepare({ client, transport }: Cluster, rbac?: readonly RbacObject[]): Promise<void> {
  for (const name of ["harvester-system", "fleet-local"]) await create(client, Namespace, { metadata: { name } });
  for (const object of rbac ?? (await shippedRbac())) await apply(transport, object);
  await ensureMachineKind(client, systemClock);
}

const PLURALS = {
  ServiceAccount: "serviceaccounts",
  Role: "roles",
  RoleBinding: "rolebindings",
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
} as const;

/** Applies one object server-side, as an installer does. */
export async function apply(transport: Transport, object: RbacObject): Promise<void> {
  const { name, namespace } = object.metadata;
  const root = object.apiVersion === "v1" ? "/api/v1" : `/apis/${object.apiVersion}`;
  const { status, body } = await transport.request({
    method: "PATCH",
    path: `${root}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${PLURALS[object.kind]}/${name}`,
    query: { fieldManager: "test", force: "true" },
    contentType: "application/apply-patch+yaml",
    body: object,
  });
  if (status >= 300) throw new Error(`${object.kind}/${name}: ${status} ${JSON.stringify(body)}`);
}

const OPERATOR = { name: "slipway", namespace: "harvester-system" };

/** The administrator's way into a cluster. */
export interface Administered {
  transport: Transport;
  plane: { kubeconfigFile: string };
}

/** A token of a shipped ServiceAccount (the operator's, unless said), from TokenRequest. */
export async function operatorToken(
  { transport }: Pick<Administered, "transport">,
  { name, namespace } = OPERATOR,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 7200 } };
  const { body } = await transport.request({ method: "POST", path, body: request });
  return (body as { status: { token: string } }).status.token;
}

/** The way to the cluster as a shipped ServiceAccount. */
export async function operatorTransport(cluster: Administered, account = OPERATOR): Promise<Transport> {
  const token = await operatorToken(cluster, account);
  const { server, ca } = await loadConnection({
    kubeconfig: cluster.plane.kubeconfigFile,
    env: {},
    clock: systemClock,
  });
  return createHttpTransport({ server, ...(ca !== undefined && { ca }), authorization: async () => `Bearer ${token}` });
}
