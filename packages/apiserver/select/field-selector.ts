import type { Body, ServedResource } from "../model/served.ts";
import { badRequest } from "../model/status.ts";

export type FieldMatch = (object: Body) => boolean;

/** What a selector pins down exactly: lets a list read one object in place of all. */
export interface FieldSelector {
  match: FieldMatch;
  name: string | undefined;
}

/** Compiles `metadata.name=x,spec.nodeName!=y` for a resource. A field the resource does not offer is a BadRequest, in upstream's words. */
export function fieldSelector(text: string, resource: ServedResource): FieldSelector {
  const terms = termsOf(text);
  const tests = terms.map((t) => ({ ...t, read: reader(t.field, resource) }));
  return {
    name: terms.find(pinsName)?.value,
    match: (object) => tests.every((t) => (t.read(object) === t.value) === t.equal),
  };
}

/** The one name that objects may have to be selected; undefined when any may, or when the selector can't be read. */
export function selectedName(text: string): string | undefined {
  try {
    return termsOf(text).find(pinsName)?.value;
  } catch {
    return undefined;
  }
}

interface Term {
  field: string;
  value: string;
  equal: boolean;
}

function pinsName({ field, equal }: Term): boolean {
  return field === "metadata.name" && equal;
}

/** What stands between commas; one behind a backslash is a part of its term. */
const TERMS = /(?:[^,\\]|\\(?:.|$))+/gs;

function termsOf(text: string): Term[] {
  return (text.match(TERMS) ?? []).sort().map((t) => split(t, text));
}

function split(term: string, selector: string): Term {
  const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  return { field: match[1]!, value: unescaped(match[3]!), equal: match[2] !== "!=" };
}

/** A backslash makes the comma, the equals sign and itself ordinary. */
function unescaped(text: string): string {
  return text.replace(/\\(.?)|[,=]/gs, (found, escaped?: string) => {
    if (escaped === undefined)
      throw badRequest(`invalid field selector: unescaped character in value: ${found.charCodeAt(0)}`);
    if (!["\\", ",", "="].includes(escaped))
      throw badRequest(`invalid field selector: invalid escape sequence: ${found}`);
    return escaped;
  });
}

function reader(field: string, resource: ServedResource): (o: Body) => string {
  if (field === "metadata.name") return (o) => o.metadata.name;
  const { builtIn, namespaced, selectableFields: selectable } = resource;
  // Kinds without a namespace that list their fields do not list this one.
  const inNamespace = namespaced || !builtIn || selectable === undefined;
  if (field === "metadata.namespace" && inNamespace) return (o) => o.metadata.namespace ?? "";
  if (selectable !== undefined && Object.hasOwn(selectable, field)) return selectable[field]!;
  throw badRequest(notOffered(field, resource));
}

function notOffered(field: string, { builtIn, kind, selectableFields }: ServedResource): string {
  const quoted = JSON.stringify(field);
  if (kind === "Job" && builtIn) return `field label ${quoted} not supported for Job`;
  if (!builtIn || selectableFields !== undefined) return `field label not supported: ${field}`;
  return `${quoted} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
