import { expand, type Settings } from "./ipxe-settings.ts";

/** One command of a line and what decides whether the next one runs. */
export interface LinePart {
  tokens: readonly string[];
  joint: "&&" | "||" | ";" | "end";
}

/**
 * Splits a script line as iPXE does: at white space only. There are no quotes; a token that starts with `#` begins a comment.
 */
export function lineParts(line: string): LinePart[] {
  const parts: LinePart[] = [];
  let tokens: string[] = [];
  for (const token of line.split(/\s+/).filter((t) => t !== "")) {
    if (token.startsWith("#")) break;
    if (token === "&&" || token === "||" || token === ";") {
      parts.push({ tokens, joint: token });
      tokens = [];
    } else tokens.push(token);
  }
  parts.push({ tokens, joint: "end" });
  return parts;
}

/** Whether the part behind `joint` runs after a part that succeeded, failed or was skipped with that result before it. */
export function runsNext(joint: LinePart["joint"], succeeded: boolean): boolean {
  return joint === "&&" ? succeeded : joint === "||" ? !succeeded : joint === ";";
}

/** Tokens with their settings filled in. A value with spaces stays one token. */
export function expandTokens(tokens: readonly string[], settings: Settings): string[] {
  return tokens.map((token) => expand(token, settings));
}

/** `--name value`, `--name=value` and `-n value` options, then the other arguments. An option in `flags` takes no value. */
export function options(
  args: readonly string[],
  known: { flags?: readonly string[]; values?: readonly string[] },
): { given: Record<string, string>; rest: string[]; unknown?: string } {
  const given: Record<string, string> = {};
  let at = 0;
  for (; at < args.length; at++) {
    const arg = args[at]!;
    if (!arg.startsWith("-") || arg === "-") break;
    if (arg === "--") {
      at++;
      break;
    }
    const [name = "", inline] = arg.replace(/^--?/, "").split("=", 2);
    const flag = known.flags?.find((f) => f === name || (arg.length === 2 && f[0] === name));
    const value = known.values?.find((v) => v === name || (arg.length === 2 && v[0] === name));
    if (flag !== undefined) given[flag] = "";
    else if (value !== undefined) given[value] = inline ?? args[++at] ?? "";
    else return { given, rest: [], unknown: arg };
  }
  return { given, rest: args.slice(at) };
}
