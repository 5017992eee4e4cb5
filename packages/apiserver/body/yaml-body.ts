import {
  boolYaml11Tag,
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  mergeTag,
  parseEvents,
  YAMLException,
} from "js-yaml";
import { measureJson } from "../json/measure.ts";
import { Pace, type Passes } from "../json/turns.ts";
import { countKeys } from "../json/value.ts";
import { MAX_VALUES, MAX_YAML_LINES, MAX_YAML_VALUES, tooManyLines, tooManyValues } from "../model/body-limits.ts";
import { expanded } from "./yaml-aliases.ts";

/** Booleans are those of YAML 1.1, `yes` and `off` among them, as with upstream's parser. */
const SCHEMA = CORE_SCHEMA.withTags(boolYaml11Tag, mergeTag);

/** A YAML text read as upstream reads it: its first document; of keys that stand twice, the last. */
export interface YamlBody {
  value: unknown;
  /** The complaint of strict decoding about a key that stands twice, if one does. */
  twice: string | undefined;
  /** The text is JSON, and the value what JSON's own parser makes of it. */
  isJson: boolean;
}

/**
 * Rejects with `YAMLException` for a text that is no YAML, and for one that its aliases blow up, and with TooLarge for one of too many values.
 * `rest` is awaited between the steps.
 */
export async function readYaml(
  text: string,
  rest: () => Promise<void> | undefined = async () => {},
): Promise<YamlBody> {
  const json = await readJson(text, rest);
  if (json !== undefined) return { value: json, twice: undefined, isJson: true };
  if (linesOf(text) > MAX_YAML_LINES) throw tooManyLines();
  const begins = firstDocument(text);
  let begun = begins.next();
  for (; begun.done !== true; begun = begins.next()) await rest();
  const document = begun.value;
  await rest();
  const events = parseEvents(document, { maxDepth: levelsFor(NODES_A_VALUE * MAX_YAML_VALUES) });
  const values = countValues(events);
  if (values > MAX_YAML_VALUES) throw tooManyValues(values, MAX_YAML_VALUES);
  await rest();
  const read = (json: boolean): unknown => {
    const value = constructFromEvents(events, { source: document, schema: SCHEMA, json })[0] ?? null;
    return document.includes("*") ? expanded(value) : value;
  };
  try {
    return { value: read(false), twice: undefined, isJson: false };
  } catch (error) {
    if (!(error instanceof YAMLException) || error.reason !== "duplicated mapping key" || !error.mark) throw error;
    const { line } = error.mark;
    // A key in quotes is marked behind the first.
    const position = error.mark.position - (/["']/.test(document[error.mark.position - 1] ?? "") ? 1 : 0);
    const key =
      /^(?:"[^"]*"|'[^']*'|[^:\s]+)/.exec(document.slice(position))?.[0].replace(/^(["'])(.*)\1$/, "$2") ?? "";
    const twice = `yaml: unmarshal errors:\n  line ${line + 1}: key ${JSON.stringify(key)} already set in map`;
    await rest();
    return { value: read(true), twice, isJson: false };
  }
}

/** What JSON takes and YAML does not, or takes for something else: tabs, merge keys, control characters, letters beyond 16 bits. */
const NOT_BOTH = /[\t\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]|<<|\\u|__proto__/;
/** Levels that the YAML parser takes. */
const MAX_YAML_LEVELS = 100;
/** A key and its value, each looked at up to three times. */
const NODES_A_VALUE = 6;

/**
 * `MAX_YAML_LEVELS`, up to so many looks. The parser can't be interrupted and has no limit but this one, which it looks at before each node: at
 * the last look it ends with TooLarge, and goes no further through a body that holds more values than are taken.
 */
function levelsFor(looks: number): number {
  let left = looks;
  const levels = {
    [Symbol.toPrimitive](hint: string): number {
      if (hint !== "string" && --left < 0) throw tooManyValues(MAX_YAML_VALUES + 1, MAX_YAML_VALUES);
      return MAX_YAML_LEVELS;
    },
  };
  return levels as unknown as number;
}

/** What a byte order mark at the beginning of a line costs the parser, which asks at each whether a document ends there, in lines. */
const LINES_A_MARK = 2;

/** The lines of a text, and what else takes the parser as long. A line ends as YAML's do. */
function linesOf(text: string): number {
  let lines = 1 + count(text, "\n");
  if (text.includes("\r")) lines += count(text, "\r") - count(text, "\r\n");
  if (text.includes("\uFEFF")) lines += LINES_A_MARK * (count(text, "\n\uFEFF") + count(text, "\r\uFEFF"));
  return lines;
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++;
  return found;
}

/**
 * The value of a text that is JSON, which says the same in YAML; undefined for all others, and where a key stands twice. It is read many times
 * faster, and `kubectl apply --server-side` sends JSON under YAML's content type.
 */
async function readJson(text: string, rest: () => Promise<void> | undefined): Promise<object | undefined> {
  if (text[0] !== "{" || NOT_BOTH.test(text)) return undefined;
  const { values, keys, depth } = measureJson(text);
  if (depth >= MAX_YAML_LEVELS) return undefined;
  // Commas are separators in YAML's braces too, but for those in its comments and its other quotes.
  if (values > MAX_VALUES && !/['#]/.test(text)) throw tooManyValues(values);
  if (values > MAX_VALUES) return undefined;
  await rest();
  try {
    const value = JSON.parse(text) as object;
    await rest();
    return keys === countKeys(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** How many members and items the events of a document make, aliases not followed. */
function countValues(events: ReturnType<typeof parseEvents>): number {
  let count = 0;
  /** Of each collection around, how many nodes came so far, keys and values in turn; undefined where all are items. */
  const nodes: (number | undefined)[] = [];
  for (const { type } of events) {
    if (type === EVENT_ID.POP) nodes.pop();
    else if (type === EVENT_ID.DOCUMENT) nodes.push(1);
    else {
      const before = nodes.at(-1);
      if (before === undefined || before % 2 === 1) count++;
      if (before !== undefined) nodes[nodes.length - 1] = before + 1;
      if (type === EVENT_ID.SEQUENCE) nodes.push(undefined);
      else if (type === EVENT_ID.MAPPING) nodes.push(0);
    }
  }
  return count - 1;
}

/** A line that begins or ends a document. Such a line is never part of a value. */
const MARKER = /^(---|\.\.\.)(?=[ \t\r\n]|$)/gm;
/** Directives that may stand before a document. */
const MAX_DIRECTIVES = 1000;
/** What may stand before a document: space, comments and directives. */
const PREAMBLE = /\uFEFF?(?:[ \t]*(?:#[^\n]*)?(?:\r?\n|$)|%[^\n]*(?:\n|$))*/y;

/** The text up to the end of its first document. Upstream does not look at what follows either. */
function* firstDocument(text: string): Passes<string> {
  const pace = new Pace();
  let preambleAt = 0;
  let isBegun = false;
  for (const marker of text.matchAll(MARKER)) {
    if (pace.isOver()) yield;
    PREAMBLE.lastIndex = preambleAt;
    const preamble = PREAMBLE.exec(text)?.[0] ?? "";
    if ((preamble.match(/^%/gm)?.length ?? 0) > MAX_DIRECTIVES) throw new YAMLException("too many directives");
    isBegun ||= preambleAt + preamble.length < marker.index;
    if (isBegun) return text.slice(0, marker.index);
    isBegun = marker[0] === "---";
    preambleAt = marker.index + marker[0].length;
  }
  return text;
}
