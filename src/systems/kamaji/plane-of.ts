import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { PARTS } from "../../pki/tenant/parts.ts";
import type { Plane, PlaneOidc, PlaneStore } from "../../tenants/plane.ts";
import type { HeldPki } from "./tenant-pki.ts";
import type { TenantPlace } from "./tenant-place.ts";

/** The plane that a tenant's specification and Secrets ask for, at its place. Pure. */
export function planeOf(
  { metadata }: TenantControlPlane,
  spec: CompleteSpec,
  {
    version,
    place,
    pki,
    store,
    oidc,
  }: {
    version: string;
    place: { host: string; port: number; tunnelPort?: number };
    pki: HeldPki;
    /** Where its objects are; unset: the runtime keeps them. */
    store?: TenantPlace;
    oidc?: PlaneOidc | undefined;
  },
): Plane {
  const pair = (part: keyof typeof PARTS, name: string) => ({
    cert: pki[part][`${name}.crt`] ?? "",
    key: pki[part][`${name}.key`] ?? "",
  });
  const { networkProfile: network, kubernetes } = spec;
  const { extraArgs = {}, replicas } = spec.controlPlane.deployment;
  const { advertiseAddress } = network;
  return {
    ...{ id: metadata.uid, name: `${metadata.namespace}/${metadata.name}`, version, replicas },
    ...{ host: place.host, port: place.port },
    ...(advertiseAddress !== undefined && { advertiseAddress }),
    pki: {
      ca: pair("ca", "ca"),
      apiServer: pair("apiServer", "apiserver"),
      apiServerKubeletClient: pair("apiServerKubeletClient", "apiserver-kubelet-client"),
      frontProxyCa: pair("frontProxyCA", "front-proxy-ca"),
      frontProxyClient: pair("frontProxyClient", "front-proxy-client"),
      accounts: { publicKey: pki.sa["sa.pub"] ?? "", privateKey: pki.sa["sa.key"] ?? "" },
    },
    kubeconfigs: {
      controllerManager: pki.controllerManager["controller-manager.conf"] ?? "",
      scheduler: pki.scheduler["scheduler.conf"] ?? "",
    },
    serviceCidrs: network.serviceCidrs,
    podCidrs: network.podCidrs,
    clusterDomain: network.clusterDomain,
    admissionPlugins: kubernetes.admissionControllers,
    kubeletAddressTypes: kubernetes.kubelet.preferredAddressTypes,
    extraArgs: {
      apiServer: extraArgs.apiServer ?? [],
      controllerManager: extraArgs.controllerManager ?? [],
      scheduler: extraArgs.scheduler ?? [],
    },
    ...(store !== undefined && { store: storeOf(spec, store, pki.datastore) }),
    ...(oidc !== undefined && { oidc }),
    ...konnectivityOf(spec, pki, place.tunnelPort),
  };
}

function konnectivityOf(
  { addons }: CompleteSpec,
  { konnectivityKubeconfig: held }: HeldPki,
  port: number | undefined,
): Partial<Plane> {
  const server = addons?.konnectivity?.server;
  if (server === undefined || held === undefined) return {};
  const kubeconfig = held["konnectivity-server.conf"] ?? "";
  return { konnectivity: { port: port ?? server.port, kubeconfig, extraArgs: server.extraArgs ?? [] } };
}

/** The default prefix of kube-apiserver's keys: a kine has a database for one tenant alone, and Kamaji's tenants have theirs below it. */
const USUAL_PREFIX = "/registry";

function storeOf(
  { dataStoreSchema, controlPlane }: CompleteSpec,
  { endpoints, kine, overrides }: TenantPlace,
  certificate: HeldPki["datastore"],
): PlaneStore {
  const { "ca.crt": ca, "server.crt": cert, "server.key": key } = certificate ?? {};
  const tls = ca !== undefined && cert !== undefined && key !== undefined ? { ca, cert, key } : undefined;
  if (kine !== undefined) {
    const extraArgs = controlPlane.deployment.extraArgs?.kine ?? [];
    return { endpoints: [], prefix: USUAL_PREFIX, kine: { ...kine, extraArgs }, ...(tls !== undefined && { tls }) };
  }
  const scheme = tls === undefined ? "http" : "https";
  const urls = (of: readonly string[]): string[] =>
    of.map((endpoint) => (endpoint.includes("://") ? endpoint : `${scheme}://${endpoint}`));
  return {
    endpoints: urls(endpoints),
    prefix: `/${dataStoreSchema}`,
    ...(overrides.length > 0 && {
      overrides: overrides.map(({ resource, endpoints }) => ({ resource, endpoints: urls(endpoints) })),
    }),
    ...(tls !== undefined && { tls }),
  };
}
