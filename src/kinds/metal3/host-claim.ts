import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { consumerRef, customDeploy, GROUP, image, moment, secretReference, text } from "./fields.ts";

const reference = z.object({ name: z.string(), namespace: z.string() });

/** A wish for one host (Metal3). Served so that its manifests are kept; what binds it is Metal3's operator. */
export const HostClaim = defineKind({
  group: GROUP,
  version: "v1alpha1",
  kind: "HostClaim",
  plural: "hostclaims",
  namespaced: true,
  description: "A wish for one BareMetalHost. Slipway stores it; Metal3's operator, where it runs, binds it.",
  spec: z.object({
    poweredOn: z.boolean().describe("Whether the host is to be on."),
    image: image.describe("What is written to the disk."),
    customDeploy,
    userData: secretReference("User data for the installed system."),
    networkData: secretReference("Network configuration for the installed system."),
    metaData: secretReference("Metadata for the installed system."),
    consumerRef,
    failureDomain: text("Where the host is to be."),
    hostSelector: z
      .object({
        inNamespace: text("Only hosts of this namespace."),
        matchLabels: z.record(z.string(), z.string()).optional().describe("Labels that the host has."),
        matchExpressions: z
          .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()) }))
          .optional()
          .describe("What holds of its labels."),
      })
      .optional()
      .describe("Which hosts will do."),
  }),
  status: z.object({
    bareMetalHost: reference.optional().describe("The host."),
    hardwareData: reference.optional().describe("What was found in it."),
    poweredOn: z.boolean().optional().describe("Whether it is on."),
    lastUpdated: moment("When this was written."),
    conditions: Conditions.optional(),
  }),
  columns: [],
});
export type HostClaim = Of<typeof HostClaim>;
