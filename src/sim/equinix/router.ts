import { type HttpAnswer, type HttpHandler, json } from "@slipway/base";
import type { Cloud } from "./cloud.ts";
import { BASE_PATH } from "./place-views.ts";
import { notFound, Refused } from "./refused.ts";

/** One request, taken apart. Parameters of the path are found by their place in the pattern. */
export interface Asked {
  cloud: Cloud;
  path: readonly string[];
  query: URLSearchParams;
  /** The JSON object that was sent; empty when none was. */
  body: Readonly<Record<string, unknown>>;
}

export interface Route {
  /** The document's operationId: calls are counted by it. */
  operation: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** `/devices/:/actions`. */
  pattern: string;
  answer(asked: Asked): HttpAnswer;
}

export interface RateLimit {
  requests: number;
  windowMs: number;
}

/** Serves the routes under the API's base path (or without it) to those who show the key, and counts. */
export function router(
  cloud: Cloud,
  routes: readonly Route[],
  counters: Map<string, number>,
  limit: RateLimit | undefined,
): HttpHandler {
  const compiled = routes.map((route) => ({ ...route, parts: route.pattern.slice(1).split("/") }));
  const allowance = new Allowance(cloud, limit);
  const count = (name: string): void => {
    counters.set(name, (counters.get(name) ?? 0) + 1);
  };
  return async (request) => {
    const url = new URL(request.url, "http://metal.invalid");
    const path = pathOf(url.pathname);
    const sameShape = compiled.filter((route) => matches(route.parts, path));
    const route = sameShape.find(({ method }) => method === request.method);
    count(route?.operation ?? "unknown");
    const limits = allowance.spend();
    if (limits.exceeded) {
      count("throttled");
      return json(429, { error: "Too many requests" }, limits.headers);
    }
    if (request.headers?.["x-auth-token"] !== cloud.token) {
      return json(401, { error: "Invalid authentication token" }, limits.headers);
    }
    if (route === undefined) {
      return json(sameShape.length > 0 ? 405 : 404, { error: "Not found" }, limits.headers);
    }
    const answer = answerOf(route, () => ({ cloud, path, query: url.searchParams, body: bodyOf(request.body) }));
    return { ...answer, headers: { ...answer.headers, ...limits.headers } };
  };
}

/**
 * The path below the API's base, which may be absent, or stand there twice: older clients append links, which begin with it, to their base.
 * Empty parts count for nothing.
 */
function pathOf(pathname: string): string[] {
  const parts = pathname.split("/").filter((part) => part !== "");
  while (parts[0] === BASE[0] && parts[1] === BASE[1]) parts.splice(0, BASE.length);
  return parts.map(decodeURIComponent);
}

const BASE = BASE_PATH.slice(1).split("/");

function answerOf(route: Route, asked: () => Asked): HttpAnswer {
  try {
    const request = asked();
    const answer = route.answer(request);
    if (route.method !== "GET") request.cloud.changed();
    return answer;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return json(error.status, { errors: [error.message] });
  }
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return (
    pattern.length === path.length && pattern.every((part, i) => (part === ":" ? path[i] !== "" : part === path[i]))
  );
}

function bodyOf(text: string | undefined): Asked["body"] {
  if (text === undefined || text === "" || text === "null") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Asked["body"];
  } catch {}
  throw new Refused(400, "The body is not a JSON object");
}

/** A fixed window of requests, reported in the headers that the real service's clients read. */
class Allowance {
  readonly #cloud: Cloud;
  readonly #limit: RateLimit | undefined;
  #endsAt = 0;
  #left = 0;

  constructor(cloud: Cloud, limit: RateLimit | undefined) {
    this.#cloud = cloud;
    this.#limit = limit;
  }

  spend(): { exceeded: boolean; headers: Record<string, string> } {
    if (this.#limit === undefined) return { exceeded: false, headers: {} };
    const now = this.#cloud.clock.now();
    if (now >= this.#endsAt) {
      this.#endsAt = now + this.#limit.windowMs;
      this.#left = this.#limit.requests;
    }
    const exceeded = this.#left === 0;
    if (!exceeded) this.#left--;
    const headers: Record<string, string> = {
      "x-ratelimit-limit": String(this.#limit.requests),
      "x-ratelimit-remaining": String(this.#left),
      "x-ratelimit-reset": String(Math.ceil(this.#endsAt / 1000)),
    };
    if (exceeded) headers["retry-after"] = String(Math.max(1, Math.ceil((this.#endsAt - now) / 1000)));
    return { exceeded, headers };
  }
}

/** A flag that the document has in the query and the original's client sends in the body. */
export function flag({ query, body }: Asked, name: string): boolean {
  return query.get(name) === "true" || body[name] === true || body[name] === "true";
}

/** The project that the path names. */
export function projectIn({ cloud, path }: Asked): string {
  const id = path[1]!;
  if (!cloud.projects.has(id)) throw notFound();
  return id;
}
