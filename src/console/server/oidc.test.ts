/** Sign-in by OpenID Connect: the code flow, and what attackers try with it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { systemClock as clock, type HttpRequest, json } from "@slipway/base";
import { pathWithin } from "./oidc.ts";
import { send, type TestConsole, testConsole, tokenFor } from "./testing.ts";

const ISSUER = "https://id.example";
const CONSOLE = "https://console.example";
const PAGE = { host: "console.example", origin: CONSOLE };

interface Provider {
  asked: HttpRequest[];
  claims: Record<string, unknown>;
  /** What the token endpoint answers, where it is not a token of the claims. */
  answer?: { status: number; body: object };
}

/** A console that signs in by a provider, which gives ID tokens with these claims. */
async function withProvider(t: TestContext, clientSecret?: string): Promise<TestConsole & { provider: Provider }> {
  const provider: Provider = { asked: [], claims: {} };
  const http = async (request: HttpRequest) => {
    provider.asked.push(request);
    if (request.method === "GET")
      return json(200, {
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
      });
    if (provider.answer !== undefined) return json(provider.answer.status, provider.answer.body);
    return json(200, {
      id_token: tokenFor("viewer", { iss: ISSUER, aud: "racks", exp: clock.now() / 1000 + 600, ...provider.claims }),
    });
  };
  const oidc = { issuer: ISSUER, clientId: "racks", url: CONSOLE, ...(clientSecret !== undefined && { clientSecret }) };
  const console = await testConsole({ urls: [CONSOLE], oidc }, { http });
  t.after(() => console.close());
  return { ...console, provider };
}

/** Begins a sign-in as the browser does; resolves with where it is sent, and its cookie. */
async function begun({ url }: TestConsole, returnTo = "/machines") {
  const { status, headers } = await send(url, `/console/oidc?return=${encodeURIComponent(returnTo)}`, {
    headers: PAGE,
  });
  assert.equal(status, 302);
  const cookie = headers["set-cookie"]![0]!;
  return { to: new URL(headers.location!), cookie: cookie.split(";")[0]!, attributes: cookie };
}

const comeBack = ({ url }: TestConsole, query: Record<string, string>, cookie: string) =>
  send(url, `/console/oidc/callback?${new URLSearchParams(query)}`, {
    headers: { host: PAGE.host, cookie, "sec-fetch-site": "cross-site" },
  });

