import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { User } from "../request.ts";
import type { Store } from "../storage/store.ts";

/** Whose token this is; undefined when nobody's. */
export type Authenticator = (token: string) => User | undefined;

/** Tokens fixed at start. Compared by digest, so the time tells nothing. */
export function staticTokens(tokens: Readonly<Record<string, User>>): Authenticator {
  const known = Object.entries(tokens).map(([token, user]) => ({ digest: digest(token), user }));
  return (token) => {
    const asked = digest(token);
    return known.find((k) => timingSafeEqual(k.digest, asked))?.user;
  };
}

/** Bootstrap tokens `<id>.<secret>` from Secrets kube-system/bootstrap-token-<id>, as kubeadm writes them. Expired ones are refused. */
export function bootstrapTokens(store: Store, clock: Clock): Authenticator {
  return (token) => {
    const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(token) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const stored = store.get("/secrets", `kube-system/bootstrap-token-${id}`);
    if (stored?.type !== "bootstrap.kubernetes.io/token" || stored.metadata.deletionTimestamp !== undefined)
      return undefined;
    const data = (stored.data ?? {}) as Record<string, string>;
    const field = (name: string): string => Buffer.from(data[name] ?? "", "base64").toString("utf8");
    const expires = field("expiration");
    if (!timingSafeEqual(digest(field("token-secret")), digest(secret)) || field("token-id") !== id) return undefined;
    if (field("usage-bootstrap-authentication") !== "true") return undefined;
    if (expires !== "" && !(Date.parse(expires) > clock.now())) return undefined;
    const extra = field("auth-extra-groups")
      .split(",")
      .filter((g) => g.startsWith("system:bootstrappers:"));
    return { name: `system:bootstrap:${id}`, groups: ["system:bootstrappers", ...extra, "system:authenticated"] };
  };
}

/** The user that a verified client certificate's subject names: CN and every O. */
export function userOfCertificate(subject: { CN?: string | string[]; O?: string | string[] }): User | undefined {
  const name = [subject.CN ?? []].flat()[0];
  return name === undefined ? undefined : { name, groups: [...[subject.O ?? []].flat(), "system:authenticated"] };
}

/** The first authenticator that knows the bearer token of the request. */
export function bearer(header: string | undefined, authenticators: readonly Authenticator[]): User | undefined {
  const token = /^bearer\s+(\S+)$/i.exec(header ?? "")?.[1];
  if (token === undefined) return undefined;
  for (const authenticator of authenticators) {
    const user = authenticator(token);
    if (user !== undefined) return user;
  }
  return undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
