/** When a machine's bootstrap token is made, renewed and removed. Pure. */

/** A token ends so long after it was made or renewed, unless its machine has joined. */
export const TTL_MS = 15 * 60_000;
/** It is looked at so often while its machine has not joined. */
export const LOOK_MS = TTL_MS / 3;

export type TokenStep = { do: "make" } | { do: "renew" } | { do: "remove" } | { do: "keep" };

/**
 * The next step for the token of a machine. `ends`: when the one that there is ends, in ms since the epoch; undefined: there is none.
 */
export function tokenStep(
  ends: number | undefined,
  { hasJoined, now }: { hasJoined: boolean; now: number },
): TokenStep {
  if (hasJoined) return { do: ends === undefined ? "keep" : "remove" };
  if (ends === undefined) return { do: "make" };
  return { do: ends - now < (TTL_MS * 5) / 6 ? "renew" : "keep" };
}
