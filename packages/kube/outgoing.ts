import type { Resource } from "./object.ts";

/** The filter that text passes before it leaves the process: takes out secrets and control characters, and bounds the length. */
export interface Outgoing {
  line(text: string): string;
  /** The same for every text in plain data. */
  clean<T>(value: T): T;
  /** Whether `clean` would change nothing; quick where it was asked before. What was asked about must not change any more. */
  isClean?(value: object): boolean;
}

/** Kinds whose content is what machines and providers report, not what a user wants. */
const REPORTS: ReadonlySet<string> = new Set(["Event", "HardwareData"]);

/** A body as it leaves: statuses and reports filtered; what users want, and Secrets, as they are. */
export function outgoingBody<T>(body: T, resource: Resource, subresource: string | undefined, filter: Outgoing): T {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  if (REPORTS.has(resource.kind)) return withClean(body, ["message", "note", "reason", "spec", "status"], filter);
  return subresource === "status" ? withClean(body, ["status"], filter) : body;
}

function withClean<T extends object>(body: T, fields: readonly string[], filter: Outgoing): T {
  const of = body as Record<string, unknown>;
  const clean = fields.filter((field) => of[field] !== undefined).map((field) => [field, filter.clean(of[field])]);
  return { ...body, ...Object.fromEntries(clean) };
}
