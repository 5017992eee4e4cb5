import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import {
  bootMode,
  consumerRef,
  customDeploy,
  firmware,
  flag,
  GROUP,
  image,
  LOOSE_MAC,
  MAC,
  moment,
  raid,
  rootDeviceHints,
  secretReference,
  text,
} from "./fields.ts";
import { HardwareDetails } from "./hardware.ts";

const span = z
  .object({ start: moment("Beginning.").nullable(), end: moment("End.").nullable() })
  .optional()
  .describe("When it was done last.");

const credentials = z
  .object({ credentials: secretReference("The Secret."), credentialsVersion: text("Its resourceVersion.") })
  .optional();

/** One machine of one's own (Metal3). The record of all hardware, wherever it came from. */
export const BareMetalHost = defineKind({
  group: GROUP,
  version: "v1alpha1",
  kind: "BareMetalHost",
  plural: "baremetalhosts",
  namespaced: true,
  shortNames: ["bmh", "bmhost"],
  description: "A machine of one's own: declared, discovered, or made of a virtual machine.",
  spec: z.object({
    architecture: text("Of the processor: x86_64 or aarch64. What was found, unless said."),
    automatedCleaningMode: z
      .enum(["metadata", "disabled"])
      .default("metadata")
      .describe("What is erased before the host is available again."),
    bmc: z
      .object({
        address: z.string().describe("Address, with the protocol as its scheme: redfish, ipmi and their kin."),
        credentialsName: z.string().describe("Secret with username and password, in the host's namespace."),
        disableCertificateVerification: flag("Whether any certificate is taken."),
      })
      .optional()
      .describe("The management controller."),
    bootMACAddress: LOOSE_MAC.optional().describe("The card that the host boots from."),
    bootMode,
    consumerRef,
    customDeploy,
    description: text("A note of yours."),
    disablePowerOff: flag("Whether the host stays on in every state."),
    externallyProvisioned: flag("Whether something else installs it."),
    firmware,
    hardwareProfile: text("Name of a profile. No longer used."),
    image: image.describe("What is written to the disk. Empty: the host is available."),
    inspectionMode: z.enum(["disabled", "agent", "fast"]).optional().describe("How the hardware is found out."),
    metaData: secretReference("Metadata for the installed system."),
    networkData: secretReference("Network configuration for the installed system."),
    networkInterfaces: z
      .array(
        z.object({
          name: z
            .string()
            .regex(/^[a-zA-Z0-9._-]+$/)
            .optional(),
          macAddress: MAC.optional(),
          hostNetworkAttachment: z
            .object({ name: z.string().max(253).optional(), namespace: z.string().max(63).optional() })
            .optional(),
          switchPort: z.object({ portID: z.string(), switchID: MAC }).optional(),
        }),
      )
      .optional()
      .describe("Switch ports of the cards."),
    online: z.boolean().describe("Whether the host is to be on."),
    preprovisioningNetworkDataName: text("Secret with the network configuration of the agent."),
    raid,
    rootDeviceHints,
    taints: z
      .array(
        z.object({
          key: z.string(),
          effect: z.string(),
          value: z.string().optional(),
          timeAdded: moment("When."),
        }),
      )
      .optional()
      .describe("Taints for the Node."),
    userData: secretReference("User data for the installed system."),
  }),
  status: z.object({
    operationalStatus: z
      .enum(["", "OK", "discovered", "error", "delayed", "detached", "servicing"])
      .describe("How it is."),
    errorType: z
      .enum([
        "provisioned registration error",
        "registration error",
        "inspection error",
        "preparation error",
        "provisioning error",
        "power management error",
        "servicing error",
      ])
      .optional()
      .describe("What went wrong."),
    errorMessage: z.string().describe("In words."),
    errorCount: z.int().default(0).describe("How often in a row."),
    provisioningFailCount: z.int().default(0).describe("How often provisioning failed."),
    poweredOn: z.boolean().describe("Whether it is on."),
    lastUpdated: moment("When this was written."),
    hardwareProfile: text("Name of the profile."),
    hardware: HardwareDetails.optional().describe("What was found in it. HardwareData has the same."),
    provisioning: z
      .object({
        state: z.string().describe("Where the host is on its way."),
        ID: z.string().describe("The machine in the engine's words."),
        bootMode,
        image: image.describe("What was written last."),
        customDeploy,
        rootDeviceHints,
        raid,
        firmware,
      })
      .describe("What was done to it."),
    lastAttemptedImage: image.describe("What was tried last."),
    operationHistory: z
      .object({ register: span, inspect: span, provision: span, deprovision: span })
      .optional()
      .describe("When what was done."),
    goodCredentials: credentials.describe("Credentials that worked."),
    triedCredentials: credentials.describe("Credentials that were tried."),
    conditions: Conditions.optional(),
  }),
  columns: [
    { name: "Status", type: "string", jsonPath: ".status.operationalStatus", description: "How it is.", priority: 1 },
    { name: "State", type: "string", jsonPath: ".status.provisioning.state", description: "Where it is on its way." },
    { name: "Consumer", type: "string", jsonPath: ".spec.consumerRef.name", description: "What uses it." },
    { name: "BMC", type: "string", jsonPath: ".spec.bmc.address", description: "Management controller.", priority: 1 },
    { name: "Online", type: "string", jsonPath: ".spec.online", description: "Whether it is to be on." },
    { name: "Error", type: "string", jsonPath: ".status.errorType", description: "What went wrong." },
  ],
});
export type BareMetalHost = Of<typeof BareMetalHost>;
export type BareMetalHostStatus = NonNullable<BareMetalHost["status"]>;
