import { type Clock, Fault, isFault, offLoop } from "@slipway/base";
import { type Client, controllerReference } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { endpointOf } from "../../../cluster-api/contract.ts";
import { LABELS, SECRET_TYPE, secretName } from "../../../cluster-api/names.ts";
import { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import { kubeconfig } from "../../../pki/kubeconfig.ts";
import { certificateFault } from "../../../pki/renewal.ts";
import { credentialsOf } from "../../../pki/tenant/credentials.ts";

const USER = "kubernetes-admin";
const GROUPS = ["system:masters"];
/** Half of the year that a certificate lasts. */
const RENEWED_WITH_LEFT_MS = 182 * 86_400_000;

const textOf = (secret: Secret | undefined, key: string): string | undefined => {
  const value = secret?.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
};

/**
 * Makes the kubeconfig of a Cluster that no control plane object provides, from its CA, and renews it in time. Rejects with `MissingInput` while
 * there is no CA.
 */
export async function keepKubeconfig(client: Client, clock: Clock, cluster: Cluster): Promise<void> {
  const { name, namespace } = cluster.metadata;
  const endpoint = endpointOf(cluster.spec.controlPlaneEndpoint);
  if (endpoint === undefined) return;
  const ref = { namespace: namespace!, name: secretName(name, "kubeconfig") };
  const held = await client.find(Secret, ref);
  // One that others made is theirs to renew.
  const isOurs = held?.metadata.ownerReferences?.some(({ uid }) => uid === cluster.metadata.uid);
  if (held !== undefined && !isOurs) return;
  const authority = await authorityOf(client, cluster);
  const server = `https://${endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host}:${endpoint.port}`;
  if (held !== undefined && isCurrent(textOf(held, "value"), server, authority.certificatePem, clock.now())) return;
  const { issueClient } = await offLoop(import("../../../pki/authority.ts"));
  const issued = await issueClient(authority, { commonName: USER, organizations: GROUPS, clock });
  const text = kubeconfig({
    ...{ name, userName: `${name}-admin`, server, caPem: authority.certificatePem },
    ...{ clientCertPem: issued.certificatePem, clientKeyPem: issued.keyPem },
  });
  const data = { value: Buffer.from(text).toString("base64") };
  if (held !== undefined) {
    await client.patch(Secret, ref, { type: "merge", body: { data } });
    return;
  }
  try {
    await client.create(Secret, {
      metadata: {
        ...ref,
        labels: { [LABELS.clusterName]: name },
        ownerReferences: [controllerReference(Cluster, cluster)],
      },
      type: SECRET_TYPE,
      data,
    });
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
  }
}

async function authorityOf(client: Client, { metadata: { name, namespace } }: Cluster) {
  const ca = secretName(name, "ca");
  const secret = await client.find(Secret, { namespace: namespace!, name: ca });
  const [certificatePem, keyPem] = [textOf(secret, "tls.crt"), textOf(secret, "tls.key")];
  if (!certificatePem || !keyPem)
    throw new Fault(
      "MissingInput",
      `Secret/${namespace}/${ca}`,
      "the cluster's CA is not there: tls.crt and tls.key are needed",
      {
        remedy: "the control plane provider makes it; without one, create it",
      },
    );
  return { certificatePem, keyPem };
}

function isCurrent(text: string | undefined, server: string, authorityPem: string, now: number): boolean {
  const found = text === undefined ? undefined : credentialsOf(text);
  if (found === undefined || found.server !== server || found.caPem !== authorityPem) return false;
  const demands = { now, leftMs: RENEWED_WITH_LEFT_MS, commonName: USER, organizations: GROUPS, authorityPem };
  return certificateFault(found, demands) === undefined;
}
