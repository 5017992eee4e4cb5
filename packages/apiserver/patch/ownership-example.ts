import type { Body, Schema } from "../model/served.ts";
import { applyConfiguration } from "./apply.ts";
import { trackUpdate } from "./managed-fields.ts";

const text: Schema = { type: "string" };

/** A kind with one field of each manner of merging. */
export const schema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        color: text,
        labels: { type: "object", additionalProperties: text },
        whole: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
        list: { type: "array", items: text },
        set: { type: "array", items: text, "x-kubernetes-list-type": "set" },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            properties: { port: { type: "integer" }, protocol: { ...text, default: "TCP" }, name: text },
          },
        },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  },
};

export type Spec = Record<string, unknown>;

/** An object of the example's kind. */
export function body(spec: Spec, metadata: Record<string, unknown> = {}): Body {
  return {
    apiVersion: "example.org/v1",
    kind: "Example",
    metadata: { name: "x", ...metadata },
    spec,
  } as unknown as Body;
}

/** An object that is only written through ownership: what a server would store after each write. */
export function applied(
  live: Body | undefined,
  spec: Spec,
  manager: string,
  options: { force?: boolean; time?: string } = {},
): Body {
  const { object } = applyConfiguration({
    live,
    config: body(spec),
    manager,
    force: options.force ?? false,
    subresource: "",
    apiVersion: "example.org/v1",
    time: options.time ?? "2024-01-01T00:00:00Z",
    schema,
  });
  return { ...object, metadata: { ...object.metadata, uid: "u" } };
}

/** The object as a server would store it after an update by `manager`. */
export function updated(live: Body | undefined, spec: Spec, manager: string, time = "2024-01-01T00:00:00Z"): Body {
  const after = body(spec, { uid: "u" });
  const managedFields = trackUpdate({
    before: live,
    after,
    manager,
    subresource: "",
    apiVersion: "example.org/v1",
    time,
    schema,
  });
  return managedFields.length === 0 ? after : { ...after, metadata: { ...after.metadata, managedFields } };
}

/** Owners by name, each with the fields of `spec` as FieldsV1. */
export function owners(object: Body): Record<string, unknown> {
  const entries = (object.metadata.managedFields ?? []) as {
    manager: string;
    operation: string;
    fieldsV1: Record<string, unknown>;
  }[];
  return Object.fromEntries(entries.map((e) => [`${e.manager} ${e.operation}`, e.fieldsV1["f:spec"]]));
}
