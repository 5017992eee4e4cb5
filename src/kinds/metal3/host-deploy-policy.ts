import { z } from "zod";
import { defineKind, type Of } from "../kind.ts";
import { text } from "../optional.ts";
import { GROUP } from "./fields.ts";

/** Whose HostClaims may take hosts of this namespace (Metal3). */
export const HostDeployPolicy = defineKind({
  group: GROUP,
  version: "v1alpha1",
  kind: "HostDeployPolicy",
  plural: "hostdeploypolicies",
  namespaced: true,
  description: "Namespaces whose HostClaims may take hosts of this namespace.",
  spec: z.object({
    hostClaimNamespaces: z
      .object({
        names: z.array(z.string()).optional().describe("Names of namespaces."),
        nameMatches: text("Namespaces whose name matches this regular expression."),
        hasLabels: z
          .array(z.object({ name: z.string(), value: text("Value of the label. Empty: any.") }))
          .optional()
          .describe("Namespaces with these labels."),
      })
      .optional()
      .describe("Namespaces that may take hosts."),
  }),
  status: z.object({}),
  columns: [],
});
export type HostDeployPolicy = Of<typeof HostDeployPolicy>;
