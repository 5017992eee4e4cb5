import { ByteBudget, type ByteLimits } from "@slipway/base";
import { isMaster } from "../auth/authorize.ts";
import type { ServerRequest, User } from "../model/request.ts";
import { refusal } from "../model/status.ts";

/** How many bytes of bodies are held at one time, from the first byte to the answer: in all, and of one user. */
export const BODY_LIMITS: ByteLimits = { all: 64 * 1024 * 1024, each: 16 * 1024 * 1024 };

/**
 * Reads bodies of permitted requests within a bound of bytes. Administrators are bound by the whole alone, so other users'
 * shares never keep them out. Beyond a bound a request is refused with 429, where its length says so before a byte is read.
 */
export function bodyShares(limits: ByteLimits = BODY_LIMITS) {
  const budget = new ByteBudget(limits);
  return async <T>(request: ServerRequest, user: User, act: (whole: ServerRequest) => Promise<T>): Promise<T> => {
    const { pending, ...rest } = request;
    if (pending === undefined) return await act(request);
    let held = 0;
    const take = (bytes: number): void => {
      if (!budget.take(user.name, bytes, isMaster(user))) throw full();
      held += bytes;
    };
    try {
      return await act({ ...rest, body: await pending.read(take) });
    } finally {
      budget.give(user.name, held);
    }
  };
}

function full() {
  return refusal("Throttled", "Too many requests, please try again later.", { retryAfterSeconds: 1 });
}
