import { at, textAt } from "../../model/read.ts";
import type { User } from "../../model/request.ts";
import type { Body } from "../../model/served.ts";
import type { Store } from "../../storage/store.ts";
import { accountGroups, accountUserName } from "../identity.ts";
import type { Claims } from "./jwt.ts";

/** What the names of the claims of a Secret's token begin with. */
export const SECRET_CLAIM = "kubernetes.io/serviceaccount";
/** How far clocks may differ. */
const LEEWAY_S = 60;
const INVALIDATED = "service account token has been invalidated";

/** Who holds a token with such claims, or what is wrong with it. */
export function holderOf(store: Store, claims: Claims, now: number): User | string {
  const late = timeFault(claims, now);
  if (late !== undefined) return late;
  const own = claims["kubernetes.io"];
  const namespace = textAt(own, "namespace");
  const goneBefore = (now - LEEWAY_S) * 1000;

  const account = { name: textAt(own, "serviceaccount.name"), uid: textAt(own, "serviceaccount.uid") };
  const wrong = accountFault(store, namespace, account, goneBefore);
  if (wrong !== undefined) return wrong;
  const extra: Record<string, string[]> = {};
  const note = (name: string, value: string): void => {
    if (value !== "") extra[`authentication.kubernetes.io/${name}`] = [value];
  };
  for (const kind of ["secret", "pod", "node"] as const) {
    const bound = at(own, kind);
    // A Pod's token names its Node, but is not bound to it.
    if (bound === undefined || (kind === "node" && at(own, "pod") !== undefined)) continue;
    const to = { kind, namespace, name: textAt(bound, "name"), uid: textAt(bound, "uid") };
    const fault = boundFault(store, to, goneBefore);
    if (fault !== undefined) return fault;
  }
  if (typeof claims.jti === "string") note("credential-id", `JTI=${claims.jti}`);
  for (const kind of ["pod", "node"]) {
    note(`${kind}-name`, textAt(own, `${kind}.name`));
    note(`${kind}-uid`, textAt(own, `${kind}.uid`));
  }
  const user = { name: accountUserName(namespace, account.name), uid: account.uid, groups: accountGroups(namespace) };
  return { ...user, extra };
}

function timeFault({ exp, nbf, iat }: Claims, now: number): string | undefined {
  if (typeof exp !== "number" || now - LEEWAY_S > exp) return "service account token has expired";
  if (typeof nbf === "number" && now + LEEWAY_S < nbf) return "service account token is not valid yet";
  if (typeof iat === "number" && now + LEEWAY_S < iat) return "service account token is issued in the future";
  return undefined;
}

interface Reference {
  name: string;
  uid: string;
}

/** What a token is bound to beside its account. */
interface BoundObject extends Reference {
  kind: "secret" | "pod" | "node";
  namespace: string;
}

function accountFault(
  store: Store,
  namespace: string,
  { name, uid }: Reference,
  goneBefore: number,
): string | undefined {
  const account = store.get("/serviceaccounts", `${namespace}/${name}`);
  if (account === undefined) return `serviceaccounts ${JSON.stringify(name)} not found`;
  if (account.metadata.uid !== uid)
    return `service account UID (${account.metadata.uid}) does not match claim (${uid})`;
  return isGone(account, goneBefore) ? `service account ${namespace}/${name} has been deleted` : undefined;
}

function boundFault(store: Store, { kind, namespace, name, uid }: BoundObject, goneBefore: number): string | undefined {
  const object = store.get(`/${kind}s`, kind === "node" ? name : `${namespace}/${name}`);
  if (object === undefined) return INVALIDATED;
  if (object.metadata.uid !== uid) {
    const what = kind === "node" ? "node UID" : `${kind} UID`;
    return `${what} (${object.metadata.uid}) does not match service account ${kind} ref claim (${uid})`;
  }
  return isGone(object, goneBefore) ? INVALIDATED : undefined;
}

function isGone({ metadata: { deletionTimestamp } }: Body, before: number): boolean {
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < before;
}

/** A token in a Secret is good while the Secret still holds it. */
export function holderOfSecretToken(store: Store, claims: Claims, token: string): User | string {
  const claim = (name: string): string =>
    typeof claims[`${SECRET_CLAIM}/${name}`] === "string" ? String(claims[`${SECRET_CLAIM}/${name}`]) : "";
  const namespace = claim("namespace");
  const account = { name: claim("service-account.name"), uid: claim("service-account.uid") };
  if (claims.sub !== accountUserName(namespace, account.name)) return "sub claim is invalid";
  const secret = store.get("/secrets", `${namespace}/${claim("secret.name")}`);
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return INVALIDATED;
  if (Buffer.from(textAt(secret, "data.token"), "base64").toString() !== token)
    return "service account token does not match server's copy";
  const wrong = accountFault(store, namespace, account, Number.POSITIVE_INFINITY);
  if (wrong !== undefined) return wrong;
  return { name: accountUserName(namespace, account.name), uid: account.uid, groups: accountGroups(namespace) };
}
