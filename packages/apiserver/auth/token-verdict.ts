import type { User } from "../model/request.ts";

/** What is known of a bearer token. */
export type TokenVerdict = { user: User; audiences: readonly string[] } | { error: string };

/** Whose token it is, for one of `audiences` (empty: this API's). */
export type JudgeToken = (token: string, audiences: readonly string[]) => TokenVerdict;
