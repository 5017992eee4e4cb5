import { z } from "zod";
import { defineKind, type Of } from "../kind.ts";
import { GROUP, MOVES } from "./fields.ts";
import { HardwareDetails } from "./hardware.ts";

/** What inspection found in the BareMetalHost of the same name. */
export const HardwareData = defineKind({
  group: GROUP,
  version: "v1alpha1",
  kind: "HardwareData",
  plural: "hardwaredata",
  namespaced: true,
  labels: MOVES,
  shortNames: ["hd"],
  description: "Hardware that inspection found in the BareMetalHost of the same name.",
  spec: z.object({ hardware: HardwareDetails.optional().describe("The hardware.") }),
  columns: [],
});
export type HardwareData = Of<typeof HardwareData>;
