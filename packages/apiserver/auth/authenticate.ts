import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock } from "@slipway/base";
import type { ServerRequest, User } from "../model/request.ts";
import { refusal } from "../model/status.ts";
import type { Store } from "../storage/store.ts";
import { ANONYMOUS, authenticated } from "./identity.ts";

/** Whose token this is; undefined when nobody's. */
export type Authenticator = (token: string) => User | undefined;

/** Tokens fixed at start. Compared by digest, so the time that it takes reveals nothing. */
export function staticTokens(tokens: Readonly<Record<string, User>>): Authenticator {
  const known = Object.entries(tokens).map(([token, user]) => ({ digest: digest(token), user }));
  return (token) => {
    const asked = digest(token);
    return known.find((k) => timingSafeEqual(k.digest, asked))?.user;
  };
}

const BOOTSTRAP_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** Bootstrap tokens `<id>.<secret>` from Secrets kube-system/bootstrap-token-<id>, as kubeadm writes them. Expired ones are refused, and those that claim other groups than bootstrappers'. */
export function bootstrapTokens(store: Store, clock: Clock): Authenticator {
  return (token) => {
    const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(token) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const stored = store.get("/secrets", `kube-system/bootstrap-token-${id}`);
    if (stored?.type !== "bootstrap.kubernetes.io/token" || stored.metadata.deletionTimestamp !== undefined)
      return undefined;
    const data = (stored.data ?? {}) as Record<string, string>;
    const field = (name: string): string => Buffer.from(data[name] ?? "", "base64").toString("utf8");
    if (!timingSafeEqual(digest(field("token-secret")), digest(secret)) || field("token-id") !== id) return undefined;
    if (field("usage-bootstrap-authentication") !== "true" || isOver(field("expiration"), clock.now()))
      return undefined;
    const groups = groupsIn(field("auth-extra-groups"));
    return groups && { name: `system:bootstrap:${id}`, groups };
  };
}

/** Undefined: there is one that is no bootstrapper's. */
function groupsIn(text: string): string[] | undefined {
  const extra = text.split(",").filter((group) => group !== "");
  if (!extra.every((group) => BOOTSTRAP_GROUP.test(group))) return undefined;
  return [...new Set(["system:bootstrappers", ...extra])].sort();
}

/** A time that can't be read is over. */
const isOver = (expires: string, now: number): boolean => expires !== "" && !(Date.parse(expires) > now);

/** The user that a verified client certificate's subject names: CN and every O; `fingerprint` (SHA-256, hex) says which certificate it was. */
export function userOfCertificate(
  subject: { CN?: string | string[]; O?: string | string[] },
  fingerprint: string,
): User | undefined {
  const name = [subject.CN ?? []].flat()[0];
  if (name === undefined) return undefined;
  return {
    name,
    groups: [subject.O ?? []].flat(),
    extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
  };
}

/**
 * Who sends a request: whom the connection names, else whose bearer token it carries, else nobody known. Throws Unauthorized for
 * credentials that are nobody's.
 */
export function whoAsks(
  { user, badCertificate, headers }: ServerRequest,
  authenticators: readonly Authenticator[],
): User {
  if (user !== undefined) return authenticated(user);
  const token = /^bearer +(\S+)/i.exec(headers.authorization?.trim() ?? "")?.[1];
  if (token !== undefined) {
    const found = ownerOf(token, authenticators);
    if (found !== undefined) return authenticated(found);
  }
  if (token !== undefined || badCertificate === true) throw refusal("Unauthorized", "Unauthorized");
  return ANONYMOUS;
}

/** Whose token it is, by the first authenticator that knows it. */
export function ownerOf(token: string, authenticators: readonly Authenticator[]): User | undefined {
  for (const authenticator of authenticators) {
    const user = authenticator(token);
    if (user !== undefined) return user;
  }
  return undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
