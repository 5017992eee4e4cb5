/** kine in a tenant's Pods, where its database is no etcd: between it and kube-apiserver, by a socket that both see. Kamaji's names and paths. */
import type { Secret } from "@slipway/kube/core";
import { kineFlags } from "../flags.ts";
import { fileOf } from "./volumes.ts";
import { type Manifest, metadataOf, type Wanted } from "./wanted.ts";

/** The version that Slipway is tested with; the operator's setting names another. */
export const KINE_IMAGE = "docker.io/rancher/kine:v0.17.5";

const NAME = "kine";
const FOLDER = "/uds";
const SOCKET = `unix://${FOLDER}/kine.sock`;
const SOCKET_VOLUME = "kine-uds";
const CERTIFICATES_VOLUME = "kine-certs";
const CERTIFICATE = "datastore-certificate";
/** As `kineFlags` names its files. */
const CERTIFICATES_FOLDER = fileOf("etcd");

/** kube-apiserver's arguments. */
export const KINE_FLAG = { "etcd-servers": SOCKET } as const;

/** What kube-apiserver sees of it. */
export const KINE_MOUNT = { name: SOCKET_VOLUME, mountPath: FOLDER } as const;

interface UserContainer {
  name?: string;
  env?: object[];
  volumeMounts?: object[];
}

/** The users' own containers: what they say of a container `kine` is laid below ours. */
export function othersOf(wanted: Wanted): object[] {
  const { additionalContainers = [] } = wanted.spec.controlPlane.deployment;
  if (wanted.plane.store?.kine === undefined) return additionalContainers;
  return (additionalContainers as UserContainer[]).filter(({ name }) => name !== NAME);
}

/** Flags of the user's that have no effect on it. */
export function kineArgs({ plane }: Wanted): string[] {
  return kineFlags(plane, fileOf, SOCKET);
}

/** Its containers: one, or none where the database is an etcd. */
export function kineContainers(wanted: Wanted): object[] {
  const { spec, plane, kineImage = KINE_IMAGE } = wanted;
  const { kine } = plane.store ?? {};
  if (kine === undefined) return [];
  const { additionalContainers = [], resources } = spec.controlPlane.deployment;
  const user = (additionalContainers as UserContainer[]).find(({ name }) => name === NAME);
  return [
    {
      ...{ image: kineImage, imagePullPolicy: "IfNotPresent" },
      ...(resources?.kine !== undefined && { resources: resources.kine }),
      ...user,
      name: NAME,
      command: ["/bin/kine"],
      args: kineArgs(wanted),
      // It holds the password: in no specification.
      env: [...(user?.env ?? []), { name: "KINE_ENDPOINT", valueFrom: { secretKeyRef: kine.secret } }],
      volumeMounts: [
        KINE_MOUNT,
        ...(hasCertificates(wanted)
          ? [{ name: CERTIFICATES_VOLUME, mountPath: CERTIFICATES_FOLDER, readOnly: true }]
          : []),
        ...(user?.volumeMounts ?? []),
      ],
    },
  ];
}

/** Volumes of a tenant's kine: the socket that it shares with kube-apiserver, and its certificates. None without a kine. */
export function kineVolumes(wanted: Wanted): object[] {
  if (wanted.plane.store?.kine === undefined) return [];
  const secretName = `${wanted.tenant.metadata.name}-${CERTIFICATE}`;
  return [
    { name: SOCKET_VOLUME, emptyDir: { medium: "Memory" } },
    ...(hasCertificates(wanted) ? [{ name: CERTIFICATES_VOLUME, secret: { secretName, defaultMode: 0o644 } }] : []),
  ];
}

/**
 * The Secret with whom the database's certificate is signed by, where the tenant has no certificate of its own there; undefined: there is
 * nothing to put into it, or it is made with that certificate.
 */
export function storeAuthorityOf({ tenant, plane }: Pick<Wanted, "tenant" | "plane">): Manifest<Secret> | undefined {
  const { tls, kine } = plane.store ?? {};
  if (tls !== undefined || kine?.ca === undefined) return undefined;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: metadataOf(tenant, CERTIFICATE, { name: `${tenant.metadata.name}-${CERTIFICATE}` }),
    data: { "ca.crt": Buffer.from(kine.ca, "utf8").toString("base64") },
  };
}

function hasCertificates({ plane: { store } }: Wanted): boolean {
  return store?.tls !== undefined || store?.kine?.ca !== undefined;
}
