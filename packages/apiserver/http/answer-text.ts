import { dump } from "js-yaml";
import { indentation } from "../json/indentation.ts";
import { isRecord } from "../json/value.ts";
import { ItemTexts } from "./item-texts.ts";

/** How an answer is written: JSON without spaces, JSON for readers, or YAML. */
export type TextForm = "json" | "indented" | "yaml";

/** Lists and tables longer than this are turned into text piece by piece. */
const WHOLE_LIST = 200;
/** A piece of a long list ends with the object that makes it longer than this. */
const PIECE_CHARS = 128 * 1024;
/** Spaces for readers at most. Answers that need more are written without, lest a small object becomes more text than a string may hold. */
const MAX_INDENTATION = 16 * 1024 * 1024;
/** Levels that YAML indents where all would be too much. */
const FEW_LEVELS = 4;

/** An answer's text: in one piece, but for long lists and tables. `known`: the texts of what was listed before. */
export function* textsOf(body: unknown, form: TextForm, known = new ItemTexts(0)): Generator<string, void> {
  const isTooDeep = form !== "json" && indentation(body, 2, MAX_INDENTATION) > MAX_INDENTATION;
  const writer = form === "yaml" ? yaml(isTooDeep) : form === "json" || isTooDeep ? PLAIN : INDENTED;
  const name = ["items", "rows"].find((one) => isRecord(body) && Array.isArray(body[one]));
  const items = name === undefined ? [] : ((body as Record<string, unknown>)[name] as unknown[]);
  if (name === undefined || items.length <= WHOLE_LIST) return yield writer.whole(body);
  const textOf = writer === PLAIN && name === "items" ? (item: unknown) => known.of(item) : writer.item;
  const { empty, open, close } = writer.list(name);
  const [head, tail] = writer.whole({ ...(body as object), [name]: [] }).split(empty) as [string, string];
  let piece = head + open;
  for (const [at, item] of items.entries()) {
    piece += (at === 0 ? "" : writer.between) + textOf(item);
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = "";
  }
  yield piece + close + tail;
}

interface Writer {
  whole(body: unknown): string;
  /** How an empty list of a name stands in a whole, and how one begins and ends that has items. */
  list(name: string): { empty: string; open: string; close: string };
  /** An item of that list. */
  item(item: unknown): string;
  between: string;
}

const PLAIN: Writer = {
  whole: (body) => JSON.stringify(body),
  list: (name) => ({ empty: `"${name}":[]`, open: `"${name}":[`, close: "]" }),
  item: (item) => JSON.stringify(item),
  between: ",",
};

const INDENTED: Writer = {
  whole: (body) => `${JSON.stringify(body, null, 2)}\n`,
  list: (name) => ({ empty: `\n  "${name}": []`, open: `\n  "${name}": [\n`, close: "\n  ]" }),
  item: (item) => `    ${JSON.stringify(item, null, 2).replaceAll("\n", "\n    ")}`,
  between: ",\n",
};

/** YAML as Kubernetes writes it: names in order, lists not indented. */
function yaml(isTooDeep: boolean): Writer {
  const text = (body: unknown, above: number): string =>
    dump(body, {
      flowLevel: isTooDeep ? FEW_LEVELS - above : -1,
      sortKeys: true,
      seqNoIndent: true,
      lineWidth: -1,
      noRefs: true,
      quoteStyle: "double",
    });
  return {
    whole: (body) => text(body, 0),
    list: (name) => ({ empty: `${name}: []\n`, open: `${name}:\n`, close: "" }),
    item: (item) => text([item], 1),
    between: "",
  };
}
