import { badRequest } from "./status.ts";

const NUMBER = /^(\d+\.?\d*|\.\d+)/;
const UNITS: ReadonlySet<string> = new Set(["ns", "us", "µs", "μs", "ms", "s", "m", "h"]);

/**
 * Judges `?timeout=`, a duration as Go writes it (`1m30s`). Answers here come at once, so there is nothing to cut short.
 * Throws BadRequest in upstream's words.
 */
export function checkTimeout(query: URLSearchParams): void {
  const text = query.get("timeout") ?? "";
  const trouble = text === "" ? undefined : durationTrouble(text);
  if (trouble !== undefined) throw badRequest(`invalid timeout specified in the request URL - ${trouble}`);
}

function durationTrouble(text: string): string | undefined {
  const invalid = `time: invalid duration ${JSON.stringify(text)}`;
  let rest = text.replace(/^[+-]/, "");
  if (rest === "0") return undefined;
  if (rest === "") return invalid;
  while (rest !== "") {
    const number = NUMBER.exec(rest)?.[0];
    if (number === undefined) return invalid;
    rest = rest.slice(number.length);
    const unit = /^[^\d.]*/.exec(rest)![0];
    if (unit === "") return `time: missing unit in duration ${JSON.stringify(text)}`;
    if (!UNITS.has(unit)) return `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`;
    rest = rest.slice(unit.length);
  }
  return undefined;
}
