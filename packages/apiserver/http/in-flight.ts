import { isMaster } from "../auth/authorize.ts";
import type { PlainAnswer, ServerRequest, User } from "../model/request.ts";

/** How many requests are worked on at once. Watches count while they are being opened only. */
export interface InFlightLimits {
  /** 400 unless said. */
  reading?: number;
  /** 200 unless said. */
  writing?: number;
}

/** Upstream's answer to who comes when all places are taken: nothing was done, and a second later there may be room. */
const FULL: PlainAnswer = {
  status: 429,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff", "retry-after": "1" },
  body: "Too many requests, please try again later.\n",
};

const READING: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const HEALTH = /^\/(healthz|livez|readyz)(\/|$)/;

/**
 * Turns requests away while too many are under way, so that a flood costs its senders time instead of costing the server its memory.
 * Administrators and health checks always get in, so that an overloaded server can be looked into.
 */
export function limitInFlight<T>({ reading = 400, writing = 200 }: InFlightLimits) {
  const free = { reading, writing };
  return async (request: ServerRequest, user: User, answer: () => Promise<T>): Promise<T | PlainAnswer> => {
    if (isMaster(user) || HEALTH.test(request.path)) return answer();
    const kind = READING.has(request.method) ? "reading" : "writing";
    if (free[kind] <= 0) return FULL;
    free[kind]--;
    try {
      return await answer();
    } finally {
      free[kind]++;
    }
  };
}
