/**
 * What a hosted control plane's PKI consists of: a Secret a part, with names, keys and formats as Kamaji has them, so that what reads them
 * today goes on working. `plan.ts` says which parts must be made anew, `make.ts` makes them. Needs no API and no library; knows nothing of TenantControlPlane.
 */

/** Texts by the Secret's key, decoded. */
export type SecretTexts = Readonly<Record<string, string>>;

/** Who signs a part. `datastore` is the DataStore's own authority: it is given, never made. */
export type IssuerName = "ca" | "frontProxyCA" | "datastore";

interface Files {
  /** Ending of the Secret's name, after the tenant's and a dash. */
  secret: string;
}

/** A self-signed certificate that signs others. */
export interface AuthorityPart extends Files {
  is: "authority";
  commonName: string;
  /** Keys of the Secret; the further ones hold the same texts. */
  certificates: readonly string[];
  keys: readonly string[];
}

/** A certificate that an authority issues: for the API server's hosts when `serves`, else for a client. */
export interface LeafPart extends Files {
  is: "leaf";
  issuer: IssuerName;
  certificate: string;
  key: string;
  /** Key of the Secret that holds the issuer's certificate. */
  authority?: string;
  commonName: string;
  organizations: readonly string[];
  serves: boolean;
}

/** The key pair that signs service accounts' tokens. */
export interface KeyPairPart extends Files {
  is: "key pair";
  publicKey: string;
  privateKey: string;
}

/** Kubeconfigs with client certificates in them, one user a file. */
export interface KubeconfigPart extends Files {
  is: "kubeconfig";
  files: Readonly<Record<string, KubeconfigFile>>;
}

export interface KubeconfigFile {
  userName: string;
  organizations: readonly string[];
  /** Where it reaches the API server: from outside, from the management cluster, or on its own host. */
  server: ServerName;
}
export type ServerName = "endpoint" | "service" | "local";

export type Part = AuthorityPart | LeafPart | KeyPairPart | KubeconfigPart;

const ADMINS = { userName: "kubernetes-admin", organizations: ["kubeadm:cluster-admins"] };
const SUPER_ADMINS = { userName: "kubernetes-super-admin", organizations: ["system:masters"] };

/** Every part, issuers before what they issue. */
export const PARTS = {
  ca: {
    is: "authority",
    secret: "ca",
    commonName: "kubernetes",
    certificates: ["ca.crt", "tls.crt"],
    keys: ["ca.key", "tls.key"],
  },
  frontProxyCA: {
    is: "authority",
    secret: "front-proxy-ca-certificate",
    commonName: "front-proxy-ca",
    certificates: ["front-proxy-ca.crt"],
    keys: ["front-proxy-ca.key"],
  },
  sa: { is: "key pair", secret: "sa-certificate", publicKey: "sa.pub", privateKey: "sa.key" },
  apiServer: {
    is: "leaf",
    secret: "api-server-certificate",
    issuer: "ca",
    certificate: "apiserver.crt",
    key: "apiserver.key",
    commonName: "kube-apiserver",
    organizations: [],
    serves: true,
  },
  apiServerKubeletClient: {
    is: "leaf",
    secret: "api-server-kubelet-client-certificate",
    issuer: "ca",
    certificate: "apiserver-kubelet-client.crt",
    key: "apiserver-kubelet-client.key",
    // Its rights come by its name (ClusterRoleBinding kubeadm:apiserver-kubelet-client), as kubeadm 1.36 has it.
    commonName: "kube-apiserver-kubelet-client",
    organizations: [],
    serves: false,
  },
  frontProxyClient: {
    is: "leaf",
    secret: "front-proxy-client-certificate",
    issuer: "frontProxyCA",
    certificate: "front-proxy-client.crt",
    key: "front-proxy-client.key",
    commonName: "front-proxy-client",
    organizations: [],
    serves: false,
  },
  admin: {
    is: "kubeconfig",
    secret: "admin-kubeconfig",
    files: {
      "admin.conf": { ...ADMINS, server: "endpoint" },
      "admin.svc": { ...ADMINS, server: "service" },
      "super-admin.conf": { ...SUPER_ADMINS, server: "endpoint" },
      "super-admin.svc": { ...SUPER_ADMINS, server: "service" },
    },
  },
  controllerManager: {
    is: "kubeconfig",
    secret: "controller-manager-kubeconfig",
    files: {
      "controller-manager.conf": { userName: "system:kube-controller-manager", organizations: [], server: "local" },
    },
  },
  scheduler: {
    is: "kubeconfig",
    secret: "scheduler-kubeconfig",
    files: { "scheduler.conf": { userName: "system:kube-scheduler", organizations: [], server: "local" } },
  },
} as const satisfies Readonly<Record<string, Part>>;

/** The parts by Kamaji's names for them in a tenant's status. */
export type PartName = keyof typeof PARTS;

/** The certificate by which a tenant's API server is known to its DataStore: the store's user by name, where the store is etcd. */
export function datastorePart(user: string): LeafPart {
  return {
    is: "leaf",
    secret: "datastore-certificate",
    issuer: "datastore",
    certificate: "server.crt",
    key: "server.key",
    authority: "ca.crt",
    commonName: user,
    organizations: ["system:masters"],
    serves: false,
  };
}

/** What konnectivity-server is known by, where a tenant has it. */
export const KONNECTIVITY_PARTS = {
  konnectivityCertificate: {
    is: "leaf",
    secret: "konnectivity-certificate",
    issuer: "ca",
    certificate: "tls.crt",
    key: "tls.key",
    commonName: "system:konnectivity-server",
    organizations: [],
    serves: false,
  },
  konnectivityKubeconfig: {
    is: "kubeconfig",
    secret: "konnectivity-kubeconfig",
    files: {
      "konnectivity-server.conf": { userName: "system:konnectivity-server", organizations: [], server: "local" },
    },
  },
} as const satisfies Readonly<Record<string, Part>>;
