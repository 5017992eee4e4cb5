import { Fault, type HttpAnswer } from "@slipway/base";
import { type ApiCall, openApi, redirected, type SessionOf, type SessionOptions } from "../session.ts";
import { refusal, refusalsIn } from "./refusals.ts";

export type Session = SessionOf<ApiCall>;

/** A session with one account of Latitude.sh's API. */
export function openSession(options: SessionOptions): Session {
  return openApi(options, {
    credentials: { authorization: options.token },
    mediaType: "application/vnd.api+json",
    failure,
  });
}

function failure(call: ApiCall, { status, body }: HttpAnswer): Fault {
  const refusals = refusalsIn(body);
  const refused = refusal(call.on, status, refusals);
  if (status === 401) return badKey(call.on, refused.message);
  // The API also answers 403 for what a good key may not do to a locked server.
  if (status === 403) return refused.code === "Locked" ? refused : badKey(call.on, refused.message);
  if (status === 404) return new Fault("NotFound", call.on, refused.message);
  if (status === 408 || status >= 500) {
    const lost = call.method !== "GET";
    return new Fault(lost ? "LostAnswer" : "Unavailable", call.on, `the API answered ${status}`);
  }
  if (status >= 300 && status < 400) return redirected(call.on, `the API answered ${status}`);
  return refused;
}

function badKey(on: string, message: string): Fault {
  return new Fault("BadCredentials", on, message, {
    remedy: "put an API key that may write into the provider's Secret",
  });
}
