/** What the console lets through, and to whom: on the embedded API with its RBAC. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { ConfigMap } from "@slipway/kube/core";
import { Browser, send, signInWith, type TestConsole, TOKENS, testConsole } from "./testing.ts";

async function started(t: TestContext, ...of: Parameters<typeof testConsole>): Promise<TestConsole> {
  const console = await testConsole(...of);
  t.after(() => console.close());
  return console;
}

const MAPS = "/console/k8s/api/v1/namespaces/default/configmaps";
const message = ({ body }: { body: string }): string => (JSON.parse(body) as { message: string }).message;

test("the page comes with a policy that runs nothing but its own files, frames nothing and is framed by nobody", async (t) => {
  const { url } = await started(t);
  for (const path of ["/", "/machines/Instance/default/a"]) {
    const { status, headers, body } = await send(url, path, { headers: { accept: "text/html" } });
    assert.equal(status, 200);
    assert.match(body, /<title>Slipway<\/title>/);
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.equal(headers["x-frame-options"], "DENY");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["cache-control"], "no-cache");
  }
  const file = await send(url, "/assets/main-TEST.js");
  assert.equal(file.headers["content-type"], "text/javascript; charset=utf-8");
  assert.match(file.headers["cache-control"]!, /immutable/);
  const squeezed = await send(url, "/", { headers: { accept: "text/html", "accept-encoding": "gzip" } });
  assert.equal(squeezed.headers["content-encoding"], "gzip");
});

test("files are those of the page alone, however a path is written", async (t) => {
  const { url } = await started(t);
  for (const path of [
    "/assets/../package.json",
    "/assets/%2e%2e/%2e%2e/etc/passwd",
    "/assets//etc/passwd",
    "/assets/main-OTHER.js",
  ])
    assert.equal((await send(url, path)).status, 404, path);
  assert.equal((await send(url, "/assets/..%00")).status, 404);
});

test("signing in shows who one is by the API's word; a token that is nobody's is refused, and none is ever logged", async (t) => {
  const { url, logged } = await started(t);
  assert.deepEqual(JSON.parse((await send(url, "/console/session")).body).signIn, { token: true, oidc: false });
  const answer = await signInWith(url, { token: TOKENS.viewer });
  const { user, groups, features } = JSON.parse(answer.body);
  assert.deepEqual([user, groups, features], ["viewer", ["system:authenticated"], { serial: false, logs: false }]);
  assert.match(answer.headers["set-cookie"]![0]!, /^slipway-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  assert.doesNotMatch(answer.body, new RegExp(TOKENS.viewer));
  const wrong = await signInWith(url, { token: "a-wrong-token-of-somebody" });
  assert.equal(wrong.status, 401);
  assert.match(message(wrong), /does not accept these credentials/);
  for (const body of [
    {},
    { token: 7 },
    { token: "two words" },
    { token: "a", kubeconfig: "b" },
    { kubeconfig: "nonsense: [" },
  ])
    assert.ok([400, 401].includes((await signInWith(url, body)).status), JSON.stringify(body));
  assert.match(logged.join("\n"), /signed in to the console \{"user":"viewer","by":"token"\}/);
  assert.doesNotMatch(logged.join("\n"), /token-of|a-wrong-token/);
});

test("a kubeconfig gives the credentials of its current context alone: its server is not asked, its files and plugins are not touched", async (t) => {
  const { url } = await started(t);
  const config = (user: object) =>
    JSON.stringify({
      "current-context": "here",
      contexts: [{ name: "here", context: { cluster: "c", user: "u" } }],
      clusters: [{ name: "c", cluster: { server: "http://192.0.2.1:1" } }],
      users: [{ name: "u", user }],
    });
  const good = await signInWith(url, { kubeconfig: config({ token: TOKENS.viewer }) });
  assert.equal(JSON.parse(good.body).user, "viewer");
  const refusals: [object, RegExp][] = [
    [{ exec: { command: "/bin/sh" } }, /plugin/],
    [{ tokenFile: "/etc/passwd" }, /names files/],
    [{ "client-certificate": "/etc/passwd", "client-key": "/etc/passwd" }, /names files/],
    [{}, /neither a token nor a client certificate/],
  ];
  for (const [user, why] of refusals) assert.match(message(await signInWith(url, { kubeconfig: config(user) })), why);
});

test("a session begins under an id of the console's own choice, and signing in again ends the one before", async (t) => {
  const console = await started(t);
  const planted = `slipway-console=${"A".repeat(43)}`;
  const first = await signInWith(console.url, { token: TOKENS.viewer }, { cookie: planted });
  const [cookie = ""] = first.headers["set-cookie"]![0]!.split(";");
  assert.notEqual(cookie, planted);
  assert.equal((await send(console.url, "/console/session", { headers: { cookie: planted } })).status, 401);
  await signInWith(console.url, { token: TOKENS.viewer }, { cookie });
  assert.equal((await send(console.url, "/console/session", { headers: { cookie } })).status, 401);
  assert.equal(console.counts().sessions, 1);
});

test("signing out ends the session and its streams", async (t) => {
  const { url, counts } = await started(t);
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const events = await viewer.events("configmaps");
  assert.equal((await viewer.ask("/console/session", { method: "DELETE" })).status, 204);
  await events.until("end of the stream", ({ ended }) => ended);
  assert.equal((await viewer.ask(MAPS)).status, 401);
  assert.equal(counts().sessions, 0);
});

test("the API decides by the user's own rights, and its answer comes as it is", async (t) => {
  const { url, client } = await started(t);
  await client.create(ConfigMap, { metadata: { name: "shown", namespace: "default" } });
  const admin = await Browser.signIn(url, TOKENS.admin);
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const nobody = await Browser.signIn(url, TOKENS.nobody);
  assert.equal((await viewer.ask(`${MAPS}/shown`)).status, 200);
  const body = JSON.stringify({ metadata: { name: "made" } });
  const denied = await viewer.ask(MAPS, { method: "POST", body });
  assert.equal(denied.status, 403);
  assert.match(message(denied), /^configmaps is forbidden: User "viewer" cannot create resource "configmaps"/);
  assert.equal((await nobody.ask(MAPS)).status, 403);
  assert.equal((await admin.ask(MAPS, { method: "POST", body })).status, 201);
  assert.equal((await admin.ask(MAPS, { method: "POST", body })).status, 409);
  assert.equal((await admin.ask(`${MAPS}/none`)).status, 404);
  const patch = {
    method: "PATCH",
    body: `{"data":{"a":"1"}}`,
    headers: { "content-type": "application/merge-patch+json" },
  };
  assert.equal(JSON.parse((await admin.ask(`${MAPS}/made`, patch)).body).data.a, "1");
  assert.equal((await admin.ask(`${MAPS}/made`, { method: "DELETE" })).status, 200);
});

test("nobody becomes another by a header, and nothing of the browser's request but the body's type goes along", async (t) => {
  const { url } = await started(t);
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  const headers = {
    ...{
      "impersonate-user": "admin",
      "impersonate-group": "system:masters",
      "impersonate-extra-a": "b",
      "impersonate-uid": "1",
    },
    ...{ authorization: `Bearer ${TOKENS.admin}`, "x-remote-user": "admin", "x-forwarded-user": "admin" },
    connection: "close, authorization",
  };
  const path = "/console/k8s/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const { status, body } = await viewer.ask(path, { method: "POST", body: "{}", headers });
  assert.equal(status, 201);
  assert.equal(JSON.parse(body).status.userInfo.username, "viewer");
  assert.equal((await viewer.ask("/console/k8s/api/v1/nodes", { headers })).status, 403);
});

test("a change needs the session's own word and an Origin of ours; a read from another site's page is refused", async (t) => {
  const { url, host } = await started(t);
  const admin = await Browser.signIn(url, TOKENS.admin);
  const body = JSON.stringify({ metadata: { name: "forged" } });
  const type = { "content-type": "application/json" };
  const forged: Record<string, string>[] = [
    { origin: url },
    { origin: url, "x-slipway-csrf": "" },
    { origin: url, "x-slipway-csrf": `${admin.csrf}x` },
    { "x-slipway-csrf": admin.csrf },
    { origin: "http://evil.example", "x-slipway-csrf": admin.csrf },
    { origin: "null", "x-slipway-csrf": admin.csrf },
    { origin: `https://${host}`, "x-slipway-csrf": admin.csrf },
    { origin: `http://${host}.evil.example`, "x-slipway-csrf": admin.csrf },
    { origin: `http://127.0.0.1:1`, "x-slipway-csrf": admin.csrf },
    { origin: url, "x-slipway-csrf": admin.csrf, "sec-fetch-site": "cross-site" },
  ];
  for (const headers of forged) {
    const sent = { method: "POST", body, headers: { cookie: admin.cookie, ...type, ...headers } };
    assert.equal((await send(url, MAPS, sent)).status, 403, JSON.stringify(headers));
  }
  assert.equal((await admin.ask(`${MAPS}/forged`)).status, 404);
  // A form of another site sends no JSON; another user's word is no word of ours.
  const form = { "content-type": "text/plain" };
  assert.equal((await admin.ask(MAPS, { method: "POST", body, headers: form })).status, 415);
  const viewer = await Browser.signIn(url, TOKENS.viewer);
  assert.equal(
    (await admin.ask(MAPS, { method: "POST", body, headers: { "x-slipway-csrf": viewer.csrf } })).status,
    403,
  );
  for (const site of ["cross-site", "same-site"])
    assert.equal((await admin.ask(MAPS, { headers: { "sec-fetch-site": site } })).status, 403);
  const elsewhere = await signInWith(url, { token: TOKENS.viewer }, { origin: "http://evil.example" });
  assert.equal(elsewhere.status, 403);
});

test("it answers under loopback's name, addresses and the names that were given, and no other (DNS rebinding)", async (t) => {
  const { url } = await started(t, { urls: ["https://console.example"] });
  for (const host of ["localhost:8090", "127.0.0.1", "10.0.0.5:80", "[::1]:8090", "console.example"])
    assert.equal((await send(url, "/console/session", { headers: { host } })).status, 401, host);
  const foreign = [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "console.example:444",
    "a b",
    "[evil]",
  ];
  for (const host of foreign)
    assert.equal((await send(url, "/console/session", { headers: { host } })).status, 403, host);
  const proxied = await signInWith(
    url,
    { token: TOKENS.viewer },
    { host: "console.example", origin: "https://console.example" },
  );
  assert.match(proxied.headers["set-cookie"]![0]!, /; Secure$/);
  const plain = await signInWith(
    url,
    { token: TOKENS.viewer },
    { host: "console.example", origin: "http://console.example" },
  );
  assert.equal(plain.status, 403);
});

test("the API gets no path that another reader could take for another, no Secret, no token, no connection and no watch", async (t) => {
  const { url } = await started(t);
  const admin = await Browser.signIn(url, TOKENS.admin);
  const strange = [
    ...[
      "/",
      "/metrics",
      "/healthz",
      "/logs",
      "/.well-known/openid-configuration",
      "/apis/../metrics",
      "/api/v1/../../metrics",
    ],
    ...[
      "/api/v1/%2e%2e/metrics",
      "/api/v1/%2E/x",
      "/api/v1/a%2fb",
      "/api/v1/a%5cb",
      "/api/v1/a\\b",
      "/api//v1",
      "//evil.example/api",
    ],
    ...[
      "/api/v1/%00",
      "/api/v1/%zz",
      "/api/v1/a%0d%0ab",
      "/api/v1/%25",
      "/@evil.example/api",
      "/api/v1/nodes?a=1&a=2",
      "/api;x/v1",
    ],
  ];
  for (const path of strange) assert.equal((await admin.ask(`/console/k8s${path}`)).status, 400, path);
  const closed = [
    ...[
      "/api/v1/secrets",
      "/api/v1/namespaces/default/secrets",
      "/api/v1/namespaces/default/secrets/a",
      "/api/v1/%73ecrets",
    ],
    ...[
      "/api/v1/nodes/a/proxy",
      "/api/v1/namespaces/default/services/a/proxy/b",
      "/api/v1/namespaces/default/pods/a/exec",
    ],
    ...[
      "/api/v1/namespaces/default/pods/a/attach",
      "/api/v1/namespaces/default/pods/a/portforward",
      "/api/v1/proxy/nodes/a",
    ],
  ];
  for (const path of closed) assert.equal((await admin.ask(`/console/k8s${path}`)).status, 403, path);
  const token = { method: "POST", body: "{}" };
  assert.equal(
    (await admin.ask("/console/k8s/api/v1/namespaces/default/serviceaccounts/default/token", token)).status,
    403,
  );
  for (const path of [
    "/api/v1/nodes?watch",
    "/api/v1/nodes?watch=true",
    "/api/v1/watch/nodes",
    "/apis/apps/v1/watch/deployments",
  ])
    assert.equal((await admin.ask(`/console/k8s${path}`)).status, 400, path);
  assert.equal(
    (await admin.ask("/console/k8s/api/v1/nodes", { headers: { upgrade: "websocket", connection: "upgrade" } })).status,
    403,
  );
  assert.equal((await admin.ask("/console/k8s/api/v1/namespaces/default/configmaps?limit=1")).status, 200);
});

/** Sends bytes as they are; resolves with what came until the connection was closed. */
function raw(url: string, text: string): Promise<string> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    let got = "";
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(text));
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      got += chunk;
    });
    socket.on("close", () => resolve(got));
    socket.on("error", reject);
  });
}

