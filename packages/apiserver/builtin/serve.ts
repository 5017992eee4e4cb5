import { rfc3339 } from "@slipway/base";
import { at, textAt } from "../model/read.ts";
import type { Body, Column, Schema, ServedResource } from "../model/served.ts";
import { schemaOf } from "../schema/type-schema.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import { humanDuration } from "./human-duration.ts";

const ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

type Given = Pick<ServedResource, "kind" | "namespaced" | "columns"> &
  Partial<ServedResource> & {
    /** `apps/v1`, `v1`. */
    apiVersion: string;
    /** The kind in one sentence. */
    description: string;
  };

/** A built-in resource from what makes it special; its schema is that of its Go type, made when it is asked for. */
export function serve(given: Given): ServedResource {
  const { apiVersion, description, ...rest } = given;
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const singular = given.kind.toLowerCase();
  const type = wireTypeOf(group!, given.kind);
  if (type === undefined) throw new Error(`${apiVersion} ${given.kind} is not in the table of types`);
  let schema: Schema | undefined;
  return {
    group: group!,
    version: version!,
    listKind: `${given.kind}List`,
    plural: `${singular}s`,
    singular,
    shortNames: [],
    categories: [],
    verbs: ALL_VERBS,
    status: false,
    builtIn: true,
    hasGeneration: false,
    storageVersion: apiVersion,
    ...rest,
    get schema() {
      schema ??= { ...schemaOf(type), description };
      return schema;
    },
  };
}

type CellOf = (object: Body, now: number) => string | number | boolean | null;

/** A column whose cells a function computes. */
export type PrintedColumn = Column & { value: CellOf };

/** A printed column whose cells `value` computes. */
export function column(name: string, value: CellOf, more: Partial<Omit<Column, "value">> = {}): PrintedColumn {
  return { name, type: "string", value, ...more };
}

/** A column of `-o wide`. */
export function wide(name: string, value: CellOf): PrintedColumn {
  return { name, type: "string", value, priority: 1 };
}

/** A printed column of the number at a path. */
export function numberColumn(name: string, path: string): PrintedColumn {
  return { name, type: "integer", value: (object) => Number(at(object, path) ?? 0) };
}

export const age: PrintedColumn = column(
  "Age",
  (object, now) => ageOf(textAt(object, "metadata.creationTimestamp"), now),
  {
    description: "How long ago the object was created.",
  },
);

/** For kinds that print the moment instead of the age. */
export const createdAt: PrintedColumn = column("Created At", (object) => {
  const created = Date.parse(textAt(object, "metadata.creationTimestamp"));
  return Number.isNaN(created) ? "<unknown>" : rfc3339(created);
});

/** The time since an RFC 3339 text, as kubectl prints ages. */
export function ageOf(timestamp: string, now: number): string {
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? "<unknown>" : humanDuration(now - then);
}
