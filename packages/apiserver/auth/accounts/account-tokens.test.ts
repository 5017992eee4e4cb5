import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import type { Log } from "@slipway/base";
import type { ApiRequest } from "@slipway/kube";
import type { ServerAnswer } from "../../model/request.ts";
import type { Body } from "../../model/served.ts";
import { type World, world } from "../../testing.ts";
import { readToken } from "./jwt.ts";

const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const SECRETS = "/api/v1/namespaces/default/secrets";
const PODS = "/api/v1/namespaces/default/pods";
const REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";
const HOUR_MS = 3_600_000;

interface Issued extends Body {
  status: { token: string; expirationTimestamp: string };
  spec: { audiences: string[] };
}

async function withApp(run: (w: World) => Promise<void>, options: Parameters<typeof world>[0] = {}): Promise<void> {
  const w = await world(options);
  try {
    await w.ask("POST", ACCOUNTS, { metadata: { name: "app" } });
    await run(w);
  } finally {
    await w.close();
  }
}

async function tokenOf(w: World, spec: object = {}, account = "app"): Promise<string> {
  return ((await w.ask("POST", `${ACCOUNTS}/${account}/token`, { spec })) as Issued).status.token;
}

/** What TokenReview says of it. */
async function judged(w: World, token: string, audiences: readonly string[] = []) {
  const review = await w.ask("POST", REVIEWS, { spec: { token, audiences } });
  return review.status as { authenticated?: boolean; error?: string; user: { username?: string; extra?: object } };
}

function sentWith(w: World, token: string, method: ApiRequest["method"], path: string): Promise<ServerAnswer> {
  const headers = { authorization: `Bearer ${token}` };
  return w.server.handle({ method, path, query: new URLSearchParams(), headers });
}

test("a token names its account, and is let in as it", () =>
  withApp(async (w) => {
    const token = await tokenOf(w);
    const { user, authenticated } = await judged(w, token);
    assert.equal(authenticated, true);
    assert.equal(user.username, "system:serviceaccount:default:app");
    assert.deepEqual(Object.keys(user.extra!), ["authentication.kubernetes.io/credential-id"]);
    assert.equal((await sentWith(w, token, "GET", "/api")).status, 200);
    assert.equal((await sentWith(w, token, "GET", PODS)).status, 403);
    assert.equal((await sentWith(w, `${token}x`, "GET", "/api")).status, 401);
  }));

test("a token is for its audiences and no others", () =>
  withApp(async (w) => {
    const token = await tokenOf(w, { audiences: ["vault"] });
    assert.equal((await judged(w, token, ["vault", "other"])).authenticated, true);
    assert.match(
      (await judged(w, token)).error ?? "",
      /token audiences \["vault"\] is invalid for the target audiences/,
    );
    assert.equal((await sentWith(w, token, "GET", "/api")).status, 401);
  }));

test("a token ends with its time, and with its account even when one of the same name follows", () =>
  withApp(async (w) => {
    const token = await tokenOf(w);
    await w.clock.run(HOUR_MS + 61_000);
    assert.match((await judged(w, token)).error ?? "", /has expired/);
    const next = await tokenOf(w);
    await w.ask("DELETE", `${ACCOUNTS}/app`);
    assert.match((await judged(w, next)).error ?? "", /"app" not found/);
    await w.ask("POST", ACCOUNTS, { metadata: { name: "app" } });
    assert.match((await judged(w, next)).error ?? "", /does not match claim/);
  }));

test("a token that is bound to a Pod names it and ends with it", () =>
  withApp(async (w) => {
    const spec = { serviceAccountName: "app", containers: [{ name: "c", image: "i" }] };
    await w.ask("POST", PODS, { metadata: { name: "p" }, spec });
    const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "p" };
    const token = await tokenOf(w, { boundObjectRef, expirationSeconds: 3607 });
    const { user } = await judged(w, token);
    assert.deepEqual(Object.values(user.extra!)[1], ["p"]);
    const {
      exp,
      iat,
      "kubernetes.io": own,
    } = readToken(token)!.claims as { exp: number; iat: number; "kubernetes.io": { warnafter: number } };
    assert.deepEqual([exp - iat, own.warnafter - iat], [365 * 86_400, 3607], "a projected token warns before it ends");
    await w.ask("DELETE", `${PODS}/p`);
    assert.match((await judged(w, token)).error ?? "", /has been invalidated/);
  }));

test("tokens are asked for within bounds, and for what is there", () =>
  withApp(async (w) => {
    const refusals: [object, string][] = [
      [{ expirationSeconds: 599 }, "may not specify a duration less than 10 minutes"],
      [{ expirationSeconds: 2 ** 32 + 1 }, "may not specify a duration larger than 2^32 seconds"],
      [{ boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "no" } }, 'secrets "no" not found'],
      [
        { boundObjectRef: { kind: "Thing", apiVersion: "v1", name: "x" } },
        "cannot bind token to object of type /v1, Kind=Thing",
      ],
    ];
    for (const [spec, why] of refusals) {
      const { message } = await w.refused("POST", `${ACCOUNTS}/app/token`, { spec });
      assert.ok(message!.includes(why), message);
    }
    assert.equal((await w.refused("POST", `${ACCOUNTS}/no/token`, {})).code, 404);
  }));

