import { z } from "zod";
import { defineKind, type Of, type Rule } from "../kind.ts";
import { text, textMap } from "../optional.ts";
import { GROUP, VERSION } from "./fields.ts";

const value = z.object({
  stringValue: text("The value itself."),
  fromDefinition: text("Path of a field of the TenantControlPlane that holds the value, such as metadata.name."),
});

/** `metav1.LabelSelector`. */
const selector = (about: string) =>
  z
    .object({
      matchLabels: textMap("Labels that must be there with these values."),
      matchExpressions: z
        .array(
          z.object({
            key: z.string().describe("Key of the label."),
            operator: z.string().describe("In, NotIn, Exists or DoesNotExist."),
            values: z
              .array(z.string())
              .optional()
              .describe("Values for In and NotIn.")
              .meta({ "x-kubernetes-list-type": "atomic" }),
          }),
        )
        .optional()
        .describe("Requirements on labels; all must hold.")
        .meta({ "x-kubernetes-list-type": "atomic" }),
    })
    .optional()
    .describe(about)
    .meta({ "x-kubernetes-map-type": "atomic" });

const oneOfTwo = (path: string): Rule => ({
  path,
  rule: "has(self.stringValue) != has(self.fromDefinition)",
  message: "give exactly one of stringValue and fromDefinition",
});

/** Kubeconfigs for a user in each of a choice of tenants (Kamaji). */
export const KubeconfigGenerator = defineKind({
  group: GROUP,
  version: VERSION,
  kind: "KubeconfigGenerator",
  plural: "kubeconfiggenerators",
  namespaced: false,
  shortNames: ["kc"],
  categories: ["kamaji"],
  description: "Makes a kubeconfig for one user in each of the tenant control planes that are selected.",
  spec: z.object({
    user: value.describe("Name of the user: the common name of the client certificate."),
    groups: z.array(value).optional().describe("Groups of the user: organizations of the client certificate."),
    namespaceSelector: selector("Namespaces whose tenant control planes are taken. Empty: all."),
    tenantControlPlaneSelector: selector("Tenant control planes that are taken, by their labels. Empty: all."),
    controlPlaneEndpointFrom: z
      .string()
      .default("admin.svc")
      .describe("Key of the tenant's admin kubeconfig whose server address is used: admin.conf or admin.svc."),
  }),
  status: z.object({
    resources: z.int().default(0).describe("Tenant control planes that are selected."),
    availableResources: z.int().default(0).describe("Kubeconfigs that are made and current."),
    errors: z
      .array(
        z.object({
          resource: z.string().describe("Tenant control plane, as namespace/name."),
          message: z.string().describe("Why it has no kubeconfig."),
        }),
      )
      .optional()
      .describe("Tenant control planes without a kubeconfig."),
    observedGeneration: z.int().optional().describe("Generation of the spec that this status is about."),
  }),
  columns: [],
  rules: [oneOfTwo("spec.user"), oneOfTwo("spec.groups[]")],
});
export type KubeconfigGenerator = Of<typeof KubeconfigGenerator>;
