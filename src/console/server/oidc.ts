import { createHash } from "node:crypto";
import { type Clock, Fault, type Http, type Random } from "@slipway/base";
import { claimsOf } from "./credentials.ts";
import { secret } from "./session.ts";

/** A provider of identities whose ID tokens the Kubernetes API takes. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  /** Unset: a public client, for which PKCE stands alone. */
  clientSecret?: string;
  /** Base URL of the console, below which the provider sends browsers back. */
  url: string;
}

interface Provider {
  authorization: string;
  token: string;
  readAt: number;
}

interface Pending {
  state: string;
  nonce: string;
  verifier: string;
  returnTo: string;
  beganAt: number;
}

const PENDING_MS = 10 * 60_000;
const MOST_PENDING = 1_000;
const READ_AGAIN_MS = 10 * 60_000;
export const CALLBACK = "/console/oidc/callback";

/**
 * OpenID Connect's code flow with PKCE (RFC 7636), state and nonce. The ID token comes from the provider itself over TLS; the
 * Kubernetes API verifies its signature, as with every request.
 */
export class Oidc {
  readonly #of: OidcSettings;
  readonly #ports: { http: Http; clock: Clock; random: Random };
  readonly #pending = new Map<string, Pending>();
  #provider: Provider | undefined;

  constructor(of: OidcSettings, ports: { http: Http; clock: Clock; random: Random }) {
    this.#of = of;
    this.#ports = ports;
  }

  /** Where the browser goes, and what its cookie must hold when it comes back. */
  async begin(returnTo: unknown): Promise<{ location: string; cookie: string }> {
    const { clock, random } = this.#ports;
    const { authorization } = await this.#read();
    const now = clock.monotonic();
    for (const [key, { beganAt }] of this.#pending)
      if (now - beganAt > PENDING_MS || this.#pending.size >= MOST_PENDING) this.#pending.delete(key);
    const [cookie, state, nonce, verifier] = [secret(random), secret(random), secret(random), secret(random)] as const;
    this.#pending.set(cookie, { state, nonce, verifier, returnTo: pathWithin(returnTo), beganAt: now });
    const location = new URL(authorization);
    for (const [name, value] of Object.entries({
      ...{ response_type: "code", client_id: this.#of.clientId, redirect_uri: this.#back, state, nonce },
      ...{ scope: "openid profile email groups", code_challenge_method: "S256" },
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    }))
      location.searchParams.set(name, value);
    return { location: location.href, cookie };
  }

  /** Redeems the code that the browser brings. Rejects with `Refused` for what this browser did not begin, or the provider does not confirm. */
  async end(
    cookie: string | undefined,
    query: Readonly<Record<string, unknown>>,
  ): Promise<{ token: string; returnTo: string }> {
    const pending = cookie === undefined ? undefined : this.#pending.get(cookie);
    if (cookie !== undefined) this.#pending.delete(cookie);
    if (pending === undefined || this.#ports.clock.monotonic() - pending.beganAt > PENDING_MS)
      throw refused("this browser began no sign-in, or too long ago");
    if (query.state !== pending.state) throw refused("the answer belongs to another sign-in");
    if (query.iss !== undefined && query.iss !== this.#of.issuer) throw refused("the answer is another provider's");
    if (typeof query.code !== "string") throw refused(`the provider answered ${wordOf(query.error)}`);
    const token = await this.#redeem(query.code, pending.verifier);
    this.#judge(token, pending.nonce);
    return { token, returnTo: pending.returnTo };
  }

  get #back(): string {
    return `${this.#of.url}${CALLBACK}`;
  }

  async #redeem(code: string, verifier: string): Promise<string> {
    const { clientId, clientSecret } = this.#of;
    const { token } = await this.#read();
    const form = { grant_type: "authorization_code", code, redirect_uri: this.#back, code_verifier: verifier };
    const basic = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret ?? "")}`;
    const { status, body } = await this.#ports.http({
      method: "POST",
      url: token,
      headers: {
        ...{ "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
        ...(clientSecret !== undefined && { authorization: `Basic ${Buffer.from(basic).toString("base64")}` }),
      },
      body: new URLSearchParams({ ...form, ...(clientSecret === undefined && { client_id: clientId }) }).toString(),
    });
    const { id_token: idToken, error } = (objectOf(body) ?? {}) as Record<string, unknown>;
    if (status !== 200 || typeof idToken !== "string")
      throw refused(`the provider answered ${status} ${wordOf(error)}`);
    return idToken;
  }

  #judge(token: string, nonce: string): void {
    const { iss, aud, exp, nonce: said } = claimsOf(token) ?? {};
    if (iss !== this.#of.issuer) throw refused("the token is another provider's");
    if (![aud].flat().includes(this.#of.clientId)) throw refused("the token is for another client");
    if (said !== nonce) throw refused("the token belongs to another sign-in");
    if (typeof exp !== "number" || exp * 1000 <= this.#ports.clock.now()) throw refused("the token has expired");
  }

  /** What the provider says of itself, asked anew from time to time. */
  async #read(): Promise<Provider> {
    const { http, clock } = this.#ports;
    if (this.#provider !== undefined && clock.monotonic() - this.#provider.readAt < READ_AGAIN_MS)
      return this.#provider;
    const { issuer } = this.#of;
    const url = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
    const { status, body } = await http({ method: "GET", url });
    const said = (objectOf(body) ?? {}) as Record<string, unknown>;
    const { authorization_endpoint: authorization, token_endpoint: token } = said;
    const scheme = new URL(issuer).protocol;
    const isGood = (one: unknown): one is string => typeof one === "string" && URL.parse(one)?.protocol === scheme;
    if (status !== 200 || said.issuer !== issuer || !isGood(authorization) || !isGood(token))
      throw new Fault("Unavailable", issuer, `it does not describe itself as an OpenID provider (${status})`, {
        remedy: "check --console-oidc-issuer",
      });
    this.#provider = { authorization, token, readAt: clock.monotonic() };
    return this.#provider;
  }
}

/** A path of the console's own page, whatever was asked for. */
export function pathWithin(asked: unknown): string {
  if (
    typeof asked !== "string" ||
    asked.length > 1024 ||
    !/^\/(?![/\\])[\x21-\x7e]*$/.test(asked) ||
    asked.includes("\\")
  )
    return "/";
  const url = URL.parse(asked, "http://console.invalid");
  if (
    url === null ||
    url.host !== "console.invalid" ||
    url.pathname.startsWith("//") ||
    url.pathname.startsWith("/console")
  )
    return "/";
  return `${url.pathname}${url.search}`;
}

const wordOf = (error: unknown): string =>
  typeof error === "string" && /^[a-z_]{1,40}$/.test(error) ? error : "no code";

function objectOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const refused = (why: string): Fault =>
  new Fault("Refused", "sign-in", why, { remedy: "sign in once more from the console's page" });
