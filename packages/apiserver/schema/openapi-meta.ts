import type { Schema } from "../model/served.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import { schemaOf, TYPE_META } from "./type-schema.ts";

/** Package name of the shared definitions. */
export const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

const string = (description: string): Schema => ({ type: "string", description });
const integer = (description: string, format = "int64"): Schema => ({ type: "integer", format, description });
const object = (description: string, properties: Record<string, Schema>, required?: string[]): Schema => ({
  type: "object",
  description,
  properties,
  ...(required && { required }),
});
const list = (items: Schema, description: string): Schema => ({ type: "array", items, description });

const listMeta = object("Data about a list.", {
  continue: string("Token for the next page; empty on the last one."),
  remainingItemCount: integer("How many objects follow, where known."),
  resourceVersion: string("Version of the whole list."),
  selfLink: string("Not set any more."),
});

const cause = object("One thing that was wrong.", {
  field: string("Path of the field."),
  message: string("What is wrong with it."),
  reason: string("In one word."),
});

const status = object("The answer to a request that returns no object.", {
  ...TYPE_META,
  metadata: listMeta,
  code: integer("HTTP status code.", "int32"),
  status: string("Success or Failure."),
  reason: string("Why it failed, in one word."),
  message: string("Why it failed, for people."),
  details: object("More about the failure.", {
    causes: list(cause, "All that was wrong."),
    group: string("Group of the object."),
    kind: string("Resource of the object."),
    name: string("Name of the object."),
    retryAfterSeconds: integer("When to try again.", "int32"),
    uid: string("UID of the object."),
  }),
});

const built = (group: string, kind: string): Schema => schemaOf(wireTypeOf(group, kind)!);

const scale = built("autoscaling", "Scale");
const scaled: Schema = {
  type: "object",
  description: "Data of the scaled object.",
  "x-kubernetes-preserve-unknown-fields": true,
};

/** Definitions that any document may refer to; `gvk` where requests carry them as objects of their own. */
export const metaDefinitions: Readonly<Record<string, { schema: Schema; gvk?: readonly object[] }>> = {
  [`${META}.ListMeta`]: { schema: listMeta },
  [`${META}.Status`]: { schema: status, gvk: [{ group: "", kind: "Status", version: "v1" }] },
  [`${META}.DeleteOptions`]: {
    schema: built("meta", "DeleteOptions"),
    gvk: [{ group: "", kind: "DeleteOptions", version: "v1" }],
  },
  [`${META}.Patch`]: { schema: { type: "object", description: "A change of an object, in one of the patch formats." } },
  "io.k8s.api.autoscaling.v1.Scale": {
    schema: { ...scale, properties: { ...scale.properties, metadata: scaled } },
    gvk: [{ group: "autoscaling", kind: "Scale", version: "v1" }],
  },
};
