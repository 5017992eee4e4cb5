import { type HttpAnswer, type HttpHandler, json } from "@slipway/base";
import { errorAnswer, Refused, unprocessable } from "./refused.ts";
import type { World } from "./world.ts";

/** One request, taken apart. */
export interface Asked {
  world: World;
  /** What stands in the place of `:id`. */
  id: string;
  query: URLSearchParams;
  /** `attributes` of the JSON:API document that was sent; empty when none was. */
  attributes: Readonly<Record<string, unknown>>;
}

export interface Route {
  /** The document's operationId: calls are counted by it. */
  operation: string;
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `/servers/:id/actions`. */
  pattern: string;
  answer(asked: Asked): HttpAnswer;
}

/** Serves the routes to those who show the key, and counts. */
export function router(
  world: World,
  routes: readonly Route[],
  counters: Map<string, number>,
  limit: { requests: number; windowMs: number } | undefined,
): HttpHandler {
  const compiled = routes.map((route) => ({ route, parts: route.pattern.split("/") }));
  const spend = limit === undefined ? () => 0 : allowance(world, limit);
  const count = (name: string): void => {
    counters.set(name, (counters.get(name) ?? 0) + 1);
  };
  return async (request) => {
    const url = new URL(request.url, "http://latitude.invalid");
    const path = url.pathname.split("/").map(decodeURIComponent);
    const found = compiled.find(({ route, parts }) => route.method === request.method && matches(parts, path));
    count(found?.route.operation ?? "unknown");
    const waitMs = spend();
    if (waitMs > 0) {
      count("throttled");
      return errorAnswer(429, "TOO_MANY_REQUESTS", "Too many requests", {
        "retry-after": String(Math.ceil(waitMs / 1000)),
      });
    }
    if (request.headers?.authorization !== world.token) return errorAnswer(401, "UNAUTHORIZED", "Invalid token");
    if (found === undefined) return errorAnswer(404, "NOT_FOUND", "There is nothing at this path");
    return answerOf(found.route, () => {
      const id = path[found.parts.indexOf(":id")] ?? "";
      const attributes = request.body === undefined ? {} : attributesOf(request.body);
      return { world, id, query: url.searchParams, attributes };
    });
  };
}

function answerOf(route: Route, asked: () => Asked): HttpAnswer {
  try {
    const request = asked();
    const answer = route.answer(request);
    if (route.method !== "GET") request.world.changed();
    return answer;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return errorAnswer(error.status, error.code, error.message);
  }
}

/** A page of `items`, cut as the query asks and the service allows. */
export function pageOf<T>({ world, query }: Asked, items: readonly T[], view: (item: T) => object): HttpAnswer {
  const wished = whole(query.get("page[size]"), 20);
  const size = Math.min(wished, world.maxPageSize);
  const number = whole(query.get("page[number]"), 1);
  const data = items.slice((number - 1) * size, number * size).map(view);
  const meta = query.get("stats[total]") === "count" ? { stats: { total: { count: items.length } } } : {};
  return json(200, { data, meta });
}

function whole(value: string | null, otherwise: number): number {
  if (value === null) return otherwise;
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new Refused(400, "INVALID_PAGE", "page parameters are whole numbers from 1");
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return (
    pattern.length === path.length && pattern.every((part, i) => (part === ":id" ? path[i] !== "" : part === path[i]))
  );
}

function attributesOf(body: string): Asked["attributes"] {
  let sent: unknown;
  try {
    sent = JSON.parse(body);
  } catch {
    throw new Refused(400, "BAD_REQUEST", "The body is not JSON");
  }
  // Only the deploy configuration is sent without an envelope.
  const { data = sent } = (sent ?? {}) as { data?: unknown };
  const { type, attributes } = (data ?? {}) as { type?: unknown; attributes?: unknown };
  if (typeof type !== "string") throw unprocessable("TYPE_REQUIRED", "The resource has no type");
  return typeof attributes === "object" && attributes !== null ? (attributes as Asked["attributes"]) : {};
}

/** A fixed window of requests. Gives how long to wait in milliseconds, 0 when there is room. */
function allowance(world: World, limit: { requests: number; windowMs: number }): () => number {
  let endsAt = 0;
  let left = 0;
  return () => {
    const now = world.clock.now();
    if (now >= endsAt) [endsAt, left] = [now + limit.windowMs, limit.requests];
    if (left === 0) return endsAt - now;
    left--;
    return 0;
  };
}
