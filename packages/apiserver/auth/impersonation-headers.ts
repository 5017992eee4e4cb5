import type { Attributes } from "../core/attributes.ts";
import type { User } from "../model/request.ts";
import { badRequest, refusal } from "../model/status.ts";

const EXTRA = "impersonate-extra-";

/** Lets users act as others: who the request is answered for. Throws Forbidden, or BadRequest when the headers name no user. */
export type Impersonate = (asked: Attributes, headers: Readonly<Record<string, string>>) => Promise<User>;

/** Nobody acts as another: who asks to is refused, since answering as himself would show him more than he asked for. */
export const noImpersonation: Impersonate = async ({ user }, headers) => {
  if (wantedUser(headers) === undefined) return user;
  throw refusal("Forbidden", "this server lets nobody act as another user: leave --as away", {});
};

/** The user that the headers describe, word for word; undefined when they don't ask for impersonation. Throws BadRequest when they name none. */
export function wantedUser(headers: Readonly<Record<string, string>>): User | undefined {
  const name = headers["impersonate-user"] ?? "";
  const uid = headers["impersonate-uid"] ?? "";
  const groups = valuesOf(headers["impersonate-group"]);
  const extra = Object.fromEntries(
    Object.entries(headers)
      .filter(([header]) => header.startsWith(EXTRA))
      .map(([header, value]) => [unescaped(header.slice(EXTRA.length)), valuesOf(value)]),
  );
  const hasExtra = Object.keys(extra).length > 0;
  if (name === "") {
    if (uid === "" && groups.length === 0 && !hasExtra) return undefined;
    throw badRequest(`requested ${inGo(uid, groups, extra)} without impersonating a user name`);
  }
  return { name, groups, ...(uid !== "" && { uid }), ...(hasExtra && { extra }) };
}

/** Repeated headers arrive as one, a value a line. */
function valuesOf(header: string | undefined): string[] {
  return header === undefined ? [] : header.split("\n");
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** The user as Go's `%#v` prints it: upstream's text. */
function inGo(uid: string, groups: readonly string[], extra: Readonly<Record<string, readonly string[]>>): string {
  const list = (values: readonly string[]) => `[]string{${values.map((value) => JSON.stringify(value)).join(", ")}}`;
  const entries = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`);
  const groupText = groups.length === 0 ? "[]string(nil)" : list(groups);
  const extraText = entries.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${groupText}, Extra:${extraText}}`;
}
