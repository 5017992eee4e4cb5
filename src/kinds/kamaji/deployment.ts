/** `spec.controlPlane.deployment`: the Pods that run a tenant's control plane. */
import { z } from "zod";
import { flag, text, textMap, texts } from "../optional.ts";
import { intOrString, metadata, partOfPod, partsOfPod, resources, toleration } from "./fields.ts";

const atLeast = (least: number, about: string) => z.int().min(least).optional().describe(about);
const probe = (about: string) =>
  z
    .object({
      initialDelaySeconds: atLeast(0, "Seconds from the container's start to the first probe."),
      timeoutSeconds: atLeast(1, "Seconds until a probe without an answer has failed."),
      periodSeconds: atLeast(1, "Seconds between probes."),
      successThreshold: atLeast(1, "Successes in a row after which it counts as healthy. 1 for liveness and startup."),
      failureThreshold: atLeast(1, "Failures in a row after which it counts as failed."),
    })
    .optional()
    .describe(about);
/** Probes by their names. */
export const probeSet = {
  liveness: probe("Probe that restarts the container when it fails."),
  readiness: probe("Probe that takes the Pod out of the Service while it fails."),
  startup: probe("Probe that must succeed once before the others start."),
};
/** Probes of one component. */
export const probesOf = (component: string) =>
  z.object(probeSet).optional().describe(`Probes of ${component}; each number that is given replaces the general one.`);

/** Volume mounts of one component. */
export const mounts = (component: string) =>
  z
    .array(
      z.looseObject({
        name: z.string().describe("Name of the volume."),
        mountPath: z.string().describe("Path in the container."),
      }),
    )
    .optional()
    .describe(`Volume mounts of ${component}, beside its own.`);

const COMPONENTS = {
  apiServer: "kube-apiserver",
  controllerManager: "kube-controller-manager",
  scheduler: "kube-scheduler",
};
/** The names that Kamaji uses for the components in its fields. */
export type Component = keyof typeof COMPONENTS;

/** One field for each component. */
const each = <T>(field: (component: string) => T): Record<Component, T> => ({
  apiServer: field(COMPONENTS.apiServer),
  controllerManager: field(COMPONENTS.controllerManager),
  scheduler: field(COMPONENTS.scheduler),
});

const registrySettings = z.object({
  registry: z.string().default("registry.k8s.io").describe("Registry, and path in it, of the images."),
  apiServerImage: z.string().default("kube-apiserver").describe("Image of kube-apiserver."),
  controllerManagerImage: z.string().default("kube-controller-manager").describe("Image of kube-controller-manager."),
  schedulerImage: z.string().default("kube-scheduler").describe("Image of kube-scheduler."),
  tagSuffix: text("Text to append to the images' tag, which is the version."),
});

/** How Pods are replaced. */
export const strategy = z.object({
  type: text("RollingUpdate or Recreate."),
  rollingUpdate: z
    .object({
      maxSurge: intOrString.optional().describe("Pods, or share of them, that may exist beyond replicas."),
      maxUnavailable: intOrString.optional().describe("Pods, or share of them, that may be missing."),
    })
    .optional()
    .describe("Limits of a rolling update."),
});

/** How the Pods are spread. */
export const topologySpreadConstraints = z
  .array(
    z.looseObject({
      labelSelector: partOfPod("Pods that are counted. Absent: those of this control plane.").meta({
        "x-kubernetes-map-type": "atomic",
      }),
    }),
  )
  .optional()
  .describe("How the Pods are spread, as in a Pod.");

export const deployment = z.object({
  replicas: z
    .int32()
    .default(2)
    .describe("Desired number of Pods. 0: the control plane sleeps and keeps its objects in the datastore."),
  registrySettings: registrySettings
    .prefault({
      registry: "registry.k8s.io",
      apiServerImage: "kube-apiserver",
      controllerManagerImage: "kube-controller-manager",
      schedulerImage: "kube-scheduler",
    })
    .describe("Where the images of the components come from."),
  extraArgs: z
    .object({ ...each((component) => texts(`Arguments of ${component}.`)), kine: texts("Arguments of kine.") })
    .optional()
    .describe("Arguments beside those that are set for the components, each as --name=value."),
  resources: z
    .object({
      ...each((component) => resources(`Resources of ${component}.`)),
      kine: resources("Resources of kine, which stands between kube-apiserver and a database other than etcd."),
    })
    .optional()
    .describe("Requests and limits of the containers."),
  probes: z
    .object({
      ...each(probesOf),
      ...probeSet,
    })
    .optional()
    .describe("Numbers of the probes, for all components and for each."),
  strategy: strategy
    .prefault({ type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "100%" } })
    .describe("How Pods are replaced by those of a new version."),
  nodeSelector: textMap("Labels that a node must have to run the Pods."),
  runtimeClassName: text("RuntimeClass of the Pods."),
  tolerations: z.array(toleration).optional().describe("Taints that the Pods tolerate."),
  affinity: partOfPod("Affinity of the Pods, as in a Pod."),
  topologySpreadConstraints,
  serviceAccountName: z.string().default("default").describe("Service account of the Pods."),
  automountServiceAccountToken: flag("The service account's token is mounted into the Pods."),
  podSecurityContext: partOfPod("Security context of the Pods, as in a Pod."),
  containerSecurityContexts: z
    .object(each((component) => partOfPod(`Security context of ${component}, as in a container.`)))
    .optional()
    .describe("Security contexts of the containers."),
  additionalMetadata: metadata("Labels and annotations for the Deployment."),
  podAdditionalMetadata: metadata("Labels and annotations for the Pods."),
  additionalInitContainers: partsOfPod("Init containers to add, as in a Pod."),
  additionalContainers: partsOfPod("Containers to add, as in a Pod."),
  additionalVolumes: partsOfPod("Volumes to add, as in a Pod."),
  additionalVolumeMounts: z.object(each(mounts)).optional().describe("Volumes to mount into the components."),
});
export type Deployment = z.output<typeof deployment>;
