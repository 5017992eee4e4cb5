/**
 * Tokens of ServiceAccounts: issued on request or into Secrets, and judged. A token is as good as what it is bound to: the account,
 * and the Pod, Secret or Node that it names, must still be the ones it was made for.
 */
import { type Clock, type Random, uuid } from "@slipway/base";
import { textsAt } from "../../model/read.ts";
import type { Body } from "../../model/served.ts";
import type { Store } from "../../storage/store.ts";
import { accountUserName } from "../identity.ts";
import { quotedList } from "../rbac/rule-text.ts";
import type { TokenVerdict } from "../token-verdict.ts";
import { readToken, signToken, type UnverifiedToken } from "./jwt.ts";
import type { SigningKey } from "./signing-key.ts";
import { holderOf, holderOfSecretToken, SECRET_CLAIM } from "./token-holder.ts";

/** `iss` of the tokens in Secrets; they have no audience and never expire. */
const OLD_ISSUER = "kubernetes/serviceaccount";
const REMEMBERED = 1000;

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

/** Issues and judges tokens by the accounts, Pods, Secrets and Nodes of this store. */
export function accountTokens({ store, clock, random, key, issuer }: AccountTokensOptions): AccountTokens {
  const nowS = (): number => Math.floor(clock.now() / 1000);
  // A signature that was right stays right, and checking it costs more than all the rest of a request's way in.
  const genuine = new Set<string>();
  const isGenuine = (token: string, read: UnverifiedToken): boolean => {
    if (genuine.has(token)) return true;
    if (!read.isSignedBy(key())) return false;
    if (genuine.size >= REMEMBERED) genuine.clear();
    genuine.add(token);
    return true;
  };
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
        [`${SECRET_CLAIM}/namespace`]: namespace,
        [`${SECRET_CLAIM}/secret.name`]: secret.metadata.name,
        [`${SECRET_CLAIM}/service-account.name`]: name,
        [`${SECRET_CLAIM}/service-account.uid`]: uid,
        sub: accountUserName(namespace, name),
      };
      return signToken(claims, key());
    },
    judge(token, audiences) {
      const read = readToken(token);
      const iss = read?.claims.iss;
      if (read === undefined || (iss !== issuer && iss !== OLD_ISSUER)) return undefined;
      if (read.header.kid !== key().id) return { error: "invalid signature, no keys found" };
      if (!isGenuine(token, read)) return { error: "go-jose/go-jose: error in cryptographic primitive" };
      const { claims } = read;
      const isOld = iss === OLD_ISSUER;
      const shared = sharedAudiences(
        isOld ? [issuer] : textsAt(claims, "aud"),
        audiences.length === 0 ? [issuer] : audiences,
      );
      if (typeof shared === "string") return { error: shared };
      const holder = isOld ? holderOfSecretToken(store, claims, token) : holderOf(store, claims, nowS());
      return typeof holder === "string" ? { error: holder } : { user: holder, audiences: shared };
    },
  };
}

/** The audiences that are meant and wanted, or that there are none. */
function sharedAudiences(meant: readonly string[], wanted: readonly string[]): string[] | string {
  const shared = meant.filter((audience) => wanted.includes(audience));
  if (shared.length > 0) return shared;
  return `token audiences ${quotedList(meant)} is invalid for the target audiences ${quotedList(wanted)}`;
}

function referenceTo({ metadata: { name, uid } }: Body): { name: string; uid: string } {
  return { name, uid };
}
