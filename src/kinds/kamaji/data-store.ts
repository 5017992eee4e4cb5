import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of, type Rule } from "../kind.ts";
import { text, texts } from "../optional.ts";
import { GROUP, VERSION } from "./fields.ts";

/** Where a credential is: in the object, or in a Secret. */
const content = z.object({
  content: z.string().meta({ format: "byte" }).optional().describe("The bytes themselves, in base64."),
  secretReference: z
    .object({
      name: text("Name of the Secret."),
      namespace: text("Namespace of the Secret."),
      keyPath: z.string().min(1).describe("Key in the Secret's data."),
    })
    .optional()
    .describe("Key of a Secret that holds the bytes. Preferred to content.")
    .meta({ "x-kubernetes-map-type": "atomic" }),
});
export type Content = z.output<typeof content>;

const given = (field: string) => `(has(${field}.content) || has(${field}.secretReference))`;
const CA_KEY = "self.tlsConfig.certificateAuthority.privateKey";
const CLIENT = "self.tlsConfig.clientCertificate";

const forEtcd = (rule: string, message: string): Rule => ({
  path: "spec",
  rule: `self.driver != 'etcd' || (has(self.tlsConfig) && ${rule})`,
  message: `driver etcd: ${message}, as content or secretReference`,
});
const forOthers = (rule: string, message: string): Rule => ({
  path: "spec",
  rule: `self.driver == 'etcd' || ${rule}`,
  message: `drivers other than etcd: ${message}`,
});

const rules: Rule[] = [
  forEtcd(
    `has(${CA_KEY}) && ${given(CA_KEY)}`,
    "give tlsConfig.certificateAuthority.privateKey, which signs a client certificate for each tenant",
  ),
  forEtcd(`has(${CLIENT}) && ${given(`${CLIENT}.certificate`)}`, "give tlsConfig.clientCertificate.certificate"),
  forEtcd(`has(${CLIENT}) && ${given(`${CLIENT}.privateKey`)}`, "give tlsConfig.clientCertificate.privateKey"),
  forOthers(
    `!has(self.tlsConfig) || !has(${CLIENT}) || ${given(`${CLIENT}.certificate`)}`,
    "give tlsConfig.clientCertificate.certificate as content or secretReference, or leave clientCertificate out",
  ),
  forOthers(
    `!has(self.basicAuth) || ${given("self.basicAuth.username")}`,
    "give basicAuth.username as content or secretReference",
  ),
  forOthers(
    `!has(self.basicAuth) || ${given("self.basicAuth.password")}`,
    "give basicAuth.password as content or secretReference",
  ),
  forOthers("has(self.tlsConfig) || has(self.basicAuth)", "give tlsConfig, basicAuth or both"),
  {
    path: "spec.driver",
    rule: "self == oldSelf",
    message: "the driver can't be changed: create another DataStore and move the tenants to it",
  },
];

/** A database that keeps the objects of tenants (Kamaji). */
export const DataStore = defineKind({
  group: GROUP,
  version: VERSION,
  kind: "DataStore",
  plural: "datastores",
  namespaced: false,
  description:
    "A database that keeps the objects of tenant control planes, each tenant with a user and a space of its own.",
  spec: z.object({
    driver: z.enum(["etcd", "MySQL", "PostgreSQL", "NATS"]).describe("Kind of database. Can't be changed."),
    endpoints: z
      .array(z.string())
      .min(1)
      .describe("Addresses of the database's servers, each host:port without a scheme."),
    basicAuth: z
      .object({
        username: content.describe("Name of the administrator."),
        password: content.describe("Password of the administrator."),
      })
      .optional()
      .describe("Administrator that creates the tenants' users. Not used by etcd."),
    tlsConfig: z
      .object({
        certificateAuthority: z
          .object({
            certificate: content.describe("Certificate, PEM."),
            privateKey: content.optional().describe("Private key, PEM. Required for etcd."),
          })
          .describe("Certificate authority of the database. With etcd its key signs the tenants' client certificates."),
        clientCertificate: z
          .object({
            certificate: content.describe("Certificate, PEM."),
            privateKey: content.describe("Private key, PEM."),
          })
          .optional()
          .describe("Client certificate of the administrator. Required for etcd."),
      })
      .optional()
      .describe("TLS towards the database. Absent: without TLS."),
  }),
  status: z.object({
    ready: z.boolean().describe("The database answered, and its credentials are good."),
    usedBy: texts("Tenant control planes that keep their objects here, as namespace/name."),
    observedGeneration: z.int().optional().describe("Generation of the spec that this status is about."),
    conditions: Conditions.optional(),
  }),
  columns: [
    { name: "Driver", type: "string", jsonPath: ".spec.driver", description: "Kind of database." },
    { name: "Ready", type: "boolean", jsonPath: ".status.ready", description: "The database can be used." },
  ],
  rules,
});
export type DataStore = Of<typeof DataStore>;
export type DataStoreSpec = DataStore["spec"];
export type Driver = DataStoreSpec["driver"];
