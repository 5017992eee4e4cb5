import { at } from "../model/read.ts";
import type { Body, Column, ServedResource } from "../model/served.ts";
import { humanDuration } from "./human-duration.ts";
import { compileJsonPath, type JsonPath, printJsonPath } from "./json-path.ts";

/** How much of each object goes with its row: nothing, its metadata, or all of it. */
export type IncludeObject = "None" | "Metadata" | "Object";

export interface TableOptions {
  /** Milliseconds since the epoch; ages are counted to it. */
  now: number;
  /** The list's metadata: resourceVersion, continue, remainingItemCount. */
  listMeta?: Readonly<Record<string, unknown>>;
  includeObject?: IncludeObject;
  /** `meta.k8s.io/v1` unless said. */
  apiVersion?: Table["apiVersion"];
  /** Watches send the column definitions with the first row only. */
  withoutDefinitions?: boolean;
}

export interface TableColumn {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

export interface TableRow {
  cells: unknown[];
  conditions?: unknown[];
  object?: unknown;
}

/** `meta.k8s.io/v1` Table. */
export interface Table {
  kind: "Table";
  apiVersion: "meta.k8s.io/v1" | "meta.k8s.io/v1beta1";
  metadata: Readonly<Record<string, unknown>>;
  /** null: an earlier event of the same watch had them. */
  columnDefinitions: TableColumn[] | null;
  rows: TableRow[];
}

const NAME: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Unique within the namespace; can't change.",
  value: (object) => object.metadata.name,
};

/**
 * Objects as the table that `kubectl get` prints. The name comes first unless the kind has a column of that name elsewhere.
 * A value that is absent is null; what a column function throws at a malformed object becomes null too: one odd object must
 * not make a whole list unreadable.
 */
export function toTable(resource: ServedResource, objects: readonly Body[], options: TableOptions): Table {
  const columns = columnsOf(resource);
  const cellsOf = columns.map(cellReader);
  return {
    kind: "Table",
    apiVersion: options.apiVersion ?? "meta.k8s.io/v1",
    metadata: options.listMeta ?? {},
    columnDefinitions: options.withoutDefinitions === true ? null : columns.map(definition),
    rows: objects.map((object) => row(object, cellsOf, options)),
  };
}

function columnsOf(resource: ServedResource): readonly Column[] {
  return resource.columns.some((c) => c.name === "Name") ? resource.columns : [NAME, ...resource.columns];
}

function definition(column: Column): TableColumn {
  return {
    name: column.name,
    type: column.type,
    format: column.format ?? "",
    description: column.description ?? "",
    priority: column.priority ?? 0,
  };
}

type CellReader = (object: Body, now: number) => unknown;

function row(object: Body, cellsOf: readonly CellReader[], options: TableOptions): TableRow {
  const { now, includeObject = "Metadata", apiVersion = "meta.k8s.io/v1" } = options;
  const cells = cellsOf.map((cellOf) => cellOf(object, now));
  const conditions = finished(object);
  return { cells, ...(conditions && { conditions }), object: rowObject(object, includeObject, apiVersion) };
}

function rowObject(object: Body, include: IncludeObject, apiVersion: string): unknown {
  if (include === "Object") return object;
  if (include === "None") return null;
  return { kind: "PartialObjectMetadata", apiVersion, metadata: object.metadata };
}

/** Pods that have ended are marked, so that clients may leave them out. */
function finished(object: Body): unknown[] | undefined {
  if (object.kind !== "Pod" || object.apiVersion !== "v1") return undefined;
  const phase = at(object, "status.phase");
  if (phase !== "Succeeded" && phase !== "Failed") return undefined;
  const message = phase === "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  return [{ type: "Completed", status: "True", reason: phase, message }];
}

function cellReader(column: Column): CellReader {
  const { value } = column;
  if (typeof value === "function") {
    return (object, now) => {
      try {
        return value(object, now);
      } catch {
        return null;
      }
    };
  }
  const path = compileJsonPath(value.jsonPath);
  if (path === undefined) return () => null;
  return (object, now) => customCell(column.type, path, object, now);
}

/** The cell of a CustomResourceDefinition's column: the first value found, as its column's type. */
function customCell(type: Column["type"], path: JsonPath, object: Body, now: number): unknown {
  const [found] = path(object);
  if (found === undefined) return null;
  switch (type) {
    case "string":
      return found === null ? "<no value>" : printJsonPath(found);
    case "integer":
      return typeof found === "number" ? Math.trunc(found) : null;
    case "number":
      return typeof found === "number" ? found : null;
    case "boolean":
      return typeof found === "boolean" ? found : null;
    case "date": {
      if (typeof found !== "string") return null;
      const then = Date.parse(found);
      return Number.isNaN(then) ? "<invalid>" : humanDuration(now - then);
    }
  }
}
