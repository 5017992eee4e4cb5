import type { PlainAnswer, ServerRequest } from "../model/request.ts";

/** A named look at whether the server can do its work: why not, or undefined when all is well. */
export interface Check {
  name: string;
  /** The only endpoint that asks it; unset: all. */
  only?: "livez" | "readyz";
  fault(): Error | undefined;
}

/** Answers `/healthz`, `/livez`, `/readyz`, and each check below them. Undefined: the path is none of these. */
export type Health = (request: ServerRequest) => PlainAnswer | undefined;

const TEXT = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
const ROOTS: ReadonlySet<string> = new Set(["healthz", "livez", "readyz"]);

/** Why a check failed stays inside: the answer is for everybody. `?verbose` lists each check, `?exclude=name` leaves one out. */
export function health(checks: readonly Check[]): Health {
  return ({ path, query }) => {
    const [, root = "", ...rest] = path.replace(/\/$/, "").split("/");
    if (!ROOTS.has(root)) return undefined;
    const asked = checks.filter(({ only = root }) => only === root);
    if (rest.length > 0) return one(asked, rest.join("/"));
    const excluded = new Set(query.getAll("exclude"));
    let failed = false;
    const lines = asked.map(({ name, fault }) => {
      if (excluded.has(name)) return `[+]${name} excluded: ok`;
      if (fault() === undefined) return `[+]${name} ok`;
      failed = true;
      return `[-]${name} failed: reason withheld`;
    });
    const unknown = [...excluded]
      .filter((name) => !asked.some((check) => check.name === name))
      .sort()
      .map((name) => JSON.stringify(name));
    if (unknown.length > 0)
      lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.join(", ")}`);
    const page = (end: string): string => `${[...lines, `${root} check ${end}`].join("\n")}\n`;
    if (failed) return { status: 500, headers: TEXT, body: page("failed") };
    return { status: 200, headers: TEXT, body: query.has("verbose") ? page("passed") : "ok" };
  };
}

function one(checks: readonly Check[], name: string): PlainAnswer | undefined {
  const check = checks.find((candidate) => candidate.name === name);
  if (check === undefined) return undefined;
  const fault = check.fault();
  if (fault === undefined) return { status: 200, headers: TEXT, body: "ok" };
  return { status: 500, headers: TEXT, body: `internal server error: ${fault.message}\n` };
}
