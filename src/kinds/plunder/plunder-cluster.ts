import { z } from "zod";
import { losslessConversion } from "../cluster-api/lossless-conversion.ts";
import { defineKind, type Of } from "../kind.ts";
import { text } from "../optional.ts";
import { CLUSTER_COLUMN, conditions, initialization } from "../packet/fields.ts";
import { CATEGORIES, CONTRACTS, clusterSpec, GROUP, KEPT, OLD_VERSION, VERSION } from "./fields.ts";
import { withBody } from "./plunder-machine.ts";

const common = {
  group: GROUP,
  kind: "PlunderCluster",
  plural: "plunderclusters",
  namespaced: true,
  shortNames: ["plcl"],
  categories: CATEGORIES,
  labels: CONTRACTS,
  description: "What the PlunderMachines of a workload cluster have in common.",
};
const API_PORT = 6443;

/** What a workload cluster of own hosts has in common (cluster-api-plunder). */
export const PlunderCluster = defineKind({
  ...common,
  version: VERSION,
  spec: clusterSpec,
  status: z.object({
    ready: z.boolean().optional().describe("The infrastructure that machines need is there."),
    initialization,
    waitingFor: z.string().optional().describe("What the next step waits for."),
    waitingSince: z.string().optional().describe("Start of the wait. RFC 3339."),
    deadline: z.string().optional().describe("End of the wait. RFC 3339."),
    observedGeneration: z.int().optional(),
    conditions,
  }),
  columns: [
    CLUSTER_COLUMN,
    { name: "Ready", type: "string", jsonPath: ".status.ready" },
    { name: "Endpoint", type: "string", jsonPath: ".spec.controlPlaneEndpoint.host" },
    { name: "Waiting", type: "string", jsonPath: ".status.waitingFor", priority: 1 },
  ],
});
export type PlunderCluster = Of<typeof PlunderCluster>;
export type PlunderClusterStatus = NonNullable<PlunderCluster["status"]>;

/** The same as manifests of 2019 have it. */
export const PlunderClusterV1alpha1 = defineKind({
  ...common,
  version: OLD_VERSION,
  statusInline: true,
  spec: z
    .object({
      staticMAC: text("MAC address of the control plane's host."),
      staticIP: text("Address of the control plane."),
    })
    .optional(),
  status: z
    .object({
      ready: z.boolean().optional().describe("The infrastructure that machines need is there."),
      apiEndpoints: z
        .array(z.object({ host: z.string(), port: z.int32() }))
        .optional()
        .describe("Where the control plane is reached."),
    })
    .nullable(),
  columns: [],
  conversion: losslessConversion({
    kept: KEPT,
    moves: [
      ["spec.staticMAC", "spec.controlPlaneMACAddress"],
      [
        "spec.staticIP",
        "spec.controlPlaneEndpoint",
        {
          toStored: (address) => ({ host: address, port: API_PORT }),
          fromStored: (endpoint) => (endpoint as { host: string }).host,
        },
      ],
      [undefined, "spec.providerRef"],
      ["status.apiEndpoints", undefined],
      ...["initialization", "waitingFor", "waitingSince", "deadline", "observedGeneration", "conditions"].map(
        (name) => [undefined, `status.${name}`] as const,
      ),
    ],
    last: { toStored: withBody, fromStored: () => {} },
  }),
});
