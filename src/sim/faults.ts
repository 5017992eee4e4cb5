import { type Clock, Fault, type Http, type HttpAnswer, type HttpRequest, json, type Random } from "@slipway/base";

/** Which fault befell a request. `reset`: the connection broke, before or after the effect. */
export type FaultKind = "lostAnswerAfterEffect" | "lostBeforeEffect" | "throttled" | "serverError" | "reset";

/** Probability per request, from 0 to 1; what is left out never happens. At most one of the kinds befalls a request. */
export type FaultRates = Partial<Record<FaultKind, number>> & {
  /** Besides, whatever else happens: an answer takes between `minMs` and `maxMs`. */
  slow?: { rate: number; minMs: number; maxMs: number };
};

export interface FaultOptions {
  random: Random;
  clock: Clock;
  rates: FaultRates;
  /** Called for every fault before it takes effect. */
  onFault?: (kind: FaultKind | "slow", request: HttpRequest) => void;
}

const KINDS: readonly FaultKind[] = ["lostAnswerAfterEffect", "lostBeforeEffect", "throttled", "serverError", "reset"];
const SERVER_ERRORS = [500, 502, 503, 504];
const MAX_RETRY_AFTER_S = 5;

/**
 * SIMULATION: a client's side of HTTP that fails as networks and servers do, by the seed of `random`. A request's own timeout and
 * signal hold: one that is slower than its timeout is a lost answer whose effect happens all the same.
 */
export function withFaults(http: Http, { random, clock, rates, onFault }: FaultOptions): Http {
  const report = onFault ?? ((): void => {});

  return async (request) => {
    // Drawn in one order at every request, so that one seed means one history.
    const kind = pick(random.fraction(), rates);
    const slow = rates.slow !== undefined && random.fraction() < rates.slow.rate ? rates.slow : undefined;
    const delayMs = slow === undefined ? 0 : slow.minMs + random.int(slow.maxMs - slow.minMs + 1);
    const effect = random.int(2) === 1;
    if (delayMs > 0) {
      report("slow", request);
      await delay(request, delayMs);
    }
    if (kind === undefined) return http(request);
    report(kind, request);
    return befall(kind, request, effect);
  };

  async function delay(request: HttpRequest, ms: number): Promise<void> {
    const limit = request.timeoutMs ?? Number.POSITIVE_INFINITY;
    try {
      await clock.sleep(Math.min(ms, limit), request.signal);
    } catch {
      throw lost(request, "the caller gave up");
    }
    if (ms <= limit) return;
    await http(request);
    throw lost(request, `no answer within ${limit} ms`);
  }

  async function befall(kind: FaultKind, request: HttpRequest, effect: boolean): Promise<HttpAnswer> {
    switch (kind) {
      case "lostAnswerAfterEffect":
        await http(request);
        throw lost(request, "the connection ended without an answer");
      case "lostBeforeEffect":
        throw lost(request, "the connection ended without an answer");
      case "reset":
        if (effect) await http(request);
        throw lost(request, "the connection was reset");
      case "throttled":
        return json(429, { error: "Too many requests" }, { "retry-after": String(1 + random.int(MAX_RETRY_AFTER_S)) });
      case "serverError":
        if (effect) await http(request);
        return json(SERVER_ERRORS[random.int(SERVER_ERRORS.length)]!, { error: "Something went wrong" });
    }
  }
}

function pick(draw: number, rates: FaultRates): FaultKind | undefined {
  let below = 0;
  for (const kind of KINDS) {
    below += rates[kind] ?? 0;
    if (draw < below) return kind;
  }
  return undefined;
}

function lost(request: HttpRequest, message: string): Fault {
  return new Fault("LostAnswer", `${request.method} ${new URL(request.url).host}`, message);
}
