import { schemaOf } from "./crd.ts";
import type { Kind } from "./kind.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** The API reference of the given kinds as Markdown: a section for each, with its fields, columns and rules. */
export function apiReference(kinds: readonly Kind[]): string {
  const sections = kinds.map(section);
  const contents = kinds.map((kind) => `- [${title(kind)}](#${anchor(title(kind))})`).join("\n");
  return `# API reference\n\n${contents}\n\n${sections.join("\n")}`;
}

function title(kind: Kind): string {
  return `${kind.kind} (${kind.group}/${kind.version})`;
}

/** The id that GitHub gives a heading. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9 _-]/g, "")
    .replaceAll(" ", "-");
}

function section(kind: Kind): string {
  const schema = schemaOf(kind);
  const names = [kind.plural, kind.singular, ...kind.shortNames].map((name) => `\`${name}\``).join(", ");
  const parts = [
    `## ${title(kind)}`,
    kind.description,
    `${kind.namespaced ? "In a namespace" : "Cluster-wide"}. Names for kubectl: ${names}.`,
  ];
  for (const part of ["spec", "status"]) {
    const fields = schema.properties?.[part];
    if (fields) parts.push(`### ${part} of ${kind.kind}`, table(fieldRows(fields, part)));
  }
  if (kind.rules.length > 0)
    parts.push(
      "Rules:",
      kind.rules.map((rule) => `- ${cell(rule.message)} (\`${rule.path || "the whole object"}\`)`).join("\n"),
    );
  if (kind.columns.length > 0)
    parts.push(
      `Columns of \`kubectl get\`: ${kind.columns.map((c) => (c.priority ? `${c.name} (wide)` : c.name)).join(", ")}.`,
    );
  return `${parts.join("\n\n")}\n`;
}

type Row = readonly [path: string, type: string, limits: string, description: string];

function fieldRows(schema: StructuralSchema, path: string): Row[] {
  const rows: Row[] = [];
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const at = `${path}.${name}`;
    rows.push([at, typeOf(field), limitsOf(field, schema.required?.includes(name) === true), field.description ?? ""]);
    rows.push(...innerRows(field, at));
  }
  return rows;
}

/** Rows of what is inside a list, a map or an object, however deep. */
function innerRows(field: StructuralSchema, at: string): Row[] {
  if (field.items) return innerRows(field.items, `${at}[]`);
  if (field.additionalProperties) return innerRows(field.additionalProperties, `${at}.*`);
  return fieldRows(field, at);
}

function typeOf(field: StructuralSchema): string {
  if (field["x-kubernetes-int-or-string"]) return "integer or string";
  if (field.items) return `list of ${typeOf(field.items)}`;
  if (field.additionalProperties) return `map of ${typeOf(field.additionalProperties)}`;
  return field.type ?? "anything";
}

function limitsOf(field: StructuralSchema, required: boolean): string {
  const said: string[] = [];
  if (required) said.push("required");
  if (field.default !== undefined) said.push(`default \`${JSON.stringify(field.default)}\``);
  if (field.enum) said.push(`one of ${field.enum.map((value) => `\`${String(value)}\``).join(", ")}`);
  if (field.minimum !== undefined) said.push(`${field.exclusiveMinimum ? "above" : "at least"} ${field.minimum}`);
  if (field.maximum !== undefined) said.push(`${field.exclusiveMaximum ? "below" : "at most"} ${field.maximum}`);
  if (field.minLength !== undefined) said.push(`at least ${field.minLength} characters`);
  if (field.maxLength !== undefined) said.push(`at most ${field.maxLength} characters`);
  if (field.minItems !== undefined) said.push(`at least ${field.minItems} items`);
  if (field.maxItems !== undefined) said.push(`at most ${field.maxItems} items`);
  if (field.format !== undefined) said.push(field.format);
  if (field.pattern !== undefined) said.push(`matches \`${field.pattern}\``);
  return said.join("; ");
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(
    ([path, type, limits, description]) => `| \`${path}\` | ${type} | ${cell(limits)} | ${cell(description)} |`,
  );
  return ["| Field | Type | Limits | Meaning |", "| --- | --- | --- | --- |", ...lines].join("\n");
}

/** Text that stays inside its cell. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replace(/\s*\n\s*/g, " ");
}
