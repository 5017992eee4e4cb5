/** The authorities of a workload cluster whose first machine runs `kubeadm init`: Secrets under Cluster API's names, made once. */
import { type Clock, Fault, isFault, offLoop } from "@slipway/base";
import { type Client, ownerReference } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { LABELS, SECRET_TYPE, type SecretPurpose, secretName } from "../../../cluster-api/names.ts";
import { Cluster } from "../../../kinds/cluster-api/cluster.ts";

/** A certificate and its key, as PEM texts. Of `sa` it is the public key. */
export interface Pair {
  cert: string;
  key: string;
}

export type ClusterPki = Readonly<Record<"ca" | "etcd" | "proxy" | "sa", Pair>>;

const COMMON_NAMES = { ca: "kubernetes", etcd: "etcd-ca", proxy: "front-proxy-ca" } as const;

/** Reads the cluster's authorities; those that are missing are made. Two that do so at once end with the same ones. */
export async function keepClusterPki(client: Client, clock: Clock, cluster: Cluster): Promise<ClusterPki> {
  const [ca, etcd, proxy, sa] = await Promise.all([
    keep(client, cluster, "ca", () => authority(COMMON_NAMES.ca, clock)),
    keep(client, cluster, "etcd", () => authority(COMMON_NAMES.etcd, clock)),
    keep(client, cluster, "proxy", () => authority(COMMON_NAMES.proxy, clock)),
    keep(client, cluster, "sa", accountKey),
  ]);
  return { ca, etcd, proxy, sa };
}

/** The certificate of the authority that the control plane's is by. Rejects with `MissingInput` where nobody has left it. */
export async function clusterAuthority(client: Client, { metadata }: Cluster): Promise<string> {
  const ref = { namespace: metadata.namespace!, name: secretName(metadata.name, "ca") };
  const cert = textOf(await client.find(Secret, ref), "tls.crt");
  if (cert !== "") return cert;
  throw new Fault("MissingInput", `Secret/${ref.namespace}/${ref.name}`, "there is no tls.crt", {
    remedy: "put the certificate of the control plane's authority there",
  });
}

async function authority(commonName: string, clock: Clock): Promise<Pair> {
  const { createAuthority } = await offLoop(import("../../../pki/authority.ts"));
  const { certificatePem, keyPem } = await createAuthority({ commonName, clock, algorithm: "RSA-2048" });
  return { cert: certificatePem, key: keyPem };
}

async function accountKey(): Promise<Pair> {
  const { createKeyPair, publicPem } = await offLoop(import("../../../pki/keys.ts"));
  const { keyPem } = await createKeyPair("RSA-2048");
  return { cert: publicPem(keyPem), key: keyPem };
}

async function keep(
  client: Client,
  cluster: Cluster,
  purpose: SecretPurpose,
  make: () => Promise<Pair>,
): Promise<Pair> {
  const { name, namespace } = cluster.metadata;
  const ref = { namespace: namespace!, name: secretName(name, purpose) };
  const held = pairOf(await client.find(Secret, ref));
  if (held !== undefined) return held;
  const made = await make();
  try {
    await client.create(Secret, {
      metadata: {
        ...ref,
        labels: { [LABELS.clusterName]: name },
        ownerReferences: [ownerReference(Cluster, cluster)],
      },
      type: SECRET_TYPE,
      data: { "tls.crt": base64(made.cert), "tls.key": base64(made.key) },
    });
    return made;
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
    return pairOf(await client.find(Secret, ref)) ?? made;
  }
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

function pairOf(secret: Secret | undefined): Pair | undefined {
  const [cert, key] = [textOf(secret, "tls.crt"), textOf(secret, "tls.key")];
  return cert && key ? { cert, key } : undefined;
}

const textOf = (secret: Secret | undefined, name: string): string =>
  Buffer.from(secret?.data?.[name] ?? "", "base64").toString();
