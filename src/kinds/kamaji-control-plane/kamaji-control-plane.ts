import { z } from "zod";
import { defineKind, type Kind, type Of, type PrinterColumn } from "../kind.ts";
import { fromV1alpha1 } from "./conversion.ts";
import { common, commonRules } from "./spec.ts";
import { controlPlaneStatus } from "./status.ts";

export const GROUP = "controlplane.cluster.x-k8s.io";
/** Which versions of the kinds fulfil which contract of Cluster API: its core goes by these labels of the definitions. The last has `clusterctl move` take the objects along. */
export const CONTRACTS = {
  "cluster.x-k8s.io/v1beta1": "v1alpha1",
  "cluster.x-k8s.io/v1beta2": "v1alpha2",
  "clusterctl.cluster.x-k8s.io": "",
} as const;

const own = {
  version: z.string().describe("Version of Kubernetes, such as v1.34.2; the v may be missing."),
  replicas: z
    .int32()
    .default(2)
    .describe("Desired replicas of the control plane. 0: it sleeps and keeps its objects in the datastore."),
};

const columns = (initialized: string): PrinterColumn[] => [
  { name: "Version", type: "string", jsonPath: ".spec.version", description: "Wanted version of Kubernetes." },
  { name: "Initialized", type: "boolean", jsonPath: initialized, description: "The API server has answered once." },
  { name: "Ready", type: "boolean", jsonPath: ".status.ready", description: "The control plane can be used now." },
];

const names = {
  group: GROUP,
  kind: "KamajiControlPlane",
  plural: "kamajicontrolplanes",
  namespaced: true,
  shortNames: ["ktcp"],
  categories: ["cluster-api", "kamaji"],
  labels: CONTRACTS,
  description: "The control plane of a Cluster of Cluster API, which runs as a TenantControlPlane and has no Machines.",
  status: controlPlaneStatus,
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  rules: commonRules("spec"),
};
const ENDPOINT = "Where the cluster's API server is reached. Written by the controller.";

/** The stored version. */
export const KamajiControlPlane = defineKind({
  ...names,
  version: "v1alpha2",
  spec: z.object({
    ...own,
    controlPlaneEndpoint: z
      .object({
        host: z.string().min(1).max(512).optional().describe("Name or address."),
        port: z.int32().min(1).max(65535).optional().describe("Port."),
      })
      .optional()
      .describe(ENDPOINT),
    ...common,
  }),
  columns: columns(".status.initialization.controlPlaneInitialized"),
});
export type KamajiControlPlane = Of<typeof KamajiControlPlane>;
export type KamajiControlPlaneStatus = NonNullable<KamajiControlPlane["status"]>;

/** As v0.3 to v0.19 of Kamaji's provider serve it. */
export const KamajiControlPlaneV1alpha1: Kind = defineKind({
  ...names,
  version: "v1alpha1",
  spec: z.object({
    ...own,
    controlPlaneEndpoint: z
      .object({
        host: z.string().max(512).describe("Name or address; empty: none is known."),
        port: z.int32().describe("Port; 0: none is known."),
      })
      .optional()
      .describe(ENDPOINT),
    ...common,
  }),
  columns: columns(".status.initialized"),
  conversion: fromV1alpha1,
});
