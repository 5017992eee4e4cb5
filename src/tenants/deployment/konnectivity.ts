/** konnectivity-server in a tenant's Pods, with Kamaji's names and paths. */
import type { ConfigMap } from "@slipway/kube/core";
import type { Addons } from "../../kinds/kamaji/tenant-kubernetes.ts";
import { KONNECTIVITY_PARTS } from "../../pki/tenant/parts.ts";
import { ignoredFlags } from "../flags.ts";
import { ADMIN_PORT, egressSelectorConfiguration, HEALTH_PORT, imageOf, serverFlags } from "../konnectivity/server.ts";
import type { Plane } from "../plane.ts";
import { fileOf, PKI_MOUNT } from "./volumes.ts";
import { type Manifest, metadataOf, type Wanted } from "./wanted.ts";

type Server = NonNullable<Addons["konnectivity"]>["server"];

const CONFIG_MAP = "konnectivity-egress-selector-configuration";
const FILE = "egress-selector-configuration.yaml";
const FOLDER = "/etc/kubernetes/konnectivity/configurations";
const RUN = "/run/konnectivity";
const SOCKET = `${RUN}/konnectivity-server.socket`;
const KUBECONFIG = "konnectivity-server.conf";
const SOCKET_VOLUME = "konnectivity-uds";
const CONFIG_VOLUME = "egress-selector-configuration";
const KUBECONFIG_VOLUME = "konnectivity-server-kubeconfig";

/** kube-apiserver's flag. */
export const EGRESS_FLAG = { "egress-selector-config-file": `${FOLDER}/${FILE}` } as const;

/** What kube-apiserver needs of it. */
export const EGRESS_MOUNTS = [
  { name: SOCKET_VOLUME, mountPath: RUN },
  { name: CONFIG_VOLUME, mountPath: FOLDER, readOnly: true },
] as const;

/** The ConfigMap that sends kube-apiserver's calls through the server. */
export function egressOf({ tenant }: Pick<Wanted, "tenant">): Manifest<ConfigMap> {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(tenant, CONFIG_MAP, { name: egressName(tenant.metadata.name) }),
    data: { [FILE]: egressSelectorConfiguration(SOCKET) },
  };
}

/** The name of the ConfigMap. */
export function egressName(tenant: string): string {
  return `${tenant}-${CONFIG_MAP}`;
}

/** Volumes that konnectivity-server shares with kube-apiserver: the socket, the egress configuration and its kubeconfig. */
export function konnectivityVolumes(tenant: string): object[] {
  const secretName = `${tenant}-${KONNECTIVITY_PARTS.konnectivityKubeconfig.secret}`;
  return [
    { name: SOCKET_VOLUME, emptyDir: { medium: "Memory" } },
    { name: CONFIG_VOLUME, configMap: { name: egressName(tenant), defaultMode: 0o644 } },
    { name: KUBECONFIG_VOLUME, secret: { secretName, defaultMode: 0o644 } },
  ];
}

/** Flags of the user's that have no effect on the server, since they are managed. */
export function ignoredServerFlags(server: Server, plane: Plane): string[] {
  return ignoredFlags(server.extraArgs ?? [], flagsOf(server, plane));
}

function flagsOf(server: Server, plane: Plane): string[] {
  return serverFlags({
    socket: SOCKET,
    agentPort: server.port,
    certificate: { cert: fileOf("apiserver.crt"), key: fileOf("apiserver.key") },
    kubeconfig: fileOf(KUBECONFIG),
    servers: Math.max(1, plane.replicas),
    extraArgs: server.extraArgs,
  });
}

/** The container. As many servers as Pods: agents look for all of them. */
export function konnectivityContainer(server: Server, plane: Plane): object {
  const port = (name: string, containerPort: number): object => ({ name, containerPort, protocol: "TCP" });
  return {
    name: "konnectivity-server",
    image: imageOf(server, plane.version),
    imagePullPolicy: "IfNotPresent",
    command: ["/proxy-server"],
    args: flagsOf(server, plane),
    ports: [port("agentport", server.port), port("adminport", ADMIN_PORT), port("healthport", HEALTH_PORT)],
    livenessProbe: {
      httpGet: { path: "/healthz", port: HEALTH_PORT, scheme: "HTTP" },
      ...{ initialDelaySeconds: 30, timeoutSeconds: 60, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
    },
    ...(server.resources !== undefined && { resources: server.resources }),
    ...(server.securityContext !== undefined && { securityContext: server.securityContext }),
    volumeMounts: [
      PKI_MOUNT,
      { name: KUBECONFIG_VOLUME, mountPath: fileOf(KUBECONFIG), subPath: KUBECONFIG, readOnly: true },
      { name: SOCKET_VOLUME, mountPath: RUN },
    ],
  };
}
