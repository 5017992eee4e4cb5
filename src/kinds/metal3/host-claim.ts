import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { moment, text } from "../optional.ts";
import { consumerRef, customDeploy, GROUP, image, secretReference } from "./fields.ts";

const reference = z.object({ name: z.string(), namespace: z.string() });

/** A wish for one host (Metal3). */
export const HostClaim = defineKind({
  group: GROUP,
  version: "v1alpha1",
  kind: "HostClaim",
  plural: "hostclaims",
  namespaced: true,
  description: "A request for one BareMetalHost, which is taken from those that are available.",
  spec: z.object({
    poweredOn: z.boolean().describe("Desired power state."),
    image: image.describe("Image to write to the disk."),
    customDeploy,
    userData: secretReference("User data for the installed system."),
    networkData: secretReference("Network configuration for the installed system."),
    metaData: secretReference("Metadata for the installed system."),
    consumerRef,
    failureDomain: text("Failure domain of hosts that are preferred."),
    hostSelector: z
      .object({
        inNamespace: text("Only hosts of this namespace."),
        matchLabels: z.record(z.string(), z.string()).optional().describe("Labels that the host must have."),
        matchExpressions: z
          .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()) }))
          .optional()
          .describe("Requirements on the host's labels."),
      })
      .optional()
      .describe("Which hosts match."),
  }),
  status: z.object({
    bareMetalHost: reference.optional().describe("Host that is bound."),
    hardwareData: reference.optional().describe("HardwareData of the host."),
    poweredOn: z.boolean().optional().describe("The host is powered on."),
    lastUpdated: moment("When this status was last written."),
    conditions: Conditions.optional(),
  }),
  columns: [],
});
export type HostClaim = Of<typeof HostClaim>;
