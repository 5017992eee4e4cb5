import { rfc3339 } from "@slipway/base";

/** Fields of views that are moments. */
const MOMENTS: ReadonlySet<string> = new Set(["at", "created", "first", "last", "waitsSince", "waitsUntil", "time"]);

/** A view as programs read it: moments are RFC 3339, what is not there is left out. Pure. */
export function viewDocument<T>(value: T): unknown {
  if (Array.isArray(value)) return value.map(viewDocument);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      if (item === undefined) return [];
      return [[name, MOMENTS.has(name) && typeof item === "number" ? rfc3339(item) : viewDocument(item)]];
    }),
  );
}
