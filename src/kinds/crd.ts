/**
 * CustomResourceDefinitions of the kinds, made from their declarations. What a manifest may say is said once, in zod;
 * this writes it down for Kubernetes.
 */
import { Fault } from "@slipway/base";
import { needsConversion } from "./conversion.ts";
import type { Kind, PrinterColumn } from "./kind.ts";
import { type StructuralSchema, structuralSchema } from "./structural-schema.ts";

/** `apiextensions.k8s.io/v1` CustomResourceDefinition, as it is applied. */
export interface CustomResourceDefinition {
  apiVersion: "apiextensions.k8s.io/v1";
  kind: "CustomResourceDefinition";
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: {
    group: string;
    names: {
      plural: string;
      singular: string;
      kind: string;
      listKind: string;
      shortNames?: string[];
      categories?: string[];
    };
    scope: "Namespaced" | "Cluster";
    versions: CrdVersion[];
    conversion?: {
      strategy: "Webhook";
      webhook: { clientConfig: WebhookClientConfig; conversionReviewVersions: ["v1"] };
    };
  };
}

/** Where an API server reaches the webhook that converts between a kind's versions. */
export interface WebhookClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  /** PEM in base64. */
  caBundle?: string;
}

export interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  schema: { openAPIV3Schema: StructuralSchema };
  subresources?: { status?: Record<string, never>; scale?: NonNullable<Kind["scale"]> };
  additionalPrinterColumns: PrinterColumn[];
}

const AGE: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/**
 * The definition of a kind from its versions; objects are stored in the first. `webhook` converts between versions that differ in more than
 * their name; without one the definition is for an API server that was given the conversions itself. Throws a `Fault` (`Bug`) naming the
 * path of what can't be said in a structural schema, or a rule whose path does not exist.
 */
export function crdOf(versions: readonly Kind[], webhook?: WebhookClientConfig): CustomResourceDefinition {
  const [kind] = versions;
  if (kind === undefined) throw new Fault("Bug", "CustomResourceDefinition", "no versions given");
  for (const other of versions)
    if (other.group !== kind.group || other.plural !== kind.plural || other.namespaced !== kind.namespaced)
      throw new Fault("Bug", kind.kind, `${other.group}/${other.plural} is not a version of the same kind`);
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${kind.plural}.${kind.group}`,
      ...(Object.keys(kind.labels).length > 0 && { labels: { ...kind.labels } }),
    },
    spec: {
      group: kind.group,
      names: {
        plural: kind.plural,
        singular: kind.singular,
        kind: kind.kind,
        listKind: kind.listKind,
        ...(kind.shortNames.length > 0 && { shortNames: [...kind.shortNames] }),
        ...(kind.categories.length > 0 && { categories: [...kind.categories] }),
      },
      scope: kind.namespaced ? "Namespaced" : "Cluster",
      versions: versions.map((version, i) => versionOf(version, i === 0)),
      ...(webhook !== undefined &&
        needsConversion(versions) && {
          conversion: {
            strategy: "Webhook",
            webhook: { clientConfig: webhook, conversionReviewVersions: ["v1"] },
          },
        }),
    },
  };
}

function versionOf(kind: Kind, storage: boolean): CrdVersion {
  const hasStatus = kind.status !== undefined && kind.statusInline !== true;
  const subresources = { ...(hasStatus && { status: {} }), ...(kind.scale && { scale: kind.scale }) };
  return {
    name: kind.version,
    served: kind.served,
    storage,
    schema: { openAPIV3Schema: schemaOf(kind) },
    ...(Object.keys(subresources).length > 0 && { subresources }),
    additionalPrinterColumns: columnsOf(kind),
  };
}

/** The schema of whole objects of a kind, its CEL rules in their places. */
export function schemaOf(kind: Kind): StructuralSchema {
  const root: StructuralSchema = {
    type: "object",
    description: kind.description,
    properties: {
      apiVersion: { type: "string", description: "Group and version of this representation." },
      kind: { type: "string", description: "Kind of the object." },
      metadata: { type: "object" },
      spec: described(structuralSchema(kind.spec, "spec"), "What is wanted."),
      ...(kind.status && { status: described(structuralSchema(kind.status, "status"), "What is.") }),
    },
  };
  // A status is written field by field as things become known, so nothing in its first level can be required.
  const status = root.properties?.status;
  if (status) delete status.required;
  for (const { path, ...rule } of kind.rules) {
    const at = find(root, path);
    if (at === undefined) throw new Fault("Bug", kind.kind, `the rule on ${path} has no place: there is no such field`);
    at["x-kubernetes-validations"] = [...(at["x-kubernetes-validations"] ?? []), rule];
  }
  return root;
}

function described(schema: StructuralSchema, description: string): StructuralSchema {
  return { description, ...schema };
}

/** The schema at a path such as `spec.ports[]` (items) or `spec.labels{}` (values of a map). */
function find(root: StructuralSchema, path: string): StructuralSchema | undefined {
  let at: StructuralSchema | undefined = root;
  for (const step of path.match(/[^.[\]{}]+|\[\]|\{\}/g) ?? [])
    at = step === "[]" ? at?.items : step === "{}" ? at?.additionalProperties : at?.properties?.[step];
  return at;
}

/** Kubernetes prints no age of objects that have columns of their own, so it is added. */
function columnsOf(kind: Kind): PrinterColumn[] {
  const hasAge = kind.columns.some((column) => column.jsonPath === AGE.jsonPath);
  return [...kind.columns.map((column) => ({ ...column })), ...(hasAge ? [] : [AGE])];
}
