import { parseResourcePath } from "../model/path.ts";
import type { ServerRequest } from "../model/request.ts";
import { badRequest } from "../model/status.ts";
import { verbOf } from "./route.ts";

const NUMBER = /^(\d+\.?\d*|\.\d+)/;
/** Nanoseconds. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
const LONGEST = 2 ** 63;
/** They last as long as their client wants, whatever it says. */
const LONG_RUNNING: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/**
 * Judges `?timeout=` of any request but a long one, a duration as Go writes it (`1m30s`), before anything else, as upstream's filter
 * does (`WithRequestDeadline`). Answers here come at once, so there is nothing to cut short. Throws BadRequest in upstream's words.
 */
export function checkTimeout(request: ServerRequest): void {
  const text = request.query.get("timeout") ?? "";
  if (text === "" || isLongRunning(request)) return;
  const trouble = durationTrouble(text);
  if (trouble !== undefined) throw badRequest(`invalid timeout specified in the request URL - ${trouble}`);
}

function isLongRunning(request: ServerRequest): boolean {
  const path = parseResourcePath(request.path);
  return path !== undefined && (verbOf(request, path) === "watch" || LONG_RUNNING.has(path.subresource));
}

function durationTrouble(text: string): string | undefined {
  const invalid = `time: invalid duration ${JSON.stringify(text)}`;
  let rest = text.replace(/^[+-]/, "");
  if (rest === "0") return undefined;
  if (rest === "") return invalid;
  let whole = 0;
  while (rest !== "") {
    const number = NUMBER.exec(rest)?.[0];
    if (number === undefined) return invalid;
    rest = rest.slice(number.length);
    const unit = /^[^\d.]*/.exec(rest)![0];
    if (unit === "") return `time: missing unit in duration ${JSON.stringify(text)}`;
    const scale = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
    if (scale === undefined) return `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`;
    rest = rest.slice(unit.length);
    whole += Number(number) * scale;
    if (whole >= LONGEST) return invalid;
  }
  return undefined;
}
