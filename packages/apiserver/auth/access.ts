/**
 * Who asks, and what they may do: the authenticators, the authorizer, the tokens of ServiceAccounts and the questions about all
 * of these, put together over a store. The server's parts that decide nothing by themselves are beside it in this folder.
 */
import type { Clock, Random } from "@slipway/base";
import type { Admission } from "../core/admission.ts";
import type { Authorize } from "../core/authorize.ts";
import type { Answer } from "../core/call.ts";
import type { ServerRequest, User } from "../model/request.ts";
import { type ServedResource, servedKey } from "../model/served.ts";
import type { Store } from "../storage/store.ts";
import { type AccountTokens, accountTokens } from "./accounts/account-tokens.ts";
import { podAccounts } from "./accounts/pod-admission.ts";
import { signingKey } from "./accounts/signing-key.ts";
import { requestToken } from "./accounts/token-request.ts";
import { type Authenticator, bootstrapTokens, ownerOf, staticTokens, whoAsks } from "./authenticate.ts";
import { type Authorizer, mastersOr } from "./authorize.ts";
import { certificateRequests } from "./certificate-requests.ts";
import { authenticated } from "./identity.ts";
import { rbac } from "./rbac/authorizer.ts";
import { noEscalation } from "./rbac/escalation.ts";
import { reviews } from "./reviews.ts";
import type { TokenVerdict } from "./token-verdict.ts";

export interface AccessOptions {
  /** Bearer tokens and whose they are. Bootstrap tokens (Secrets in kube-system) are known anyway. */
  tokens?: Readonly<Record<string, User>>;
  authenticators?: readonly Authenticator[];
  /** Asked about everybody outside `system:masters`. The Roles and bindings in the store decide unless said. */
  authorize?: Authorize;
  /** How ServiceAccount tokens are signed. Unset: by a key that is made when it is first needed, and kept in the store. */
  accountTokens?: {
    /** PEM of a private key, RSA or EC on P-256. */
    key?: string;
    /** `iss`, and the audience that means this API. `https://kubernetes.default.svc.cluster.local` unless said. */
    issuer?: string;
  };
}

export interface Access {
  authorizer: Authorizer;
  tokens: AccountTokens;
  /** Who sends a request. Throws Unauthorized. */
  whoAsks(request: ServerRequest): User;
  /** The resources that are questions. */
  questions: readonly ServedResource[];
  /** `Core.answers`: of the questions, and of the request for a token. */
  answers: ReadonlyMap<string, Answer>;
  /** The server's own admission of Pods, of roles and of requests for certificates. */
  admission: readonly Admission[];
}

const ISSUER = "https://kubernetes.default.svc.cluster.local";
const NOBODYS = "invalid bearer token";

/** `provideDefault` makes a namespace's default ServiceAccount when it is not there yet. */
export function accessTo(
  { store, clock, random }: { store: Store; clock: Clock; random: Random },
  options: AccessOptions,
  provideDefault: (namespace: string) => Promise<void>,
): Access {
  const { authorize, rulesFor } =
    options.authorize === undefined
      ? rbac(store)
      : { authorize: options.authorize, rulesFor: () => ({ rules: [], incomplete: true }) };
  const authorizer = { authorize: mastersOr(authorize), rulesFor };
  const { key, issuer = ISSUER } = options.accountTokens ?? {};
  const tokens = accountTokens({ store, clock, random, key: signingKey(store, key), issuer });
  const others = [staticTokens(options.tokens ?? {}), bootstrapTokens(store, clock), ...(options.authenticators ?? [])];
  const ofAccounts: Authenticator = (token) => {
    const verdict = tokens.judge(token, []);
    return verdict !== undefined && "user" in verdict ? verdict.user : undefined;
  };
  const judge = (token: string, audiences: readonly string[]): TokenVerdict => {
    const verdict = tokens.judge(token, audiences);
    if (verdict !== undefined && "user" in verdict) return { ...verdict, user: authenticated(verdict.user) };
    if (verdict !== undefined) return { error: `[${NOBODYS}, ${verdict.error}]` };
    // These tokens know no audiences: they are for this API.
    const user = audiences.length === 0 || audiences.includes(issuer) ? ownerOf(token, others) : undefined;
    return user === undefined ? { error: NOBODYS } : { user: authenticated(user), audiences: [issuer] };
  };
  const asked = reviews(authorizer, judge);
  return {
    authorizer,
    tokens,
    whoAsks: (request) => whoAsks(request, [...others, ofAccounts]),
    questions: asked.map(({ resource }) => resource),
    answers: new Map([
      ...asked.map(({ resource: { group, version, plural }, answer }): [string, Answer] => [
        servedKey(group, version, plural),
        answer,
      ]),
      [`${servedKey("", "v1", "serviceaccounts")}/token`, (call) => requestToken(call, tokens)],
    ]),
    admission: [
      podAccounts(store, random, provideDefault),
      noEscalation(store, authorizer),
      certificateRequests(authorizer.authorize, clock),
    ],
  };
}
