import type { Deployment } from "@slipway/kube/core";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import { containersOf } from "./containers.ts";
import { kineVolumes } from "./kine.ts";
import { konnectivityVolumes } from "./konnectivity.ts";
import { marksOf, volumesOf } from "./volumes.ts";
import { type Manifest, metadataOf, selectorOf, type Wanted } from "./wanted.ts";

/** The Deployment of a tenant's control plane. */
export function deploymentOf(wanted: Wanted): Manifest<Deployment> {
  const { tenant, spec, plane } = wanted;
  const { deployment } = spec.controlPlane;
  const component = "deployment";
  const { labels } = metadataOf(tenant, component, { additional: deployment.podAdditionalMetadata });
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(tenant, component, { additional: deployment.additionalMetadata }),
    spec: {
      replicas: plane.replicas,
      selector: { matchLabels: selectorOf(tenant) },
      strategy: strategyOf(deployment.strategy),
      template: {
        metadata: {
          labels: { ...labels, ...marksOf(plane) },
          annotations: {
            "kubectl.kubernetes.io/default-container": "kube-apiserver",
            ...deployment.podAdditionalMetadata?.annotations,
          },
        },
        spec: podOf(wanted),
      },
    },
  };
}

function podOf(wanted: Wanted): Record<string, unknown> {
  const { tenant, spec, plane } = wanted;
  const { deployment } = spec.controlPlane;
  const { name } = tenant.metadata;
  return {
    serviceAccountName: deployment.serviceAccountName,
    ...picked(deployment, ["automountServiceAccountToken", "nodeSelector", "tolerations", "affinity"]),
    ...(deployment.runtimeClassName && { runtimeClassName: deployment.runtimeClassName }),
    ...(deployment.podSecurityContext !== undefined && { securityContext: deployment.podSecurityContext }),
    ...(deployment.topologySpreadConstraints !== undefined && {
      topologySpreadConstraints: deployment.topologySpreadConstraints.map((constraint) => ({
        labelSelector: { matchLabels: selectorOf(tenant) },
        ...constraint,
      })),
    }),
    ...(deployment.additionalInitContainers?.length && { initContainers: deployment.additionalInitContainers }),
    containers: containersOf(wanted),
    volumes: [
      ...volumesOf(name, plane),
      ...(spec.addons?.konnectivity === undefined ? [] : konnectivityVolumes(name)),
      ...kineVolumes(wanted),
      ...(deployment.additionalVolumes ?? []),
    ],
  };
}

type DeploymentSpec = CompleteSpec["controlPlane"]["deployment"];

function strategyOf({ type, rollingUpdate }: DeploymentSpec["strategy"]): object {
  if (type === "Recreate") return { type };
  // All new Pods before the first old one goes: clients never meet two versions at a turn for longer than that takes.
  return { type: type || "RollingUpdate", rollingUpdate: rollingUpdate ?? { maxUnavailable: 0, maxSurge: "100%" } };
}

function picked<T extends object>(from: T, names: readonly (keyof T)[]): Partial<T> {
  return Object.fromEntries(
    names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]),
  ) as Partial<T>;
}
