import { endOfText } from "../json/measure.ts";
import { MAX_ERROR_CHARS } from "./field-errors.ts";

/** As many complaints as Go's strict decoder keeps. */
export const MAX_STRICT_ERRORS = 100;

/** The way to a field: members by name, items by number. */
export type Steps = readonly (string | number)[];

interface Frame {
  /** Keys met so far; undefined in a list. */
  keys: Set<string> | undefined;
  name: string;
  index: number;
  /** Unknown fields at and below this place; undefined: there are none. */
  strange: Strange | undefined;
  /** Set once something is reported of this place. */
  place: Place | undefined;
}

/** A tree of unknown fields. */
interface Strange {
  isField: boolean;
  below: Map<string | number, Strange>;
}

/** A place in the text, by its path: a repeated object stands in the same place. */
interface Place {
  reported: Set<string>;
  below: Map<string | number, Place>;
}

/**
 * Paths (`spec.list[0].name`) of the fields that a JSON text states twice, each once. `JSON.parse` lets the last one win in silence;
 * strict field validation does not. The text must be valid JSON. Linear, and without recursion; the first hundred are reported.
 */
export function duplicateFields(json: string): string[] {
  return complaints(json, undefined, (path) => path);
}

/**
 * What strict decoding of a built-in kind minds, in the order of the text: the fields that stand twice, and those at `unknown` places. Other
 * kinds' unknown fields are only found once the text is read.
 */
export function strangeFields(json: string, unknown: readonly Steps[]): string[] {
  const root = newStrange();
  for (const steps of unknown) {
    let at = root;
    for (const step of steps) {
      const next = at.below.get(step) ?? newStrange();
      at.below.set(step, next);
      at = next;
    }
    at.isField = true;
  }
  return complaints(json, root, (path, isUnknown) =>
    isUnknown ? `unknown field ${JSON.stringify(path)}` : `duplicate field ${JSON.stringify(path)}`,
  );
}

function newStrange(): Strange {
  return { isField: false, below: new Map() };
}

/** Visits each key of each object and reports each path once. A path is built only for what is reported: it may be as long as the text. */
function complaints(
  json: string,
  unknown: Strange | undefined,
  print: (path: string, isUnknown: boolean) => string,
): string[] {
  const found: string[] = [];
  let left = MAX_ERROR_CHARS;
  const stack: Frame[] = [];
  const root: Place = { reported: new Set(), below: new Map() };
  const report = (isUnknown: boolean): void => {
    const { reported } = placeOf(stack, root);
    const { name } = stack.at(-1)!;
    if (reported.has(name)) return;
    reported.add(name);
    const text = print(pathOf(stack), isUnknown);
    left -= text.length;
    found.push(text);
  };
  let keyNext = false;
  for (let at = 0; at < json.length && found.length < MAX_STRICT_ERRORS && left > 0; at++) {
    const frame = stack.at(-1);
    switch (json.charCodeAt(at)) {
      case OBJECT:
      case LIST: {
        keyNext = json.charCodeAt(at) === OBJECT;
        const step = frame?.keys === undefined ? frame?.index : frame.name;
        const strange = step === undefined ? unknown : frame?.strange?.below.get(step);
        stack.push({ keys: keyNext ? new Set() : undefined, name: "", index: 0, strange, place: undefined });
        break;
      }
      case OBJECT_END:
      case LIST_END:
        stack.pop();
        keyNext = false;
        break;
      case COMMA:
        keyNext = frame?.keys !== undefined;
        if (frame !== undefined) frame.index++;
        break;
      case QUOTE: {
        const end = endOfText(json, at);
        if (keyNext && frame?.keys !== undefined) {
          const bare = json.slice(at + 1, end);
          frame.name = bare.includes("\\") ? (JSON.parse(json.slice(at, end + 1)) as string) : bare;
          const isUnknown = frame.strange?.below.get(frame.name)?.isField === true;
          if (isUnknown || frame.keys.has(frame.name)) report(isUnknown);
          frame.keys.add(frame.name);
          keyNext = false;
        }
        at = end;
      }
    }
  }
  return found;
}

const [OBJECT, OBJECT_END, LIST, LIST_END, COMMA, QUOTE] = [...'{}[],"'].map((char) => char.charCodeAt(0));

/** The place of the innermost frame. */
function placeOf(stack: readonly Frame[], root: Place): Place {
  let at = root;
  for (const [i, frame] of stack.entries()) {
    frame.place ??= i === 0 ? root : below(at, stepOf(stack[i - 1]!));
    at = frame.place;
  }
  return at;
}

function below(place: Place, step: string | number): Place {
  let found = place.below.get(step);
  if (found === undefined) {
    found = { reported: new Set(), below: new Map() };
    place.below.set(step, found);
  }
  return found;
}

function stepOf({ keys, name, index }: Frame): string | number {
  return keys === undefined ? index : name;
}

function pathOf(stack: readonly Frame[]): string {
  return stack
    .map(({ keys, name, index }, i) => (keys === undefined ? `[${index}]` : i === 0 ? name : `.${name}`))
    .join("");
}
