/**
 * Tokens of ServiceAccounts: issued on request or into Secrets, and judged. A token is as good as what it is bound to: the account,
 * and the Pod, Secret or Node that it names, must still be the ones it was made for.
 */
import type { Clock } from "../../../base/clock.ts";
import { type Random, uuid } from "../../../base/random.ts";
import { at, textAt, textsAt } from "../../builtin/read.ts";
import type { User } from "../../request.ts";
import type { Body } from "../../served.ts";
import type { Store } from "../../storage/store.ts";
import { accountGroups, accountUserName } from "../identity.ts";
import { quotedList } from "../rbac/coverage.ts";
import type { TokenVerdict } from "../reviews.ts";
import { type Claims, readToken, signToken } from "./jwt.ts";
import type { SigningKey } from "./signing-key.ts";

/** `iss` of the tokens in Secrets; they have no audience and never expire. */
const OLD_ISSUER = "kubernetes/serviceaccount";
const OLD = "kubernetes.io/serviceaccount";
/** How far clocks may differ. */
const LEEWAY_S = 60;

export interface AccountTokensOptions {
  store: Store;
  clock: Pick<Clock, "now">;
  random: Random;
  key: () => SigningKey;
  issuer: string;
}

export interface TokenFor {
  account: Body;
  audiences: readonly string[];
  expiresInS: number;
  /** After so many seconds the holder should have a newer one. */
  warnAfterS?: number;
  bound?: { pod?: Body; secret?: Body; node?: NodeReference };
}

/** A Node by name; without a uid when it is gone already. */
export interface NodeReference {
  name: string;
  uid?: string;
}

export interface AccountTokens {
  issuer: string;
  key: () => SigningKey;
  issue(wanted: TokenFor): string;
  /** The token for a Secret of type `kubernetes.io/service-account-token`. */
  issueForSecret(account: Body, secret: Body): string;
  /** Undefined: it is none of these tokens. `audiences` empty: this API's. */
  judge(token: string, audiences: readonly string[]): TokenVerdict | undefined;
}

export function accountTokens({ store, clock, random, key, issuer }: AccountTokensOptions): AccountTokens {
  const nowS = (): number => Math.floor(clock.now() / 1000);
  return {
    issuer,
    key,
    issue({ account, audiences, expiresInS, warnAfterS, bound = {} }) {
      const { name, namespace = "", uid } = account.metadata;
      const now = nowS();
      const { pod, secret, node } = bound;
      const claims = {
        iss: issuer,
        sub: accountUserName(namespace, name),
        aud: audiences,
        iat: now,
        nbf: now,
        exp: now + expiresInS,
        jti: uuid(random),
        "kubernetes.io": {
          namespace,
          ...(node !== undefined && { node }),
          ...(pod !== undefined && { pod: referenceTo(pod) }),
          ...(secret !== undefined && { secret: referenceTo(secret) }),
          serviceaccount: { name, uid },
          ...(warnAfterS !== undefined && { warnafter: now + warnAfterS }),
        },
      };
      return signToken(claims, key());
    },
    issueForSecret(account, secret) {
      const { name, namespace = "", uid } = account.metadata;
      const claims = {
        iss: OLD_ISSUER,
        [`${OLD}/namespace`]: namespace,
        [`${OLD}/secret.name`]: secret.metadata.name,
        [`${OLD}/service-account.name`]: name,
        [`${OLD}/service-account.uid`]: uid,
        sub: accountUserName(namespace, name),
      };
      return signToken(claims, key());
    },
    judge(token, audiences) {
      const read = readToken(token);
      const iss = read?.claims.iss;
      if (read === undefined || (iss !== issuer && iss !== OLD_ISSUER)) return undefined;
      if (read.header.kid !== key().id) return { error: "invalid signature, no keys found" };
      if (!read.isSignedBy(key())) return { error: "go-jose/go-jose: error in cryptographic primitive" };
      const { claims } = read;
      const wanted = audiences.length === 0 ? [issuer] : audiences;
      const meant = iss === OLD_ISSUER ? [issuer] : textsAt(claims, "aud");
      const shared = meant.filter((audience) => wanted.includes(audience));
      if (shared.length === 0) {
        const error = `token audiences ${quotedList(meant)} is invalid for the target audiences ${quotedList(wanted)}`;
        return { error };
      }
      const holder = iss === OLD_ISSUER ? holderOfOld(store, claims, token) : holderOf(store, claims, nowS());
      return typeof holder === "string" ? { error: holder } : { user: holder, audiences: shared };
    },
  };
}

function referenceTo({ metadata: { name, uid } }: Body): { name: string; uid: string } {
  return { name, uid };
}

const INVALIDATED = "service account token has been invalidated";

/** Who holds a token with such claims, or what is wrong with it. */
function holderOf(store: Store, claims: Claims, now: number): User | string {
  const { exp, nbf, iat, jti } = claims;
  if (typeof exp !== "number" || now - LEEWAY_S > exp) return "service account token has expired";
  if (typeof nbf === "number" && now + LEEWAY_S < nbf) return "service account token is not valid yet";
  if (typeof iat === "number" && now + LEEWAY_S < iat) return "service account token is issued in the future";
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
    // A Pod's token tells of its Node, but is not bound to it.
    if (bound === undefined || (kind === "node" && at(own, "pod") !== undefined)) continue;
    const fault = boundFault(
      store,
      kind,
      namespace,
      { name: textAt(bound, "name"), uid: textAt(bound, "uid") },
      goneBefore,
    );
    if (fault !== undefined) return fault;
  }
  if (typeof jti === "string") note("credential-id", `JTI=${jti}`);
  for (const kind of ["pod", "node"]) {
    note(`${kind}-name`, textAt(own, `${kind}.name`));
    note(`${kind}-uid`, textAt(own, `${kind}.uid`));
  }
  const user = { name: accountUserName(namespace, account.name), uid: account.uid, groups: accountGroups(namespace) };
  return { ...user, extra };
}

interface Reference {
  name: string;
  uid: string;
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

function boundFault(
  store: Store,
  kind: "secret" | "pod" | "node",
  namespace: string,
  { name, uid }: Reference,
  goneBefore: number,
): string | undefined {
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
function holderOfOld(store: Store, claims: Claims, token: string): User | string {
  const claim = (name: string): string =>
    typeof claims[`${OLD}/${name}`] === "string" ? String(claims[`${OLD}/${name}`]) : "";
  const namespace = claim("namespace");
  const account = { name: claim("service-account.name"), uid: claim("service-account.uid") };
  if (claims.sub !== accountUserName(namespace, account.name)) return "sub claim is invalid";
  const secret = store.get("/secrets", `${namespace}/${claim("secret.name")}`);
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined)
    return "service account token has been invalidated";
  if (Buffer.from(textAt(secret, "data.token"), "base64").toString() !== token)
    return "service account token does not match server's copy";
  const wrong = accountFault(store, namespace, account, Number.POSITIVE_INFINITY);
  if (wrong !== undefined) return wrong;
  return { name: accountUserName(namespace, account.name), uid: account.uid, groups: accountGroups(namespace) };
}
