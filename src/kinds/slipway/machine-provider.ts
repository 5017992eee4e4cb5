import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";

/** An account at a machine provider: which driver, which endpoint, which credentials. */
export const MachineProvider = defineKind({
  group: "slipway.dev",
  version: "v1alpha1",
  kind: "MachineProvider",
  plural: "machineproviders",
  namespaced: false,
  shortNames: ["mprov"],
  categories: ["slipway"],
  description: "An account at a machine provider. Pools and Instances refer to it by name.",
  spec: z.object({
    type: z.enum(["equinix", "latitude"]).describe("Driver: the provider's API."),
    endpoint: z
      .string()
      .regex(/^https?:\/\/\S+[^/\s]$/)
      .optional()
      .describe("Base URL of the API. Empty: the provider's public one."),
    credentialsSecretRef: z
      .object({
        name: z.string().min(1).describe("Name of the Secret, in the operator's namespace."),
        tokenKey: z.string().optional().describe("Key of the API key. Default: METAL_AUTH_TOKEN."),
        projectKey: z.string().optional().describe("Key of the project. Default: PROJECT_ID."),
      })
      .describe("Secret with the credentials."),
    planMapping: z.record(z.string(), z.string()).optional().describe("Plan names of manifests to the provider's."),
    metroMapping: z.record(z.string(), z.string()).optional().describe("Metro names of manifests to the provider's."),
    tls: z
      .object({
        caSecretRef: z
          .object({ name: z.string(), key: z.string().optional() })
          .describe("Secret with the CA certificate. Default key: ca.crt."),
      })
      .optional()
      .describe("How the endpoint's certificate is verified."),
  }),
  status: z.object({
    machines: z.int().optional().describe("Machines of the account that Slipway bought."),
    observedGeneration: z.int().optional(),
    conditions: Conditions.optional(),
  }),
  columns: [
    { name: "Type", type: "string", jsonPath: ".spec.type" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Machines", type: "integer", jsonPath: ".status.machines" },
    { name: "Endpoint", type: "string", jsonPath: ".spec.endpoint", priority: 1 },
  ],
  rules: [{ path: "spec", rule: "self.type == oldSelf.type", message: "type is immutable" }],
});
export type MachineProvider = Of<typeof MachineProvider>;
