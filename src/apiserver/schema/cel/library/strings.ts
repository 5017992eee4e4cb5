/** The parts of CEL's strings extension that the CEL library lacks, and Kubernetes' regular expressions in RE2 syntax. */
import type { Environment } from "@marcbachmann/cel-js";
import { fromRe2 } from "../../regexp.ts";

class StringsNamespace {}

export function registerStrings(environment: Environment): void {
  environment
    .registerFunction("string.matchesRe2(string): bool", (text: string, pattern: string) => regex(pattern).test(text))
    .registerFunction("matches(string, string): bool", (text: string, pattern: string) => regex(pattern).test(text))
    .registerFunction(
      "string.find(string): string",
      (text: string, pattern: string) => regex(pattern).exec(text)?.[0] ?? "",
    )
    .registerFunction("string.findAll(string): list<string>", (text: string, pattern: string) =>
      all(text, pattern, -1n),
    )
    .registerFunction("string.findAll(string, int): list<string>", all)
    .registerFunction("string.charAt(int): string", (text: string, at: bigint) => {
      if (at < 0n || at > BigInt(text.length)) throw new RangeError(`index out of range: ${at}`);
      return text.charAt(Number(at));
    })
    .registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
      text.split(from).join(to),
    )
    .registerFunction("string.replace(string, string, int): string", replaceSome)
    .registerFunction("string.reverse(): string", (text: string) => [...text].reverse().join(""))
    .registerType("StringsNamespace", StringsNamespace)
    .registerConstant("strings", "StringsNamespace", new StringsNamespace())
    .registerFunction("StringsNamespace.quote(string): string", (_: unknown, text: string) => JSON.stringify(text))
    .registerFunction("string.format(list): string", format);
}

const cache = new Map<string, RegExp>();

function regex(pattern: string): RegExp {
  const known = cache.get(pattern);
  if (known) return known;
  // Patterns may come from objects, so the cache is bounded.
  if (cache.size > 500) cache.clear();
  const made = fromRe2(pattern);
  cache.set(pattern, made);
  return made;
}

function all(text: string, pattern: string, limit: bigint): string[] {
  const found = text.matchAll(new RegExp(regex(pattern), `g${regex(pattern).flags}`)).map((m) => m[0]);
  return [...(limit < 0n ? found : found.take(Number(limit)))];
}

function replaceSome(text: string, from: string, to: string, limit: bigint): string {
  if (limit < 0n) return text.split(from).join(to);
  const parts = text.split(from);
  const changed = Math.min(Number(limit), parts.length - 1);
  return (
    parts.slice(0, changed + 1).join(to) +
    parts
      .slice(changed + 1)
      .map((p) => from + p)
      .join("")
  );
}

/** `"%s has %d".format([a, b])`, the verbs of CEL's strings extension. */
function format(template: string, values: unknown[]): string {
  let next = 0;
  const text = template.replace(
    /%(?:%|(?:\.(\d+))?([sdfebxXo]))/g,
    (verb: string, precision: string | undefined, kind: string) => {
      if (verb === "%%") return "%";
      if (next >= values.length) throw new RangeError(`index ${next} out of range`);
      return formatted(kind, values[next++], precision === undefined ? undefined : Number(precision));
    },
  );
  return text;
}

function formatted(kind: string, value: unknown, precision: number | undefined): string {
  switch (kind) {
    case "s":
      return texted(value);
    case "d":
      return texted(value);
    case "f":
      return Number(value).toFixed(precision ?? 6);
    case "e":
      return Number(value)
        .toExponential(precision ?? 6)
        .replace(/e([+-])(\d)$/, "e$10$2");
    case "b":
      return typeof value === "boolean" ? (value ? "1" : "0") : whole(value).toString(2);
    case "o":
      return whole(value).toString(8);
    default: {
      const hex =
        typeof value === "string"
          ? Buffer.from(value).toString("hex")
          : value instanceof Uint8Array
            ? Buffer.from(value).toString("hex")
            : whole(value).toString(16);
      return kind === "X" ? hex.toUpperCase() : hex;
    }
  }
}

function whole(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  throw new TypeError("only integers can be formatted with this verb");
}

function texted(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Date) return value.toISOString().replace(/\.000Z$/, "Z");
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (Array.isArray(value)) return `[${value.map(texted).join(", ")}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${key}: ${texted(item)}`).sort();
    return `{${entries.join(", ")}}`;
  }
  return String(value);
}
