import { type Clock, deadline, Fault, isFault, type Log, type Random } from "@slipway/base";
import { abortable } from "./abortable.ts";
import { type BackOff, backOffMs } from "./back-off.ts";
import type { CallOptions } from "./client.ts";
import type { TokenBucket } from "./rate-limit.ts";
import { faultOf, forbiddenByBudget } from "./status-fault.ts";
import type { ApiRequest, Transport } from "./transport.ts";

/** A request with what retries need to know of it. */
export interface Call {
  /** What errors name: the object, or the list. */
  on: string;
  request: ApiRequest;
  options: CallOptions;
}

export interface CallPorts {
  transport: Pick<Transport, "request">;
  clock: Clock;
  random: Random;
  log: Log;
  /** Undefined: not limited. */
  bucket: TokenBucket | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** The upper half is random, so that clients that failed together don't return together. */
const RETRY: BackOff = { baseMs: 100, maxMs: 10_000, jitter: 0.5 };

/**
 * Makes calls within their time. They resolve with the answer's body and reject with a `Fault`, or with what the caller's signal was aborted with.
 * A write is repeated only when the first try surely had no effect.
 */
export function caller({ transport, clock, random, log, bucket }: CallPorts): (of: Call) => Promise<unknown> {
  return async (of) => {
    const limit = deadline(clock, of.options.timeoutMs ?? DEFAULT_TIMEOUT_MS, of.options.signal);
    try {
      return await attempts(of, limit.signal);
    } catch (error) {
      throw inTermsOfCall(error, of);
    } finally {
      limit.done();
    }
  };

  async function attempts(of: Call, signal: AbortSignal): Promise<unknown> {
    for (let failures = 0; ; failures++) {
      await bucket?.take(signal);
      const fault = await attempt(of, transport, signal);
      if (!isFault(fault)) return fault;
      if (!mayRetry(fault, of.request.method === "GET")) throw fault;
      const waitMs = fault.retryAfterMs ?? backOffMs(RETRY, failures, random);
      log.debug({ call: of.request.method, on: of.on, code: fault.code, waitMs }, "trying again");
      await giveUpWith(fault, clock.sleep(waitMs, signal), of.options.signal);
    }
  }
}

/** The answer's body, or the fault it is; rejects only for aborts. */
async function attempt(of: Call, transport: Pick<Transport, "request">, signal: AbortSignal): Promise<unknown> {
  try {
    const answer = await abortable(transport.request({ ...of.request, signal }), signal);
    return answer.status < 400 ? answer.body : faultOf(answer, of.on);
  } catch (error) {
    if (isFault(error)) return error;
    // The request was out when time ran out: a write may have had its effect.
    if (timedOut(error) && of.request.method !== "GET")
      throw new Fault("LostAnswer", of.on, "no answer in time", { cause: error });
    throw error;
  }
}

function mayRetry(fault: Fault, isRead: boolean): boolean {
  if (fault.code === "Throttled") return !forbiddenByBudget(fault);
  if (fault.code === "Unavailable") return true;
  const serverSide = fault.code === "Internal" || fault.code === "Timeout";
  if (isRead) return serverSide || fault.code === "LostAnswer";
  return serverSide && fault.retryAfterMs !== undefined;
}

/** Waits; when the call's time is over meanwhile, the last real failure says more than the time-out. */
async function giveUpWith(fault: Fault, wait: Promise<void>, caller: AbortSignal | undefined): Promise<void> {
  try {
    await wait;
  } catch (reason) {
    throw caller?.aborted ? reason : fault;
  }
}

function timedOut(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}

function inTermsOfCall(error: unknown, of: Call): unknown {
  if (timedOut(error) && !of.options.signal?.aborted)
    return new Fault("Timeout", of.on, (error as Error).message, { cause: error });
  return error;
}
