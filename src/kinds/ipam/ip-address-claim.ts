import { z } from "zod";
import { statusMoves, versionMoves } from "../cluster-api/conversion-moves.ts";
import { AGE, CATEGORIES, CONTRACT_LABELS, clusterName, OldConditions } from "../cluster-api/fields.ts";
import { losslessConversion } from "../cluster-api/lossless-conversion.ts";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { byName, FIXED, GROUP, oldPoolRef, POOL_COLUMNS, poolRef } from "./fields.ts";

const common = {
  group: GROUP,
  kind: "IPAddressClaim",
  plural: "ipaddressclaims",
  namespaced: true,
  categories: CATEGORIES,
  labels: CONTRACT_LABELS,
  description: "A wish for one address of a pool (Cluster API's IPAM contract).",
  columns: [...POOL_COLUMNS, AGE],
  rules: [FIXED],
};
const cluster = clusterName.optional();
const addressRef = byName("The IPAddress that the claim has got.").optional();
const oldStatus = z.object({ conditions: OldConditions.optional() }).optional();

/** A wish for one address of a pool (v1beta2). */
export const IPAddressClaim = defineKind({
  ...common,
  version: "v1beta2",
  spec: z.object({ clusterName: cluster, poolRef }),
  status: z.object({
    addressRef,
    conditions: Conditions.optional(),
    deprecated: z.object({ v1beta1: oldStatus }).optional().describe("What v1beta1 had."),
  }),
});
export type IPAddressClaim = Of<typeof IPAddressClaim>;

/** The same as v1beta1 has it. */
export const IPAddressClaimV1beta1 = defineKind({
  ...common,
  version: "v1beta1",
  spec: z.object({ clusterName: cluster, poolRef: oldPoolRef }),
  status: z.object({
    addressRef,
    conditions: OldConditions.optional(),
    v1beta2: z.object({ conditions: Conditions.optional() }).optional().describe("What v1beta2 has."),
  }),
  conversion: losslessConversion({
    moves: [...statusMoves(), ...versionMoves()],
    neverEmpty: ["status.deprecated.v1beta1", "status.deprecated"],
  }),
});