test("the browser is sent to the provider with state, nonce and PKCE, and comes back to a session and the page it left", async (t) => {
  const console = await withProvider(t, "the-secret-of-the-client");
  const { provider, url, logged } = console;
  const { to, cookie, attributes } = await begun(console, "/machines?state=failed");
  assert.equal(`${to.origin}${to.pathname}`, `${ISSUER}/authorize`);
  const { state, nonce, code_challenge: challenge, ...rest } = Object.fromEntries(to.searchParams);
  assert.deepEqual(rest, {
    ...{ response_type: "code", client_id: "racks", redirect_uri: `${CONSOLE}/console/oidc/callback` },
    ...{ scope: "openid profile email groups", code_challenge_method: "S256" },
  });
  assert.match(
    attributes,
    /^slipway-console-oidc=[\w-]{43}; Path=\/console\/oidc; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/,
  );
  provider.claims = { nonce };
  const back = await comeBack(console, { code: "the-code-of-the-user", state: state! }, cookie);
  assert.deepEqual([back.status, back.headers.location], [302, "/machines?state=failed"]);
  const [, session] = back.headers["set-cookie"]!;
  assert.match(session!, /^slipway-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
  const who = await send(url, "/console/session", { headers: { host: PAGE.host, cookie: session!.split(";")[0]! } });
  assert.deepEqual([JSON.parse(who.body).user, JSON.parse(who.body).signIn.oidc], ["viewer", true]);
  const { headers, body } = provider.asked.at(-1)!;
  const form = new URLSearchParams(body);
  assert.equal(createHash("sha256").update(form.get("code_verifier")!).digest("base64url"), challenge);
  assert.equal(headers!.authorization, `Basic ${Buffer.from("racks:the-secret-of-the-client").toString("base64")}`);
  assert.doesNotMatch(logged.join("\n"), /the-code-of|the-secret-of|eyJ/);
});

test("a public client shows no secret", async (t) => {
  const console = await withProvider(t);
  const { to, cookie } = await begun(console);
  console.provider.claims = { nonce: to.searchParams.get("nonce") };
  assert.equal((await comeBack(console, { code: "c", state: to.searchParams.get("state")! }, cookie)).status, 302);
  const { headers, body } = console.provider.asked.at(-1)!;
  assert.equal(headers!.authorization, undefined);
  assert.equal(new URLSearchParams(body).get("client_id"), "racks");
});

test("an answer that this browser did not begin, that comes twice or is another's ends in no session", async (t) => {
  const console = await withProvider(t);
  const { provider, counts } = console;
  const fresh = async () => {
    const { to, cookie } = await begun(console);
    provider.claims = { nonce: to.searchParams.get("nonce") };
    return { cookie, state: to.searchParams.get("state")! };
  };
  const [mine, other] = [await fresh(), await fresh()];
  const tries: [string, Record<string, string>, string][] = [
    ["no cookie", { code: "c", state: mine.state }, ""],
    ["another's cookie", { code: "c", state: mine.state }, other.cookie],
    ["no state", { code: "c" }, mine.cookie],
    ["used up by the try before", { code: "c", state: mine.state }, mine.cookie],
  ];
  const third = await fresh();
  tries.push(["another provider's", { code: "c", state: third.state, iss: "https://evil.example" }, third.cookie]);
  const fourth = await fresh();
  tries.push(["refused", { error: "access_denied<script>", state: fourth.state }, fourth.cookie]);
  for (const [what, query, cookie] of tries) {
    const { status, headers, body } = await comeBack(console, query, cookie);
    assert.equal(status, 403, what);
    assert.match(headers["content-type"]!, /^application\/json/);
    assert.doesNotMatch(body, /<script>/);
  }
  assert.equal(provider.asked.filter(({ method }) => method === "POST").length, 0, "no code was redeemed");
  const claims = [
    { nonce: "another" },
    { iss: "https://evil.example" },
    { aud: "others" },
    { exp: clock.now() / 1000 - 1 },
    { exp: undefined },
  ];
  for (const wrong of claims) {
    const { to, cookie } = await begun(console);
    provider.claims = { nonce: to.searchParams.get("nonce"), ...wrong };
    assert.equal(
      (await comeBack(console, { code: "c", state: to.searchParams.get("state")! }, cookie)).status,
      403,
      JSON.stringify(wrong),
    );
  }
  provider.answer = { status: 400, body: { error: "invalid_grant", error_description: "<b>no</b>" } };
  const last = await fresh();
  assert.match((await comeBack(console, { code: "c", state: last.state }, last.cookie)).body, /400 invalid_grant/);
  assert.equal(counts().sessions, 0);
});

test("a token that the Kubernetes API does not take ends in no session", async (t) => {
  const console = await withProvider(t);
  const { to, cookie } = await begun(console);
  console.provider.claims = { nonce: to.searchParams.get("nonce"), sub: "somebody-else" };
  assert.equal((await comeBack(console, { code: "c", state: to.searchParams.get("state")! }, cookie)).status, 401);
  assert.equal(console.counts().sessions, 0);
});

test("nobody is sent to another site after signing in", () => {
  const outside = [
    ...[
      "//evil.example",
      "/\\evil.example",
      "\\\\evil.example",
      "https://evil.example",
      "javascript:alert(1)",
      "/%5cevil.example/\\x",
    ],
    ...[
      "evil.example",
      "",
      "/\t/evil.example",
      "/\n//evil.example",
      "/..//evil.example",
      "/.//evil.example",
      "/console/session",
      "/console/oidc",
    ],
    ...[undefined, 7, ["/a", "/b"], `/${"a".repeat(2_000)}`, "/é"],
  ];
  for (const path of outside) assert.equal(pathWithin(path), "/", String(path));
  for (const path of ["/", "/machines", "/machines/Instance/default/a?tab=yaml", "/object/apps/v1/deployments/a/b"])
    assert.equal(pathWithin(path), path);
  assert.equal(pathWithin("/%2f%2fevil.example"), "/%2f%2fevil.example");
});

test("without a provider there is no such way in", async (t) => {
  const console = await testConsole();
  t.after(() => console.close());
  for (const path of ["/console/oidc", "/console/oidc/callback?code=c"])
    assert.equal((await send(console.url, path)).status, 404);
});
