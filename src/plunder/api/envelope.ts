/** An answer in either dress: by status codes, or as plunder's clients read it, with status 200 and an envelope. */
import { asFault, type Code, type HttpAnswer, json } from "@slipway/base";

export interface Told {
  payload?: unknown;
  /** What has not the effect that a reader may expect. */
  warning?: string;
}

const STATUS: Readonly<Partial<Record<Code, number>>> = {
  ...{
    NotFound: 404,
    AlreadyExists: 409,
    Conflict: 409,
    Forbidden: 403,
    Invalid: 400,
    BadRequest: 400,
    MissingInput: 400,
  },
  ...{ MethodNotAllowed: 405, Unsupported: 400, TooLarge: 413, Throttled: 429, Unavailable: 503, Refused: 409 },
};

/** Status codes, and the payload alone. */
export function native(told: Told | { error: unknown }): HttpAnswer {
  if ("error" in told) {
    const { code, advice } = asFault(told.error, "plunder");
    return json(STATUS[code] ?? 500, { code, message: STATUS[code] === undefined ? "internal error" : advice });
  }
  const { payload = {}, warning } = told;
  return json(
    200,
    payload,
    warning === undefined
      ? {}
      : { warning: `299 slipway "${warning.replaceAll(/[^\x20-\x7e]|["\\]/g, " ").slice(0, 1000)}"` },
  );
}

/** Always 200; a failure by both names that the original's releases had for it, beside `error`. */
export function enveloped(told: Told | { error: unknown }): HttpAnswer {
  if ("error" in told) {
    const { code, advice } = asFault(told.error, "plunder");
    const message = STATUS[code] === undefined ? "internal error" : advice;
    return json(200, { warning: message, friendlyError: message, error: message });
  }
  const { payload, warning } = told;
  return json(200, {
    ...(warning !== undefined && { warning }),
    success: "true",
    ...(payload !== undefined && { payload }),
  });
}
