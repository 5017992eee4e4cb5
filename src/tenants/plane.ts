import type { GatewayStatus } from "../kinds/kamaji/gateway.ts";
import type { TenantControlPlaneStatus } from "../kinds/kamaji/tenant-control-plane.ts";

/** A certificate and its private key, as PEM texts. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** The certificates and keys of a control plane, as kubeadm names them. */
export interface PlanePki {
  ca: KeyPair;
  apiServer: KeyPair;
  apiServerKubeletClient: KeyPair;
  frontProxyCa: KeyPair;
  frontProxyClient: KeyPair;
  /** Signs the tokens of ServiceAccounts. PEM texts. */
  accounts: { publicKey: string; privateKey: string };
}

/**
 * A tenant's place in a datastore, as its API server reaches it. In etcd: `endpoints`, `prefix` and `tls`. In another database a kine stands
 * between: `endpoints` is empty, `kine` is set, and the runtime starts a kine before kube-apiserver, which it gives the kine's listener as
 * `etcd-servers` (the runtime's `extra` of `apiServerFlags`; a Unix socket in a folder that both see). Flags of the kine are `kineFlags`.
 */
export interface PlaneStore {
  /** What kube-apiserver is given: https endpoints of etcd. Empty: those of the kine. */
  endpoints: readonly string[];
  /** Of all keys: `/<schema>` in etcd, `/registry` behind a kine, which has its database to itself. */
  prefix: string;
  /** The certificate of a tenant that its datastore knows by one; a kine's, too. */
  tls?: KeyPair & { ca: string };
  kine?: PlaneKine;
  /** Resources (`/events`) that are held in other etcds, below the same prefix and by the same certificate. */
  overrides?: readonly { resource: string; endpoints: readonly string[] }[];
}

/** What a kine of one tenant is started with, beside its flags. */
export interface PlaneKine {
  /** Value of its environment variable `KINE_ENDPOINT`. It holds the password: it belongs on no command line, and in no Pod's specification. */
  endpoint: string;
  /** The Secret beside the tenant that has the same text, for a container's `valueFrom`. */
  secret: { name: string; key: string };
  /** PEM of whom the database's certificate is signed by, where the tenant has no certificate of its own (`tls`); the file `etcd/ca.crt` in both cases. Unset: without TLS, or by a public authority. */
  ca?: string;
  /** Flags of the user's own. */
  extraArgs: readonly string[];
}

/** What konnectivity-server runs with, beside the API server. */
export interface PlaneKonnectivity {
  /** Port at which agents connect. */
  port: number;
  /** The server's own. */
  kubeconfig: string;
  /** Flags of the user's own. */
  extraArgs: readonly string[];
}

/** An OpenID Connect provider whose users the API server knows: by their e-mail addresses and groups, as the provider has them. */
export interface PlaneOidc {
  issuer: string;
  clientID: string;
  /** PEM; the file `oidc/ca.crt`. */
  ca: string;
  /** The ConfigMap beside the tenant that has the same text, for Pods. */
  configMap: { name: string; key: string };
}

/** A tenant's control plane as it is to run: all that a runtime needs, its secrets included, and no Kubernetes object. */
export interface Plane {
  /** Uid of the object that wants it: names its files, and nothing else has it. */
  id: string;
  /** As messages name it: `namespace/name`. */
  name: string;
  /** `v1.36.3`. */
  version: string;
  /** 0: it sleeps, and keeps its data. */
  replicas: number;
  /** Where it listens. */
  host: string;
  port: number;
  /** As clients reach it, where that is another address. Default: `host`. */
  advertiseAddress?: string;
  pki: PlanePki;
  /** Kubeconfigs of its own components. */
  kubeconfigs: { controllerManager: string; scheduler: string };
  serviceCidrs: readonly string[];
  podCidrs: readonly string[];
  clusterDomain: string;
  admissionPlugins: readonly string[];
  kubeletAddressTypes: readonly string[];
  /** Flags of the user's own. */
  extraArgs: { apiServer: readonly string[]; controllerManager: readonly string[]; scheduler: readonly string[] };
  /** Unset: the runtime keeps the data itself. */
  store?: PlaneStore;
  oidc?: PlaneOidc;
  /** Set: its API server reaches nodes through konnectivity. */
  konnectivity?: PlaneKonnectivity;
}

/** How a component of a plane is, in words that a status shows. */
export interface ComponentHealth {
  component: string;
  ready: boolean;
  /** What it says of its version. */
  version?: string;
  /** Why it is not ready. */
  message?: string;
}

/** A plane as it runs. */
export interface Observed {
  readyReplicas: number;
  /** The version that answers, the former one until all of a new one's replicas have taken its place; unset while none does. */
  version?: string;
  /** Of a plane that is to sleep: those of which something still runs. Its data are copied when there is none. */
  components: readonly ComponentHealth[];
  /** Objects of the management cluster that it consists of, as a tenant's status has them. */
  objects?: PlaneObjects;
  /** What Gateways say of the route to konnectivity's server. */
  tunnelRoute?: GatewayStatus;
  /** What was asked for and has no effect, and why. */
  ignored?: readonly string[];
}

export type PlaneObjects = Pick<
  NonNullable<TenantControlPlaneStatus["kubernetesResources"]>,
  "deployment" | "service" | "ingress" | "gateway"
>;
