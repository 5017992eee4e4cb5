import { Fault, type HttpAnswer } from "@slipway/base";
import { at, textAt } from "./body.ts";

/** A BMC's own words are shown up to here. */
const LONGEST_TEXT = 300;
const MOST_MESSAGES = 8;

/** What an answer says went wrong (DSP0266, error responses): ids and texts of its messages. */
export function messagesOf(answer: HttpAnswer): { ids: readonly string[]; text: string } {
  let body: unknown;
  try {
    body = JSON.parse(answer.body);
  } catch {
    return { ids: [], text: "" };
  }
  const extended = at(body, "error", "@Message.ExtendedInfo") ?? at(body, "@Message.ExtendedInfo");
  const messages = Array.isArray(extended) ? extended.slice(0, MOST_MESSAGES) : [];
  const ids = [...messages.map((one) => textAt(one, "MessageId")), textAt(body, "error", "code")];
  const texts = messages.flatMap((one) => textAt(one, "Message") ?? []);
  const text = texts.length > 0 ? texts.join(" ") : (textAt(body, "error", "message") ?? "");
  return {
    ids: ids.flatMap((id) => id?.split(".").at(-1) ?? []),
    text: text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text,
  };
}

/** Messages of the Base registry that say: not now. */
const NOT_NOW =
  /^(ResourceInUse|ServiceTemporarilyUnavailable|ResourceInStandby|ServiceInUnknownState|InvalidOperationForSystemState|ResourceNotReady|OperationTimeout|ServiceShuttingDown)/;

/** Statuses after which the same request may succeed. */
export const BUSY: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Those of them after which nothing was done. */
export const NOT_CARRIED_OUT: ReadonlySet<number> = new Set([429, 503]);

/** The fault that an error status stands for. `what`: the request in words. */
export function refusal(on: string, what: string, answer: HttpAnswer): Fault {
  const { ids, text } = messagesOf(answer);
  const said = `${what}: the BMC answered ${answer.status}${text === "" ? "" : ` (${text})`}`;
  const { status } = answer;
  if (status === 401) return refusedCredentials(on, `${what}: the BMC answered 401`);
  if (status === 403)
    return new Fault("BadCredentials", on, said, {
      remedy: "give the account of the Secret the rights of an operator",
    });
  if (status === 404 || status === 410) return new Fault("NotFound", on, said);
  const after = retryAfterMs(answer);
  const options = after === undefined ? {} : { retryAfterMs: after };
  if (status === 429) return new Fault("Throttled", on, said, options);
  if (BUSY.has(status) || status === 409 || ids.some((id) => NOT_NOW.test(id)))
    return new Fault("Unavailable", on, said, options);
  return new Fault("Unsupported", on, said);
}

/** `BadCredentials` on a BMC, with the Secret as the place to correct it. */
export function refusedCredentials(on: string, message: string): Fault {
  return new Fault("BadCredentials", on, message, {
    remedy: "correct user name and password in the Secret of credentialsName",
  });
}

/** `Retry-After` in ms, where it is a number of seconds. */
export function retryAfterMs({ headers }: HttpAnswer): number | undefined {
  const after = headers["retry-after"]?.trim() ?? "";
  return /^\d{1,6}$/.test(after) ? Number(after) * 1_000 : undefined;
}
