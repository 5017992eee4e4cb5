/** Where a tenant's Pods find its files: Kamaji's volumes and paths, which users' arguments may name. */
import { createHash } from "node:crypto";
import { KONNECTIVITY_PARTS, PARTS, type Part } from "../../pki/tenant/parts.ts";
import type { FileOf } from "../flags.ts";
import type { Plane, PlaneOidc } from "../plane.ts";

const CONFIG = "/etc/kubernetes";
const PKI_FOLDER = `${CONFIG}/pki`;
/** As the files' owner may write, all others read: the programs run as whatever user their images or security contexts name. */
const MODE = 0o644;
const DATASTORE = "datastore-certificate";

/** Where a component finds a file of the plane. */
export const fileOf: FileOf = (name) => (name.endsWith(".conf") ? `${CONFIG}/${name}` : `${PKI_FOLDER}/${name}`);

interface Mount {
  name: string;
  mountPath: string;
  readOnly: boolean;
  subPath?: string;
}

const PKI = "etc-kubernetes-pki";
export const PKI_MOUNT: Mount = { name: PKI, mountPath: PKI_FOLDER, readOnly: true };

/** A component's kubeconfig, in the folder where it looks for it. */
export const kubeconfigMount = (name: string): Mount => ({ name, mountPath: CONFIG, readOnly: true });

/** Which files of which Secret are in the Pods: path by key. */
const PROJECTED: readonly [Part, Readonly<Record<string, string>>][] = [
  [PARTS.apiServer, same("apiserver.crt", "apiserver.key")],
  [PARTS.ca, same("ca.crt", "ca.key")],
  [PARTS.apiServerKubeletClient, same("apiserver-kubelet-client.crt", "apiserver-kubelet-client.key")],
  [PARTS.frontProxyCA, same("front-proxy-ca.crt")],
  [PARTS.frontProxyClient, same("front-proxy-client.crt", "front-proxy-client.key")],
  [PARTS.sa, same("sa.pub", "sa.key")],
];
const ETCD = { "ca.crt": "etcd/ca.crt", "server.crt": "etcd/server.crt", "server.key": "etcd/server.key" };

function same(...keys: string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, key]));
}

/** The volumes of a tenant's own components. */
export function volumesOf(tenant: string, plane: Plane): object[] {
  const projected = (secret: string, paths: Readonly<Record<string, string>>): object => ({
    secret: { name: `${tenant}-${secret}`, items: Object.entries(paths).map(([key, path]) => ({ key, path })) },
  });
  const ofSecret = (secret: string): object => ({
    name: secret,
    secret: { secretName: `${tenant}-${secret}`, defaultMode: MODE },
  });
  const sources = [
    ...PROJECTED.map(([{ secret }, paths]) => projected(secret, paths)),
    // Of a database that is no etcd, kine alone has the certificate.
    ...(plane.store?.tls === undefined || plane.store.kine !== undefined ? [] : [projected(DATASTORE, ETCD)]),
    ...(plane.oidc === undefined ? [] : [oidcFile(plane.oidc)]),
  ];
  return [
    { name: PKI, projected: { sources, defaultMode: MODE } },
    ofSecret(PARTS.scheduler.secret),
    ofSecret(PARTS.controllerManager.secret),
  ];
}

function oidcFile({ configMap: { name, key } }: PlaneOidc): object {
  return { configMap: { name, items: [{ key, path: "oidc/ca.crt" }] } };
}

/** A mark of each Secret's content, by Kamaji's names: other content is another template, so that the Pods are replaced. */
export function marksOf({ pki, kubeconfigs, store, konnectivity, oidc }: Plane): Record<string, string> {
  const marks: Record<string, unknown> = {
    [PARTS.apiServer.secret]: pki.apiServer,
    [PARTS.apiServerKubeletClient.secret]: pki.apiServerKubeletClient,
    [PARTS.ca.secret]: pki.ca,
    [PARTS.controllerManager.secret]: kubeconfigs.controllerManager,
    [PARTS.frontProxyCA.secret]: pki.frontProxyCa.cert,
    [PARTS.frontProxyClient.secret]: pki.frontProxyClient,
    "service-account": pki.accounts,
    [PARTS.scheduler.secret]: kubeconfigs.scheduler,
    ...(store?.tls !== undefined && { [DATASTORE]: store.tls }),
    ...(store?.kine !== undefined && { "datastore-config": [store.kine.endpoint, store.kine.ca] }),
    ...(oidc !== undefined && { "oidc-ca": oidc.ca }),
    ...(konnectivity !== undefined && {
      [KONNECTIVITY_PARTS.konnectivityKubeconfig.secret]: konnectivity.kubeconfig,
    }),
  };
  return Object.fromEntries(
    Object.entries(marks).map(([name, content]) => [`component.kamaji.clastix.io/${name}`, markOf(content)]),
  );
}

/** Short enough for the value of a label. */
function markOf(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 32);
}
