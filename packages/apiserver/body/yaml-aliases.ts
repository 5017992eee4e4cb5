import { YAMLException } from "js-yaml";
import { isRecord } from "../json/value.ts";
import { MAX_VALUES, tooManyValues } from "../model/body-limits.ts";

/** How much of a document may come from aliases: nearly all of a small one, little of a large one (go-yaml `allowedAliasRatio`). */
const SMALL = 400_000;
const LARGE = 4_000_000;
/** What aliases of long texts may come to. */
const MAX_CHARS = 3 * 1024 * 1024;

/**
 * The value, where its aliases make no more of it than upstream's parser allows. Throws `YAMLException` in its words: a text of some lines may
 * stand for billions of values. Throws TooLarge for more values than a body may hold.
 */
export function expanded(value: unknown): unknown {
  count(value, { seen: new Set(), above: new Set(), values: 0, aliased: 0, chars: 0 }, false);
  return value;
}

interface Walk {
  seen: Set<object>;
  /** What the value is part of. */
  above: Set<object>;
  values: number;
  aliased: number;
  chars: number;
}

function count(value: unknown, walk: Walk, isAliased: boolean): void {
  weigh(value, walk, isAliased);
  if (typeof value !== "object" || value === null) return;
  if (walk.above.has(value)) throw new YAMLException("anchor value contains itself");
  const again = isAliased || walk.seen.has(value);
  walk.seen.add(value);
  walk.above.add(value);
  if (Array.isArray(value)) for (const item of value) count(item, walk, again);
  else if (isRecord(value))
    for (const [key, item] of Object.entries(value)) {
      count(key, walk, again);
      count(item, walk, again);
    }
  walk.above.delete(value);
}

function weigh(value: unknown, walk: Walk, isAliased: boolean): void {
  walk.values++;
  if (isAliased) walk.aliased++;
  if (walk.aliased > 100 && walk.values > 1000 && walk.aliased / walk.values > allowed(walk.values)) throw excessive();
  if (typeof value === "string") walk.chars += value.length;
  if (walk.chars > MAX_CHARS) throw excessive();
  // Keys are counted here too.
  if (walk.values > 2 * MAX_VALUES + 1) throw tooManyValues(MAX_VALUES + 1);
}

function allowed(values: number): number {
  if (values <= SMALL) return 0.99;
  return values >= LARGE ? 0.1 : 0.99 - 0.89 * ((values - SMALL) / (LARGE - SMALL));
}

function excessive(): YAMLException {
  return new YAMLException("document contains excessive aliasing");
}
