import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { moment } from "../optional.ts";
import { GROUP } from "./fields.ts";

/** Settings of the firmware of the BareMetalHost of the same name, as its BMC shows them (Metal3). Slipway reads them and writes none. */
export const HostFirmwareSettings = defineKind({
  group: GROUP,
  version: "v1alpha1",
  kind: "HostFirmwareSettings",
  plural: "hostfirmwaresettings",
  namespaced: true,
  shortNames: ["hfs"],
  description: "Settings of the firmware of the BareMetalHost of the same name.",
  spec: z.object({
    settings: z
      .record(z.string(), z.union([z.int(), z.string()]))
      .describe(
        "Settings that are wanted. Slipway writes none: they stay as they are, and the condition Valid says so.",
      ),
  }),
  status: z.object({
    settings: z.record(z.string(), z.string()).describe("Settings as they were at the last inspection."),
    schema: z
      .object({ name: z.string().describe("Name."), namespace: z.string().describe("Namespace.") })
      .optional()
      .describe("FirmwareSchema with the limits of the settings. Not written by Slipway."),
    lastUpdated: moment("When the settings were last read."),
    conditions: Conditions.optional(),
  }),
  columns: [],
});
export type HostFirmwareSettings = Of<typeof HostFirmwareSettings>;
