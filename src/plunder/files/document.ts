/** A file of plunder's, which is YAML or JSON, with the line of each of its fields. */
import { Fault } from "@slipway/base";
import { placesOf } from "@slipway/base/yaml-places";
import { constructFromEvents, EVENT_ID, parseEvents, YAMLException } from "js-yaml";
import type { z } from "zod";

/** Far more than a rack of machines takes. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
const MOST_ALIASES = 8;
const MOST_DEPTH = 32;
/** Of one file; who reads them corrects those first. */
const MOST_PROBLEMS = 20;

export type Path = readonly PropertyKey[];

export interface ReadDocument {
  /** Undefined for a text that says nothing. */
  value: unknown;
  /** Counted from 1: of the field, or of the nearest one around it. */
  lineOf(path: Path): number;
}

/** Something that is wrong with a field, or is to be known of it. Never holds a value, which may be a secret. */
export interface Problem {
  path: Path;
  message: string;
}

/** Reads one document. Throws `Fault` (`Invalid`, `TooLarge`) on `source`, with the line and without a word of the text. */
export function readDocument(text: string, source: string): ReadDocument {
  if (text.length > MOST_CHARACTERS)
    throw new Fault("TooLarge", source, `more than ${MOST_CHARACTERS / 2 ** 20} MiB of text`);
  try {
    const events = parseEvents(text, { maxDepth: MOST_DEPTH });
    if (events.filter(({ type }) => type === EVENT_ID.DOCUMENT).length > 1)
      throw new Fault("Invalid", source, "there is more than one YAML document", { remedy: "write one" });
    const [value] = constructFromEvents(events, { source: text, maxAliases: MOST_ALIASES });
    const [places] = placesOf(text, events);
    return { value: value ?? undefined, lineOf: (path) => places?.lineOf(path) ?? 1 };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark === undefined ? "" : `, line ${error.mark.line + 1}`;
    throw new Fault("Invalid", source, `neither YAML nor JSON${line}`, { remedy: "correct it" });
  }
}

/** `value` as `schema` reads it. Throws `Fault` (`Invalid`) on `source` that names each wrong field by path and line. */
export function checkedDocument<T>(schema: z.ZodType<T>, document: ReadDocument, source: string): T {
  const read = schema.safeParse(document.value ?? {});
  if (read.success) return read.data;
  const problems = read.error.issues.flatMap(problemsOf);
  throw refused(problems, document, source);
}

/** A `Fault` (`Invalid`) that names each problem by path and line; `details` has them as data. */
export function refused(problems: readonly Problem[], document: Pick<ReadDocument, "lineOf">, source: string): Fault {
  const shown = problems.slice(0, MOST_PROBLEMS).map((problem) => problemText(problem, document));
  const more = problems.length - shown.length;
  const list = [...shown, ...(more > 0 ? [`${more} more`] : [])].join("; ");
  return new Fault("Invalid", source, list, { details: problems });
}

/** `line 12, deployments[3].config.address: must be …`. */
export function problemText({ path, message }: Problem, { lineOf }: Pick<ReadDocument, "lineOf">): string {
  return `line ${lineOf(path)}, ${pathText(path)}: ${message}`;
}

/** `deployments[3].config.address`. */
export function pathText(path: Path): string {
  const text = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  return text === "" ? "the whole" : text.replace(/^\./, "");
}

/** Zod names unknown keys together, on the object that has them; each has a line of its own. */
function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: [...issue.path, key.slice(0, 64)], message: "there is no such field" }));
  return [{ path: issue.path, message: issue.message }];
}
