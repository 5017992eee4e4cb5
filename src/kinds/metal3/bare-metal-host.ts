import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { flag, moment, text } from "../optional.ts";
import {
  bootMode,
  consumerRef,
  customDeploy,
  firmware,
  GROUP,
  image,
  LOOSE_MAC,
  MAC,
  MOVES,
  raid,
  rootDeviceHints,
  secretReference,
} from "./fields.ts";
import { HardwareDetails } from "./hardware.ts";

const span = z
  .object({ start: moment("Beginning.").nullable(), end: moment("End.").nullable() })
  .optional()
  .describe("Start and end of the last run.");

const credentials = z
  .object({ credentials: secretReference("The Secret."), credentialsVersion: text("Its resourceVersion.") })
  .optional();

/** One owned machine (Metal3). The record of all hardware, wherever it came from. */
export const BareMetalHost = defineKind({
  group: GROUP,
  version: "v1alpha1",
  kind: "BareMetalHost",
  plural: "baremetalhosts",
  namespaced: true,
  labels: MOVES,
  shortNames: ["bmh", "bmhost"],
  description: "A machine that you own: declared, discovered, or made from a virtual machine.",
  spec: z.object({
    architecture: text("Architecture of the processor: x86_64 or aarch64. Default: as inspected."),
    automatedCleaningMode: z
      .enum(["metadata", "disabled"])
      .default("metadata")
      .describe("What is erased before the host is available again."),
    bmc: z
      .object({
        address: z.string().describe("Address with the protocol as its scheme, such as redfish or ipmi."),
        credentialsName: z.string().describe("Secret with username and password, in the host's namespace."),
        disableCertificateVerification: flag("Accept any certificate of the management controller."),
      })
      .optional()
      .describe("Management controller of the host."),
    bootMACAddress: LOOSE_MAC.optional().describe("MAC address of the card that the host boots from."),
    bootMode,
    consumerRef,
    customDeploy,
    description: text("A note for people."),
    disablePowerOff: flag("Keep the host on in every state."),
    externallyProvisioned: flag("The host is installed by something else."),
    firmware,
    hardwareProfile: text("Name of a profile. No longer used."),
    image: image.describe("Image to write to the disk. Empty: the host is available."),
    inspectionMode: z.enum(["disabled", "agent", "fast"]).optional().describe("How the hardware is inspected."),
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
    online: z.boolean().describe("Desired power state: on or off."),
    preprovisioningNetworkDataName: text("Secret with the network configuration of the agent."),
    raid,
    rootDeviceHints,
    taints: z
      .array(
        z.object({
          key: z.string(),
          effect: z.string(),
          value: z.string().optional(),
          timeAdded: moment("When the taint was added."),
        }),
      )
      .optional()
      .describe("Taints for the Node."),
    userData: secretReference("User data for the installed system."),
  }),
  status: z.object({
    operationalStatus: z
      .enum(["", "OK", "discovered", "error", "delayed", "detached", "servicing"])
      .describe("Health of the host: OK, discovered, error, delayed, detached or servicing."),
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
      .describe("Kind of the last error."),
    errorMessage: z.string().describe("Message of the last error."),
    errorCount: z.int().default(0).describe("Errors since the last success."),
    provisioningFailCount: z.int().default(0).describe("Failed attempts to provision."),
    poweredOn: z.boolean().describe("The host is powered on."),
    lastUpdated: moment("When this status was last written."),
    hardwareProfile: text("Name of the profile."),
    hardware: HardwareDetails.optional().describe("Hardware that inspection found. HardwareData has the same."),
    provisioning: z
      .object({
        state: z.string().describe("Provisioning state."),
        ID: z.string().describe("Id of the machine at the provisioning engine."),
        bootMode,
        image: image.describe("Image that was written last."),
        customDeploy,
        rootDeviceHints,
        raid,
        firmware,
      })
      .describe("What was provisioned, as far as it is done."),
    lastAttemptedImage: image.describe("Image that was tried last."),
    operationHistory: z
      .object({ register: span, inspect: span, provision: span, deprovision: span })
      .optional()
      .describe("Start and end of the last operations."),
    goodCredentials: credentials.describe("Last credentials that worked."),
    triedCredentials: credentials.describe("Last credentials that were tried."),
    conditions: Conditions.optional(),
    operation: z
      .object({
        startedAt: z.string().meta({ format: "date-time" }).describe("When this try began."),
        attempt: z.int().describe("Number of this try, from 1."),
        againAt: moment("When the next try begins."),
        method: text("Method of spec.customDeploy that is carried out."),
        poweredAt: moment("When its power was last switched for this."),
        id: text("Id of the order that the host's agent has for this."),
        install: text("Id of the installation that the boot service offers."),
        orderedAt: moment("When the agent was given the order."),
        writtenAt: moment("When the disks were written or wiped."),
        ejectedAt: moment("When the image was taken out of the virtual drive."),
        restartedAt: moment("When the host was started from its disk, or into its installer."),
      })
      .optional()
      .describe("What is being done with the host. Not part of Metal3."),
    agentMediaAt: moment(
      "When the image that starts Slipway's agent was put into the virtual drive. Unset: it is not in. Not part of Metal3.",
    ),
    waitingFor: text("What the next step waits for. Not part of Metal3."),
    waitingSince: moment("Start of the wait. Not part of Metal3."),
    deadline: moment("End of the wait. Not part of Metal3."),
    agent: z
      .object({
        keyFingerprint: text(
          "Fingerprint of the key that secrets are encrypted to. The machine shows the same on its screen.",
        ),
        address: text("Address that the agent registered from."),
        trust: z
          .enum(["discovered", "declared", "approved", "bmc", "first-seen"])
          .describe(
            "Why the host is trusted with orders that write and with user data. discovered: it is not trusted.",
          ),
        registeredAt: moment("When the agent registered."),
        waitsFor: text("What the host waits for."),
        tpm: z
          .object({
            endorsementKey: text("SHA-256 of the endorsement key's public area: no other TPM has it."),
            pcrs: z
              .record(z.string(), z.string())
              .optional()
              .describe("By number, the registers that the boot was measured into (SHA-256), signed by the TPM."),
            certificate: z
              .object({
                issuer: text("Who issued it."),
                serial: text("Serial number, in hexadecimal digits."),
                until: moment("End of its validity."),
                authority: text("SHA-256 of the authority in netboot's settings that its chain leads to."),
                because: text("Why it counts for nothing."),
              })
              .optional()
              .describe("The maker's certificate of the endorsement key, as the TPM has it."),
          })
          .optional()
          .describe("TPM that the agent has proven to run with, since it registered."),
      })
      .optional()
      .describe("Slipway's agent on the host. Not part of Metal3."),
  }),
  columns: [
    {
      name: "Status",
      type: "string",
      jsonPath: ".status.operationalStatus",
      description: "Health of the host.",
      priority: 1,
    },
    { name: "State", type: "string", jsonPath: ".status.provisioning.state", description: "Provisioning state." },
    { name: "Consumer", type: "string", jsonPath: ".spec.consumerRef.name", description: "Object that uses the host." },
    { name: "BMC", type: "string", jsonPath: ".spec.bmc.address", description: "Management controller.", priority: 1 },
    { name: "Online", type: "string", jsonPath: ".spec.online", description: "Desired power state." },
    { name: "Error", type: "string", jsonPath: ".status.errorType", description: "Kind of the last error." },
  ],
});
export type BareMetalHost = Of<typeof BareMetalHost>;
export type BareMetalHostStatus = NonNullable<BareMetalHost["status"]>;
