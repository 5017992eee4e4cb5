import type { WatchEvent } from "@slipway/kube";
import { type Table, type TableOptions, toTable } from "../builtin/table.ts";
import type { Call } from "../core/call.ts";
import { partsInTurns } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { badRequest, refusal, unreasoned } from "../model/status.ts";
import type { Form } from "./negotiate.ts";

/** An answer's object or list in the form that was asked for. Statuses stay as they are. Throws NotAcceptable when it has no such form. */
export function present(form: Form, call: Call, value: unknown): unknown {
  if (!isRecord(value) || value.kind === "Status") return value;
  const list = value.kind === call.resource.listKind && Array.isArray(value.items);
  const objects = (list ? value.items : [value]) as Body[];
  switch (form.as) {
    case "object":
      return list ? wholeList(call.resource, value, objects) : value;
    case "table": {
      const listMeta = list
        ? (value.metadata as Record<string, unknown>)
        : { resourceVersion: objects[0]!.metadata.resourceVersion };
      return toTable(call.resource, objects, { ...tableOptions(form, call), listMeta });
    }
    case "metadata":
      if (list) throw refusal("NotAcceptable", wrongForm("PartialObjectMetadata", "a list", call.resource, "List"));
      return metadataOnly(form, objects[0]!);
    case "metadata list":
      if (!list) throw noList(call.resource);
      return {
        ...value,
        kind: "PartialObjectMetadataList",
        apiVersion: `meta.k8s.io/${form.version}`,
        items: objects.length === 0 ? null : objects.map((object) => metadataOnly(form, object)),
      };
  }
}

/** Of kinds that a definition made, upstream ends with an error of its own before it looks at the form. */
function noList(resource: ServedResource): Error {
  return resource.builtIn
    ? refusal("NotAcceptable", wrongForm("PartialObjectMetadataList", "not a list", resource, ""))
    : unreasoned("content is not a list");
}

/** How many rows of a table are made before others have their turn. */
const ROWS_AT_ONCE = 1000;

/** `present`, with turns for others while the rows of a long table are made. */
export async function presentInTurns(form: Form, call: Call, value: unknown): Promise<unknown> {
  if (form.as !== "table" || !isRecord(value) || !Array.isArray(value.items) || value.items.length <= ROWS_AT_ONCE)
    return present(form, call, value);
  let table: Table | undefined;
  for await (const items of partsInTurns(value.items, ROWS_AT_ONCE)) {
    const part = present(form, call, { ...value, items }) as Table;
    if (table === undefined) table = part;
    else for (const row of part.rows) table.rows.push(row);
  }
  return table;
}

/** Upstream leaves out what the items of a built-in kind would only repeat, and never the token of a defined kind's list. */
function wholeList({ builtIn }: ServedResource, list: Record<string, unknown>, objects: readonly Body[]): unknown {
  if (!builtIn) return { ...list, metadata: { continue: "", ...(list.metadata as object) } };
  return { ...list, items: objects.map(untyped) };
}

/** What is stored never changes, so that each list of it has the same items, whose text may be known. */
const untypedOf = new WeakMap<Body, object>();

function untyped(object: Body): object {
  let found = untypedOf.get(object);
  if (found === undefined) {
    const { kind: _, apiVersion: __, ...item } = object;
    found = item;
    untypedOf.set(object, found);
  }
  return found;
}

/** A watch's events in the form that was asked for. Throws BadRequest where the form's options are wrong. */
export function presentEvents(form: Form, call: Call, events: AsyncIterable<WatchEvent>): AsyncIterable<WatchEvent> {
  return presented(form, call, events, form.as === "table" ? tableOptions(form, call) : undefined);
}

async function* presented(
  form: Form,
  call: Call,
  events: AsyncIterable<WatchEvent>,
  options: TableOptions | undefined,
): AsyncIterable<WatchEvent> {
  // Upstream finds no such form of a single object, and gives the watch up.
  if (form.as === "metadata list") return;
  let first = true;
  for await (const event of events) {
    const object = event.object as Body;
    if (event.type === "ERROR") yield event;
    else if (options === undefined) yield { type: event.type, object: metadataOnly(form, object) };
    else {
      const listMeta = { resourceVersion: object.metadata.resourceVersion };
      // Ages are counted to the event: a watch may be older than what it shows.
      const now = call.core.clock.now();
      const table = toTable(call.resource, [object], { ...options, now, listMeta, withoutDefinitions: !first });
      yield { type: event.type, object: table };
      first = false;
    }
  }
}

function tableOptions({ version }: Form, call: Call) {
  return {
    now: call.core.clock.now(),
    includeObject: includeObject(call),
    apiVersion: `meta.k8s.io/${version}`,
  } as const;
}

function metadataOnly({ version }: Form, object: Body): unknown {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

const INCLUDED = ["None", "Metadata", "Object"] as const;

function includeObject(call: Call): (typeof INCLUDED)[number] {
  const asked = call.query.get("includeObject") ?? "";
  if (asked === "") return "Metadata";
  const found = INCLUDED.find((one) => one === asked);
  if (found !== undefined) return found;
  const error = `includeObject: Invalid value: ${JSON.stringify(asked)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: ${error}`);
}

/** The message names the type that upstream's server has for the object in its memory. */
function wrongForm(asked: string, is: string, { builtIn, group, kind }: ServedResource, suffix: string): string {
  const of = group === "" || group === "events.k8s.io" ? "core" : group.split(".")[0];
  const type = builtIn ? `${of}.${kind}${suffix}` : `unstructured.Unstructured${suffix}`;
  return `you requested ${asked}, but the requested object is ${is} (*${type})`;
}