test("a Secret that asks for a token gets one; the token is good while the Secret holds it", () =>
  withApp(async (w) => {
    const annotations = { "kubernetes.io/service-account.name": "app" };
    const type = "kubernetes.io/service-account-token";
    await w.ask("POST", SECRETS, { metadata: { name: "s", annotations }, type });
    await w.clock.settle();
    const { data } = await w.ask("GET", `${SECRETS}/s`);
    const { token, namespace } = data as { token: string; namespace: string };
    assert.equal(Buffer.from(namespace, "base64").toString(), "default");
    const text = Buffer.from(token, "base64").toString();
    assert.equal((await judged(w, text)).user.username, "system:serviceaccount:default:app");
    await w.ask("DELETE", `${SECRETS}/s`);
    assert.match((await judged(w, text)).error ?? "", /has been invalidated/);
    const stranger = { "kubernetes.io/service-account.name": "nobody" };
    await w.ask("POST", SECRETS, { metadata: { name: "t", annotations: stranger }, type });
    await w.clock.settle();
    assert.equal((await w.refused("GET", `${SECRETS}/t`)).code, 404);
  }));

test("an RSA key given as PEM signs RS256, and is published for whoever checks", async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await withApp(
    async (w) => {
      const token = await tokenOf(w);
      const { header, claims } = readToken(token)!;
      assert.deepEqual([header.alg, claims.iss], ["RS256", "https://issuer.example"]);
      assert.equal((await judged(w, token)).authenticated, true);
      const jwks = await w.ask("GET", "/openid/v1/jwks", undefined, { accept: "application/jwk-set+json" });
      const [published] = (jwks as unknown as { keys: Record<string, string>[] }).keys;
      assert.deepEqual([published!.kid, published!.kty, published!.d], [header.kid, "RSA", undefined]);
    },
    { accountTokens: { key, issuer: "https://issuer.example" } },
  );
});

test("tokens outlive a restart: the key is kept with the objects, and served to nobody", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-tokens-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const storage = { file: join(dir, "api.db") };
  const before = await world({ storage });
  await before.ask("POST", ACCOUNTS, { metadata: { name: "app" } });
  const token = await tokenOf(before);
  await before.close();
  const after = await world({ storage });
  t.after(() => after.close());
  assert.equal((await judged(after, token)).authenticated, true);
  assert.equal((await after.refused("GET", "/apis/slipway/v1/signing-keys")).code, 404);
});

test("no token is ever logged, good or bad", async () => {
  const lines: string[] = [];
  const note = (fields: object, message: string): void => void lines.push(inspect([fields, message], { depth: 20 }));
  const log: Log = { debug: note, info: note, warn: note, error: note, child: () => log };
  await withApp(
    async (w) => {
      const token = await tokenOf(w);
      const [, , signature = ""] = token.split(".");
      const bad = token.replace(signature, "broken");
      await judged(w, token);
      await judged(w, bad);
      for (const sent of [token, bad]) await sentWith(w, sent, "GET", PODS);
      await w.refused("POST", REVIEWS, { spec: { token }, metadata: 5 });
      const said = lines.join("\n");
      for (const part of token.split(".")) assert.ok(!said.includes(part), said);
    },
    { log },
  );
});

test("a Pod gets its account and, unless it declines, a token; an account that is not there is refused", () =>
  withApp(async (w) => {
    const containers = [{ name: "c", image: "i" }];
    const pod = await w.ask("POST", PODS, { metadata: { name: "p" }, spec: { containers } });
    const spec = pod.spec as {
      serviceAccountName: string;
      volumes: { name: string }[];
      containers: { volumeMounts: object[] }[];
    };
    assert.equal(spec.serviceAccountName, "default");
    assert.match(spec.volumes[0]!.name, /^kube-api-access-[a-z0-9]{5}$/);
    assert.equal(spec.containers[0]!.volumeMounts.length, 1);
    const quiet = { containers, automountServiceAccountToken: false };
    const without = await w.ask("POST", PODS, { metadata: { name: "q" }, spec: quiet });
    assert.equal((without.spec as { volumes?: unknown }).volumes, undefined);
    const { message } = await w.refused("POST", PODS, {
      metadata: { name: "r" },
      spec: { containers, serviceAccountName: "no" },
    });
    assert.equal(
      message,
      'pods "r" is forbidden: error looking up service account default/no: serviceaccount "no" not found',
    );
  }));

test("every namespace has the certificate that its Pods trust, whatever is done to it", async () => {
  const w = await world({ authority: "PEM" });
  const path = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
  await w.clock.settle();
  await w.ask("PATCH", path, { data: { "ca.crt": "another" } }, { contentType: "application/merge-patch+json" });
  await w.clock.settle();
  assert.deepEqual((await w.ask("GET", path)).data, { "ca.crt": "PEM" });
  await w.ask("DELETE", path);
  await w.clock.settle();
  assert.deepEqual((await w.ask("GET", path)).data, { "ca.crt": "PEM" });
  await w.close();
});

test("components find the authority of clients in kube-system, and nobody in another namespace", async () => {
  const w = await world({ authority: "PEM" });
  await w.clock.settle();
  const path = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/extension-apiserver-authentication`;
  assert.deepEqual((await w.ask("GET", path("kube-system"))).data, { "client-ca-file": "PEM" });
  assert.equal((await w.refused("GET", path("default"))).code, 404);
  await w.close();
});
