import { z } from "zod";
import { AGE, CATEGORIES, CONTRACT_LABELS, stringColumn } from "../cluster-api/fields.ts";
import { losslessConversion } from "../cluster-api/lossless-conversion.ts";
import { defineKind, type Of } from "../kind.ts";
import { byName, FIXED, GROUP, oldPoolRef, POOL_COLUMNS, poolRef } from "./fields.ts";

const common = {
  group: GROUP,
  kind: "IPAddress",
  plural: "ipaddresses",
  namespaced: true,
  categories: CATEGORIES,
  labels: CONTRACT_LABELS,
  description: "An address that a claim has got (Cluster API's IPAM contract).",
  columns: [stringColumn("Address", ".spec.address"), ...POOL_COLUMNS, AGE],
  rules: [
    FIXED,
    { path: "spec", rule: "isIP(self.address)", message: "address is no IP address" },
    { path: "spec", rule: "!has(self.gateway) || isIP(self.gateway)", message: "gateway is no IP address" },
    {
      path: "spec",
      rule: "!isIP(self.address) || ip(self.address).family() == 6 || self.prefix <= 32",
      message: "prefix of an IPv4 address is at most 32",
    },
  ],
};
const shared = {
  claimRef: byName("The claim that has the address."),
  address: z.string().min(1).max(39).describe("The address."),
  prefix: z.int32().min(0).max(128).describe("Length of the prefix of its network."),
  gateway: z.string().min(1).max(39).optional().describe("Gateway of its network."),
};

/** An address that a claim has got (v1beta2). */
export const IPAddress = defineKind({ ...common, version: "v1beta2", spec: z.object({ ...shared, poolRef }) });
export type IPAddress = Of<typeof IPAddress>;

/** The same as v1beta1 has it. */
export const IPAddressV1beta1 = defineKind({
  ...common,
  version: "v1beta1",
  spec: z.object({ ...shared, poolRef: oldPoolRef }),
  conversion: losslessConversion({ moves: [] }),
});
