/** Where the kubeconfig of a workload cluster is: Secret `<cluster>-kubeconfig` beside the Cluster, key `value`. */
import type { Access, Client, Ref } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";

/** What reading them needs. */
export const KUBECONFIG_ACCESS: readonly Access[] = [{ resource: Secret, verbs: ["get"] }];

/** Text of a cluster's kubeconfig; undefined where there is none yet. */
export async function kubeconfigOf(client: Client, { namespace, name }: Ref): Promise<string | undefined> {
  const ref = { ...(namespace !== undefined && { namespace }), name: `${name}-kubeconfig` };
  const value = (await client.find(Secret, ref))?.data?.value;
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}
