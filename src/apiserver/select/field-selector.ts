import type { Body, ServedResource } from "../served.ts";
import { badRequest } from "../status.ts";

export type FieldMatch = (object: Body) => boolean;

/** What a selector pins down exactly: lets a list read one object in place of all. */
export interface FieldSelector {
  match: FieldMatch;
  name: string | undefined;
}

/** Compiles `metadata.name=x,spec.nodeName!=y` for a resource. A field the resource does not offer is a BadRequest, as upstream's. */
export function fieldSelector(text: string, resource: ServedResource): FieldSelector {
  const terms = text
    .split(/(?<!\\),/)
    .filter((t) => t.trim() !== "")
    .map((t) => term(t, resource));
  const pinned = terms.find((t) => t.field === "metadata.name" && t.equal);
  return {
    name: pinned?.value,
    match: (object) => terms.every((t) => (t.read(object) === t.value) === t.equal),
  };
}

function term(
  text: string,
  resource: ServedResource,
): { field: string; value: string; equal: boolean; read: (o: Body) => string } {
  const match = /^\s*(.*?)(==|!=|=)((?:\\.|[^\\])*)$/s.exec(text);
  if (match === null) throw badRequest(`invalid selector: ${JSON.stringify(text)}; can't understand it`);
  const field = match[1]!.trim();
  const value = match[3]!.trim().replace(/\\([\\,=])/g, "$1");
  const read = reader(field, resource);
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  return { field, value, equal: match[2] !== "!=", read };
}

function reader(field: string, resource: ServedResource): ((o: Body) => string) | undefined {
  if (field === "metadata.name") return (o) => o.metadata.name;
  if (field === "metadata.namespace") return (o) => o.metadata.namespace ?? "";
  const selectable = resource.selectableFields;
  return selectable !== undefined && Object.hasOwn(selectable, field) ? selectable[field] : undefined;
}
