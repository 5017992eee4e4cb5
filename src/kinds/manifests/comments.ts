/** Comments of a YAML document: found beside the fields that they are about, and written beside the same fields of another text. Pure. */
import { placesOf } from "@slipway/base/yaml-places";
import { EVENT_SCALAR } from "js-yaml";
import type { ManifestDocument } from "./documents.ts";

export interface Comment {
  text: string;
  /** The field that it is about; undefined: it stands after all of them. */
  path: readonly string[] | undefined;
  /** On the field's own line, behind it. */
  isBeside: boolean;
}

/** The comments of a document, in their order. */
export function commentsOf({ text, events, places }: ManifestDocument): Comment[] {
  const scalars = events.flatMap((event) =>
    event.type === EVENT_SCALAR && event.valueEnd > event.valueStart
      ? [{ start: event.valueStart, end: event.valueEnd }]
      : [],
  );
  const isInScalar = (offset: number) => scalars.some(({ start, end }) => offset >= start && offset < end);
  const fields = places?.fields ?? [];
  const comments: Comment[] = [];
  let offset = 0;
  for (const [at, line] of text.split("\n").entries()) {
    const found = [...line.matchAll(/(?<=^|\s)#/g)].find(({ index }) => !isInScalar(offset + index));
    offset += line.length + 1;
    if (found === undefined) continue;
    const isBeside = line.slice(0, found.index).trim() !== "";
    const about = isBeside
      ? fields.findLast((field) => field.line === at + 1)
      : fields.find((field) => field.line > at + 1);
    comments.push({ text: line.slice(found.index).trimEnd(), path: about?.path, isBeside });
  }
  return comments;
}

/** Where a field's comments go: to the field itself, or to the nearest one around it that is there. */
export type FindField = (path: readonly string[]) => readonly string[];

/** `text`, which is one document, with comments. */
export function withComments(text: string, comments: readonly Comment[], find: FindField): string {
  const [places] = placesOf(text);
  const lineOf = new Map((places?.fields ?? []).map(({ path, line }) => [JSON.stringify(path), line]));
  const above = new Map<number, string[]>();
  const beside = new Map<number, string>();
  const lines = text.trimEnd().split("\n");
  for (const comment of comments) {
    const path = comment.path === undefined ? undefined : find(comment.path);
    const line = path === undefined ? lines.length + 1 : (lineOf.get(JSON.stringify(path)) ?? 1);
    const isSame = path !== undefined && path.at(-1) === comment.path?.at(-1);
    if (comment.isBeside && isSame && !beside.has(line)) beside.set(line, comment.text);
    else above.set(line, [...(above.get(line) ?? []), comment.text]);
  }
  const written = [...lines, ""].flatMap((line, at) => {
    const indent = /^ */.exec(line)![0];
    const own = (above.get(at + 1) ?? []).map((comment) => indent + comment);
    if (at === lines.length) return own;
    const behind = beside.get(at + 1);
    return [...own, behind === undefined ? line : `${line} ${behind}`];
  });
  return `${written.join("\n")}\n`;
}
