import { z } from "zod";
import { AGE, CATEGORIES, integerColumn, stringColumn } from "../cluster-api/fields.ts";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { flag, text, texts } from "../optional.ts";
import { GROUP } from "./fields.ts";

const common = {
  group: GROUP,
  version: "v1alpha2",
  categories: CATEGORIES,
  labels: {
    "cluster.x-k8s.io/provider": "ipam-in-cluster",
    "cluster.x-k8s.io/v1beta1": "v1alpha2",
    "cluster.x-k8s.io/v1beta2": "v1alpha2",
    "clusterctl.cluster.x-k8s.io": "",
  },
  spec: z.object({
    addresses: z
      .array(z.string())
      .min(1)
      .describe("What is handed out: single addresses, ranges (10.0.0.10-10.0.0.20) and prefixes (10.0.1.0/24)."),
    prefix: z.int32().min(0).max(128).describe("Length of the prefix of the addresses' network."),
    gateway: text("Gateway of the network. It is not handed out."),
    excludedAddresses: texts("What of `addresses` is not handed out, written as they are."),
    allocateReservedIPAddresses: flag(
      "Whether network and broadcast address of each network (IPv6: its anycast address) are handed out, too. Default: false.",
    ),
  }),
  status: z.object({
    ipAddresses: z
      .object({
        total: z
          .int()
          .describe("Addresses that can be handed out, in use or not; 9007199254740991 where there are more."),
        free: z.int().describe("Of these, not in use."),
        used: z.int().describe("Addresses in use, those out of range among them."),
        outOfRange: z.int().describe("Addresses in use that the pool would not hand out any more."),
      })
      .optional()
      .describe("The pool in numbers."),
    conditions: Conditions.optional(),
  }),
  columns: [
    stringColumn("Addresses", ".spec.addresses"),
    integerColumn("Total", ".status.ipAddresses.total"),
    integerColumn("Free", ".status.ipAddresses.free"),
    integerColumn("Used", ".status.ipAddresses.used"),
    AGE,
  ],
} as const;

/** Addresses for claims of its namespace. */
export const InClusterIPPool = defineKind({
  ...common,
  kind: "InClusterIPPool",
  plural: "inclusterippools",
  namespaced: true,
  description: "Addresses that claims of its namespace get (Cluster API's in-cluster IPAM provider).",
});
export type InClusterIPPool = Of<typeof InClusterIPPool>;

/** Addresses for claims of all namespaces. */
export const GlobalInClusterIPPool = defineKind({
  ...common,
  kind: "GlobalInClusterIPPool",
  plural: "globalinclusterippools",
  namespaced: false,
  description: "Addresses that claims of all namespaces get (Cluster API's in-cluster IPAM provider).",
});
export type GlobalInClusterIPPool = Of<typeof GlobalInClusterIPPool>;
