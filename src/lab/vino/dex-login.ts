/** What kubectl's plugin and a browser do to log a user in by an OpenID Connect provider: the authorization code flow with PKCE (RFC 6749, 7636). */
import { createHash } from "node:crypto";
import { request } from "node:https";

export interface Provider {
  issuer: string;
  ca: string;
  clientId: string;
  redirectUri: string;
}

export interface Tokens {
  id_token: string;
  refresh_token?: string;
}

interface Page {
  status: number;
  location: string | undefined;
  text: string;
}

const SCOPES = "openid email profile groups offline_access";
const MOST_PAGES = 12;

/** Logs in by a connector. Without a password the connector asks for none. Rejects with the page at which it ended. */
export async function login(
  provider: Provider,
  { connector, user }: { connector: string; user?: { name: string; password: string } },
): Promise<Tokens> {
  const verifier = createHash("sha256").update(provider.issuer).digest("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const query = new URLSearchParams({
    ...{ client_id: provider.clientId, redirect_uri: provider.redirectUri, response_type: "code", scope: SCOPES },
    ...{ state: "state-of-the-test", code_challenge: challenge, code_challenge_method: "S256" },
  });
  let url = `${provider.issuer}/auth/${connector}?${query}`;
  let form: URLSearchParams | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await ask(provider, url, form);
    form = undefined;
    if (page.location?.startsWith(provider.redirectUri)) {
      const code = new URL(page.location).searchParams.get("code");
      if (code === null) throw new Error(`no code: ${page.location}`);
      return await tokens(provider, { grant_type: "authorization_code", code, code_verifier: verifier });
    }
    if (page.location !== undefined) {
      url = new URL(page.location, url).href;
      continue;
    }
    const action = /<form method="post" action="([^"]*)"/.exec(page.text)?.[1];
    if (page.status !== 200 || action === undefined || user === undefined)
      throw new Error(`the login ended with status ${page.status}: ${page.text.replaceAll(/\s+/g, " ").slice(-600)}`);
    if (/Invalid (Email Address|username)/i.test(page.text)) throw new Error("the provider refuses the password");
    url = new URL(action.replaceAll("&amp;", "&"), url).href;
    form = new URLSearchParams({ login: user.name, password: user.password });
  }
  throw new Error(`the login did not end within ${MOST_PAGES} pages; the last is ${url}`);
}

/** A later token for who has logged in. */
export async function refreshed(provider: Provider, token: string): Promise<Tokens> {
  return await tokens(provider, { grant_type: "refresh_token", refresh_token: token });
}

async function tokens(provider: Provider, grant: Record<string, string>): Promise<Tokens> {
  const form = new URLSearchParams({
    ...{ client_id: provider.clientId, redirect_uri: provider.redirectUri },
    ...grant,
  });
  const page = await ask(provider, `${provider.issuer}/token`, form);
  if (page.status !== 200) throw new Error(`no token: ${page.status} ${page.text}`);
  return JSON.parse(page.text) as Tokens;
}

async function ask({ ca }: Provider, url: string, form?: URLSearchParams): Promise<Page> {
  const body = form?.toString();
  const headers = body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" };
  return await new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: body === undefined ? "GET" : "POST", ca, headers, timeout: 60_000 },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (more) => {
          text += more;
        });
        answer.on("error", reject).on("end", () => {
          resolve({ status: answer.statusCode!, location: answer.headers.location, text });
        });
      },
    );
    sent.on("error", reject).on("timeout", () => sent.destroy(new Error("no answer within a minute")));
    sent.end(body);
  });
}
