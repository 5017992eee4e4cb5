import { Fault, type HttpAnswer } from "@slipway/base";
import { type ApiCall, openApi, redirected, type SessionOf, type SessionOptions } from "../session.ts";
import { reasons, refusal } from "./refusals.ts";

export interface Call extends ApiCall {
  /** A refusal because it is so already has its own code, `AlreadyConfigured`. */
  mayBeDone?: boolean;
}

export type Session = SessionOf<Call>;

/** A session with one project of Equinix Metal's API. */
export function openSession(options: SessionOptions): Session {
  return openApi(options, {
    credentials: { "x-auth-token": options.token },
    mediaType: "application/json",
    failure,
  });
}

function failure(call: Call, answer: HttpAnswer): Fault {
  const { status } = answer;
  const texts = reasons(answer.body);
  const said = `the API answered ${status}${texts.length > 0 ? `: ${texts.join("; ")}` : ""}`;
  if (status === 401 || status === 403) {
    const remedy = "put a project API key with write access into the provider's Secret";
    return new Fault("BadCredentials", call.on, said, { remedy, details: { status } });
  }
  if (status === 404) return new Fault("NotFound", call.on, said);
  if (status === 408 || status >= 500) {
    return new Fault(call.method === "POST" ? "LostAnswer" : "Unavailable", call.on, said);
  }
  if (status === 422) return refusal(call.on, texts, call.mayBeDone === true);
  if (status >= 300 && status < 400) return redirected(call.on, said);
  return new Fault("Invalid", call.on, said);
}
