import type { Condition } from "@slipway/kube";
import { z } from "zod";

/** `metav1.Condition`, as a list keyed by type. */
export const Conditions = z
  .array(
    z.object({
      type: z.string().max(316),
      status: z.enum(["True", "False", "Unknown"]),
      reason: z.string().max(1024),
      message: z.string().max(32768),
      lastTransitionTime: z.string().meta({ format: "date-time" }),
      observedGeneration: z.int().optional(),
    }),
  )
  .describe("Current conditions of the object, one per type.")
  // zod's optional fields may be undefined; those of an object read from JSON are there or not.
  .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }) as unknown as z.ZodType<
  Condition[]
>;