test("requests that two readers could cut differently are refused, and nothing after them is answered", async (t) => {
  const { url, host, client } = await started(t);
  await client.create(ConfigMap, { metadata: { name: "kept", namespace: "default" } });
  const admin = await Browser.signIn(url, TOKENS.admin);
  const heads = `Host: ${host}\r\nCookie: ${admin.cookie}\r\nOrigin: ${url}\r\nx-slipway-csrf: ${admin.csrf}\r\nContent-Type: application/json`;
  const hidden = `DELETE ${MAPS}/kept HTTP/1.1\r\n${heads}\r\nConnection: close\r\n\r\n`;
  const begins = `POST ${MAPS} HTTP/1.1\r\n${heads}\r\n`;
  const mixed: string[] = [
    `${begins}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `${begins}Content-Length: 0\r\nContent-Length: 5\r\n\r\n${hidden}`,
    `${begins}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
    `${begins}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `${begins}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n${hidden}`,
  ];
  for (const text of mixed) {
    const answer = await raw(url, text);
    assert.match(answer, /^HTTP\/1\.1 400 /, JSON.stringify(text.slice(0, 60)));
    assert.equal(answer.match(/HTTP\/1\.1 \d/g)?.length, 1);
  }
  for (const head of [
    `GET http://${host}/console/session HTTP/1.1\r\nHost: ${host}`,
    `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}`,
  ])
    assert.match(await raw(url, `${head}\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 40[03] /, head);
  assert.ok(await client.find(ConfigMap, { namespace: "default", name: "kept" }));
});

test("what a machine says is data: no text of the API is a page, and none runs", async (t) => {
  const { url, client } = await started(t);
  const evil = "<script>alert(1)</script>";
  await client.create(ConfigMap, { metadata: { name: "evil", namespace: "default", annotations: { a: evil } } });
  const admin = await Browser.signIn(url, TOKENS.admin);
  for (const path of [
    `${MAPS}/evil`,
    `${MAPS}?fieldSelector=${encodeURIComponent(evil)}`,
    `/console/${evil}`,
    `/console/k8s/${evil}`,
  ]) {
    const { headers } = await admin.ask(encodeURI(path), { headers: { accept: "text/html" } });
    assert.match(headers["content-type"]!, /^(application\/json|text\/plain); charset=utf-8$/, path);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.match(String(headers["content-security-policy"]), /^default-src 'none'; frame-ancestors 'none'; sandbox$/);
    assert.equal(headers["cache-control"], "no-store");
  }
});

test("bodies are bounded", async (t) => {
  const { url } = await started(t);
  const long = "x".repeat(300 * 1024);
  assert.equal((await signInWith(url, { kubeconfig: long })).status, 413);
  const admin = await Browser.signIn(url, TOKENS.admin);
  const body = JSON.stringify({ metadata: { name: "long" }, data: { a: "x".repeat(3 * 1024 * 1024) } });
  assert.equal((await admin.ask(MAPS, { method: "POST", body })).status, 413);
});
