import type { Clock, HttpAnswer, HttpHandler, HttpRequest, Random } from "@slipway/base";

/** One thing that a BMC does other than it should: stands before the true service, and may ask it. */
export type Lie = (
  request: HttpRequest & { remote: string },
  next: HttpHandler,
  world: LieWorld,
) => Promise<HttpAnswer>;

export interface LieWorld {
  clock: Clock;
  random: Random;
  /** Ends every session. */
  endSessions(): void;
  /** Requests so far, this one included. */
  count: number;
  /** What lies keep between requests, by a name of their own. */
  memory: Map<string, unknown>;
}

/** A request's path, without its query. */
export function pathOf(request: HttpRequest): string {
  return new URL(request.url).pathname;
}

/** A request's JSON body; an empty object where it has none. */
export function bodyOf(request: HttpRequest): Record<string, unknown> {
  return JSON.parse(request.body ?? "{}") as Record<string, unknown>;
}

/** The answer with another body, as `change` makes it of the JSON that it had. */
export function rewritten(answer: HttpAnswer, change: (body: Record<string, unknown>) => void): HttpAnswer {
  if (answer.status !== 200) return answer;
  const body = JSON.parse(answer.body) as Record<string, unknown>;
  change(body);
  return { ...answer, body: JSON.stringify(body) };
}

export const SYSTEM = /^\/redfish\/v1\/Systems\/[^/]+$/;
export const MEDIA = /^\/redfish\/v1\/Systems\/[^/]+\/VirtualMedia\/Cd$/;
