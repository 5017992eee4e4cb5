import { z } from "zod";
import { defineKind, type Of } from "../kind.ts";
import { GROUP, text } from "./fields.ts";

/** Whose HostClaims may take hosts of this namespace (Metal3). */
export const HostDeployPolicy = defineKind({
  group: GROUP,
  version: "v1alpha1",
  kind: "HostDeployPolicy",
  plural: "hostdeploypolicies",
  namespaced: true,
  description: "Which namespaces' HostClaims may take hosts of this one. Read by Metal3's operator, where it runs.",
  spec: z.object({
    hostClaimNamespaces: z
      .object({
        names: z.array(z.string()).optional().describe("These."),
        nameMatches: text("Those whose name matches this regular expression."),
        hasLabels: z
          .array(z.object({ name: z.string(), value: text("Any, unless said.") }))
          .optional()
          .describe("Those with these labels."),
      })
      .optional()
      .describe("The namespaces."),
  }),
  status: z.object({}),
  columns: [],
});
export type HostDeployPolicy = Of<typeof HostDeployPolicy>;
