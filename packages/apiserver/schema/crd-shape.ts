import type { Body, Schema } from "../model/served.ts";

/** The parts of `apiextensions.k8s.io/v1` CustomResourceDefinition that the server reads. */
export interface CrdSpec {
  group: string;
  names: {
    plural: string;
    singular?: string;
    kind: string;
    listKind?: string;
    shortNames?: string[];
    categories?: string[];
  };
  scope: "Namespaced" | "Cluster";
  versions: CrdVersion[];
  conversion?: { strategy?: string; webhook?: { clientConfig?: unknown; conversionReviewVersions?: string[] } };
  preserveUnknownFields?: boolean;
}

export interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: {
    status?: object;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: CrdColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface CrdColumn {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date";
  jsonPath: string;
  format?: string;
  description?: string;
  priority?: number;
}

/** A definition's spec, as its author wrote it. Its members are known to be there only after validation. */
export function specOf(crd: Body): CrdSpec {
  return crd.spec as CrdSpec;
}

/** In one version as the CRD's author wrote it anything may be missing; this one is only looked at after validation. */
export function schemaOf(version: CrdVersion): Schema {
  return version.schema?.openAPIV3Schema ?? { type: "object" };
}
