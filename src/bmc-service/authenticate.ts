import type { HttpAnswer, HttpRequest } from "@slipway/base";
import { type Account, accountOf, isSameAccount } from "./accounts.ts";
import { errorAnswer, message } from "./messages.ts";
import type { Sessions } from "./sessions.ts";

/** The account that a request shows, by the token of a session or by name and password (DSP0266, authentication); undefined: none that counts. */
export function authenticate(
  headers: HttpRequest["headers"],
  sessions: Sessions,
  accounts: readonly Account[],
): Account | undefined {
  const token = headers?.["x-auth-token"];
  if (token !== undefined) {
    const session = sessions.use(token);
    // The account as it is now: a session ends with its password.
    const account = session && accounts.find((one) => isSameAccount(one, session.account));
    if (session !== undefined && account === undefined) sessions.close(session.id);
    return account;
  }
  const [, encoded] = /^Basic ([A-Za-z0-9+/]{1,1024}={0,2})$/i.exec(headers?.authorization ?? "") ?? [];
  if (encoded === undefined) return undefined;
  const shown = Buffer.from(encoded, "base64").toString("utf8");
  const colon = shown.indexOf(":");
  return colon === -1 ? undefined : accountOf(accounts, shown.slice(0, colon), shown.slice(colon + 1));
}

/** The same answer whatever was wrong. */
export function unauthorized(): HttpAnswer {
  return errorAnswer(401, [message("NoValidSession")], {
    "www-authenticate": 'Basic realm="Redfish", charset="UTF-8"',
  });
}
