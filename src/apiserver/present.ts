import type { WatchEvent } from "../kube/transport.ts";
import { toTable } from "./builtin/table.ts";
import type { Call } from "./core.ts";
import { isRecord } from "./json-value.ts";
import type { Body } from "./served.ts";
import { refusal } from "./status.ts";

/** How the client wants to see objects: as they are, as rows of a table, or their metadata only. */
export interface Form {
  as: "object" | "table" | "metadata";
  media: "application/json" | "application/yaml";
}

const SPOKEN = "application/json, application/yaml";

/** Reads an Accept header. Throws NotAcceptable when nothing in it is spoken here. */
export function negotiate(accept: string | undefined): Form {
  if (accept === undefined || accept.trim() === "") return { as: "object", media: "application/json" };
  for (const clause of accept.split(",")) {
    const [type = "", ...rest] = clause.split(";").map((part) => part.trim());
    const parameters = new Map(rest.map((p) => p.split("=") as [string, string]));
    const media =
      type === "application/yaml"
        ? "application/yaml"
        : ["application/json", "application/*", "*/*"].includes(type)
          ? "application/json"
          : undefined;
    const as = parameters.get("as");
    if (media === undefined) continue;
    if (as === undefined) return { as: "object", media };
    if (parameters.get("g") !== "meta.k8s.io" || parameters.get("v") !== "v1") continue;
    if (as === "Table") return { as: "table", media };
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return { as: "metadata", media };
  }
  throw refusal("NotAcceptable", `only the following media types are accepted: ${SPOKEN}`);
}

/** An answer's object or list in the form that was asked for. Statuses stay as they are. */
export function present(form: Form, call: Call, value: unknown): unknown {
  if (form.as === "object" || !isRecord(value) || value.kind === "Status") return value;
  const list = value.kind === call.resource.listKind && Array.isArray(value.items);
  const objects = (list ? value.items : [value]) as Body[];
  if (form.as === "table") {
    const listMeta = list
      ? (value.metadata as Record<string, unknown>)
      : { resourceVersion: objects[0]!.metadata.resourceVersion };
    return toTable(call.resource, objects, {
      now: call.core.clock.now(),
      listMeta,
      includeObject: includeObject(call),
    });
  }
  if (!list) return metadataOnly(objects[0]!);
  return {
    ...value,
    kind: "PartialObjectMetadataList",
    apiVersion: "meta.k8s.io/v1",
    items: objects.map(metadataOnly),
  };
}

/** A watch's events in the form that was asked for. */
export async function* presentEvents(
  form: Form,
  call: Call,
  events: AsyncIterable<WatchEvent>,
): AsyncIterable<WatchEvent> {
  let first = true;
  for await (const event of events) {
    const object = event.object as Body;
    if (event.type === "ERROR") yield event;
    else if (form.as === "metadata") yield { type: event.type, object: metadataOnly(object) };
    else {
      const listMeta = { resourceVersion: object.metadata.resourceVersion };
      const options = {
        now: call.core.clock.now(),
        listMeta,
        includeObject: includeObject(call),
        withoutDefinitions: !first,
      };
      yield { type: event.type, object: toTable(call.resource, [object], options) };
      first = false;
    }
  }
}

function metadataOnly(object: Body): unknown {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}

function includeObject(call: Call): "None" | "Metadata" | "Object" {
  const asked = call.query.get("includeObject");
  return asked === "None" || asked === "Object" ? asked : "Metadata";
}
