import { z } from "zod";
import { AGE, stringColumn } from "../cluster-api/fields.ts";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";

const bounds = { start: z.string().describe("First address."), stop: z.string().describe("Last address, included.") };

/** Addresses and MAC addresses of one subnet (ViNO). All state is in `spec`, as the original has it. */
export const IPPool = defineKind({
  group: "airship.airshipit.org",
  version: "v1",
  kind: "IPPool",
  plural: "ippools",
  namespaced: true,
  description: "Addresses and MAC addresses of one subnet (ViNO).",
  spec: z.object({
    subnet: z.string().describe("The network, as CIDR."),
    ranges: z.array(z.object(bounds)).describe("What of the subnet is handed out."),
    allocatedIPs: z
      .array(
        z.object({
          allocatedTo: z.string().describe("Who has it."),
          ip: z.string().describe("The address; of IPv6, the first of a prefix of 64 bits."),
          mac: z.string().describe("The MAC address that goes with it."),
        }),
      )
      .describe("What is in use."),
    allocatedRanges: z
      .array(z.object({ allocatedTo: z.string().describe("Who has it."), ...bounds }))
      .optional()
      .describe("Ranges in use, such as a node's block for DHCP."),
    macPrefix: z.string().describe("Where the MAC addresses of this subnet begin."),
    nextMAC: z.string().describe("The next MAC address."),
  }),
  status: z.object({ conditions: Conditions.optional() }),
  columns: [
    stringColumn("Subnet", ".spec.subnet"),
    stringColumn("Next MAC", ".spec.nextMAC"),
    stringColumn("Ready", ".status.conditions[?(@.type=='Ready')].status"),
    AGE,
  ],
  rules: [
    { path: "spec", rule: "self.subnet == oldSelf.subnet", message: "subnet is immutable" },
    { path: "spec", rule: "self.macPrefix == oldSelf.macPrefix", message: "macPrefix is immutable" },
  ],
});
export type IPPool = Of<typeof IPPool>;
