import { type KeyObject, sign, verify } from "node:crypto";
import type { SigningKey } from "./signing-key.ts";

/** JSON Web Tokens in their compact form (RFC 7519, RFC 7515 §7.1). */

export type Claims = Readonly<Record<string, unknown>>;

export interface UnverifiedToken {
  header: Claims;
  /** Nobody vouches for them before `isSignedBy`. */
  claims: Claims;
  isSignedBy(key: SigningKey): boolean;
}

/** A signed token. Claims stand in the order of their names. */
export function signToken(claims: Claims, key: SigningKey): string {
  const sorted = Object.fromEntries(Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = `${encoded({ alg: key.algorithm, kid: key.id })}.${encoded(sorted)}`;
  return `${text}.${sign("sha256", Buffer.from(text), inCompactForm(key.private)).toString("base64url")}`;
}

/** A token's parts; undefined when the text is no JSON Web Token. */
export function readToken(token: string): UnverifiedToken | undefined {
  const [head = "", body = "", signature = "", ...more] = token.split(".");
  const [header, claims] = [decoded(head), decoded(body)];
  if (more.length > 0 || header === undefined || claims === undefined) return undefined;
  return {
    header,
    claims,
    isSignedBy: (key) =>
      header.alg === key.algorithm &&
      verify("sha256", Buffer.from(`${head}.${body}`), inCompactForm(key.public), Buffer.from(signature, "base64url")),
  };
}

/** ECDSA signatures are two numbers side by side (RFC 7518 §3.4), not DER. */
function inCompactForm(key: KeyObject): { key: KeyObject; dsaEncoding: "ieee-p1363" } {
  return { key, dsaEncoding: "ieee-p1363" };
}

function encoded(value: Claims): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decoded(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Claims) : undefined;
  } catch {
    return undefined;
  }
}
