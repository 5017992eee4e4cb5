/** On which line of a YAML file a field stands. Pure. */
import {
  EVENT_ALIAS,
  EVENT_DOCUMENT,
  EVENT_MAPPING,
  EVENT_POP,
  EVENT_SCALAR,
  EVENT_SEQUENCE,
  type Event,
  getScalarValue,
  parseEvents,
} from "js-yaml";

/** The fields of a document by their places. */
export interface DocumentPlaces {
  /** Where the document begins. Lines count from 1. */
  line: number;
  /** Each field by its steps, with its line, in the order of the text. */
  readonly fields: readonly { path: readonly string[]; line: number }[];
  /** The line of a field such as `spec.ports[0].name` or `metadata.labels[a.b/c]`, or its steps, or of the nearest one around it. */
  lineOf(path: string | readonly PropertyKey[]): number;
}

interface Open {
  path: string;
  /** Members read so far; of a mapping keys and values. */
  members: number;
  isMapping: boolean;
  key: string;
}

const EMPTY: ReadonlySet<string> = new Set(["", "~", "null", "Null", "NULL"]);
const SEPARATOR = "\u0000";

/** The places of each document that is not empty, in their order. The text must be YAML that can be read. `events`: its own. */
export function placesOf(text: string, events: readonly Event[] = parseEvents(text, {})): DocumentPlaces[] {
  const reading = new Reading(text);
  for (const event of events) reading.take(event);
  return reading.documents;
}

class Reading {
  readonly documents: DocumentPlaces[] = [];
  readonly #text: string;
  readonly #lineAt: (offset: number) => number;
  /** What is open; the document itself is undefined. */
  readonly #open: (Open | undefined)[] = [];
  #lines = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
    this.#lineAt = linesOf(text);
  }

  take(event: Event): void {
    if (event.type === EVENT_POP) this.#close();
    else if (event.type === EVENT_DOCUMENT) {
      this.#lines = new Map();
      this.#open.push(undefined);
    } else this.#begin(event);
  }

  #close(): void {
    this.#open.pop();
    if (this.#open.length === 0 && this.#lines.size > 0) this.documents.push(placesIn(this.#lines));
  }

  #begin(event: Event): void {
    const isRoot = this.#open.length === 1;
    if (isRoot && event.type === EVENT_SCALAR && EMPTY.has(getScalarValue(this.#text, event))) return;
    const note = (path: string, start: number): void => {
      if (start >= 0 && !this.#lines.has(path)) this.#lines.set(path, this.#lineAt(start));
    };
    const path = pathOf(this.#open.at(-1), event, this.#text, note);
    if (path !== undefined) note(path, startOf(event));
    const isMapping = event.type === EVENT_MAPPING;
    if (isMapping || event.type === EVENT_SEQUENCE)
      this.#open.push({ path: path ?? "", members: 0, isMapping, key: "" });
  }
}

/** The path of what an event begins; undefined for a key of a mapping, which is noted here, with its value's path. */
function pathOf(
  parent: Open | undefined,
  event: Event,
  text: string,
  note: (path: string, start: number) => void,
): string | undefined {
  if (parent === undefined) return "";
  const at = parent.members++;
  if (!parent.isMapping) return parent.path + SEPARATOR + at;
  if (at % 2 === 1) return parent.path + SEPARATOR + parent.key;
  parent.key = event.type === EVENT_SCALAR ? getScalarValue(text, event) : "";
  note(parent.path + SEPARATOR + parent.key, startOf(event));
  return undefined;
}

function startOf(event: Event): number {
  if (event.type === EVENT_SCALAR) return event.valueStart;
  if (event.type === EVENT_ALIAS) return event.anchorStart;
  return event.type === EVENT_MAPPING || event.type === EVENT_SEQUENCE ? event.start : -1;
}

function placesIn(lines: ReadonlyMap<string, number>): DocumentPlaces {
  const line = Math.min(...lines.values());
  return {
    line,
    get fields() {
      return [...lines].flatMap(([path, at]) =>
        path === "" ? [] : [{ path: path.split(SEPARATOR).slice(1), line: at }],
      );
    },
    lineOf(path) {
      const steps = typeof path === "string" ? stepsOf(path) : path.map(String);
      for (let length = steps.length; length > 0; length--) {
        const found = lines.get(
          steps
            .slice(0, length)
            .map((step) => SEPARATOR + step)
            .join(""),
        );
        if (found !== undefined) return found;
      }
      return line;
    },
  };
}

function stepsOf(path: string): string[] {
  return [...path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, index, name]) => index ?? name!);
}

/** The line of an offset. */
function linesOf(text: string): (offset: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
