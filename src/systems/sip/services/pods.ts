/** What the Pods of all services have in common. Pure. */
import type { Deployment, Service } from "@slipway/kube/core";
import type { Manifest } from "../../../tenants/deployment/wanted.ts";
import { CONFIGURATION, type Entry, labelsOf, metadataOf } from "./entry.ts";

/** A Service leads to a Pod for a moment after its deletion: until then the Pod takes new connections. Part of its grace. */
const LEAVING_SECONDS = 5;
const CONTROL_PLANES = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

interface ServiceFields {
  nodeLabels?: Record<string, string> | undefined;
  replicas?: number | undefined;
}

export interface PodParts {
  /** Checksum of the configuration. */
  configuration: string;
  containers: readonly object[];
  volumes: readonly object[];
  securityContext?: object;
  hostAliases?: readonly object[];
  /** From the signal on. */
  graceSeconds?: number;
}

/** The Deployment of an entry. New Pods are ready before old ones go, and old ones are in nobody's way any more when they are ended. Kubernetes 1.30 or newer. */
export function deploymentOf(entry: Entry, fields: ServiceFields, pod: PodParts): Manifest<Deployment> {
  const labels = labelsOf(entry);
  const { configuration, containers, graceSeconds = 25, ...rest } = pod;
  const lifecycle = { preStop: { sleep: { seconds: LEAVING_SECONDS } } };
  const replicas = fields.replicas ?? 1;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(entry),
    spec: {
      replicas,
      selector: { matchLabels: labels },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels, annotations: { [CONFIGURATION]: configuration } },
        spec: {
          ...placement(fields, replicas > 1 ? labels : undefined),
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: LEAVING_SECONDS + graceSeconds,
          containers: containers.map((container) => ({ ...container, lifecycle })),
          ...rest,
        },
      },
    },
  };
}

/** Nodes with the given labels; without any, control plane nodes where there are some. Several Pods are spread over nodes. */
function placement({ nodeLabels = {} }: ServiceFields, spread: Record<string, string> | undefined): object {
  const isGiven = Object.keys(nodeLabels).length > 0;
  const preferred = CONTROL_PLANES.map((key) => ({
    weight: 100,
    preference: { matchExpressions: [{ key, operator: "Exists" }] },
  }));
  const apart = { labelSelector: { matchLabels: spread }, topologyKey: "kubernetes.io/hostname" };
  return {
    ...(isGiven && { nodeSelector: nodeLabels }),
    affinity: {
      ...(!isGiven && { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } }),
      ...(spread !== undefined && {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: apart }],
        },
      }),
    },
    tolerations: CONTROL_PLANES.map((key) => ({ key, operator: "Exists", effect: "NoSchedule" })),
  };
}

export interface ServicePort {
  name: string;
  port: number;
  /** 0: Kubernetes chooses one. */
  nodePort: number;
}

/** The Service before an entry's Pods. A port that Kubernetes chose stays. */
export function serviceOf(entry: Entry, ports: readonly ServicePort[]): Manifest<Service> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(entry),
    spec: {
      type: "NodePort",
      selector: labelsOf(entry),
      ports: ports.map(({ name, port, nodePort }) => ({
        ...{ name, protocol: "TCP", port, targetPort: port },
        ...(nodePort !== 0 && { nodePort }),
      })),
    },
  };
}
