import assert from "node:assert/strict";
import { test } from "node:test";
import { json, plain, systemClock } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { selfSigned } from "@slipway/base/testing";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Store } from "../storage/store.ts";
import { callWebhook } from "./call.ts";
import { addressErrors } from "./client-config-rules.ts";
import { type WebhookHttp, webhookSockets } from "./http.ts";

const REVIEW = { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" };
const answering = (post: WebhookHttp["post"]): WebhookHttp => ({ post, close: async () => {} });
const hook = (url: string) => ({ clientConfig: { url }, timeoutSeconds: 5 });
const call = (http: WebhookHttp, url = "https://hooks/a") =>
  callWebhook({ clock: new VirtualClock(), store: new Store(), http }, hook(url), REVIEW, undefined);

const failing = (code: string) => async () => {
  throw Object.assign(new Error("no"), { cause: Object.assign(new Error("deep"), { code }) });
};
const refused: [answer: string, post: WebhookHttp["post"], text: RegExp][] = [
  [
    "nobody listens",
    failing("ECONNREFUSED"),
    /^Post "https:\/\/hooks\/a\?timeout=5s": dial tcp hooks:443: connect: connection refused$/,
  ],
  ["an unknown authority", failing("SELF_SIGNED_CERT_IN_CHAIN"), /x509: certificate signed by unknown authority$/],
  ["no such name", failing("ENOTFOUND"), /dial tcp: lookup hooks: no such host$/],
  ["a lost connection", failing("ECONNRESET"), /: EOF$/],
  ["404", async () => plain(404, ""), /^the server could not find the requested resource$/],
  ["403", async () => plain(403, "closed"), /^closed$/],
  [
    "500",
    async () => plain(500, "broken"),
    /^an error on the server \("broken"\) has prevented the request from succeeding$/,
  ],
  ["nothing", async () => plain(200, ""), /^0-length response with status code: 200/],
  ["a list", async () => json(200, []), /^couldn't get version\/kind; json parse error: json: cannot unmarshal array/],
  [
    "another kind",
    async () => json(200, { ...REVIEW, kind: "Other" }),
    /^no kind "Other" is registered for version "admission\.k8s\.io\/v1"/,
  ],
  ["a Status", async () => json(500, { kind: "Status", apiVersion: "v1", message: "said so" }), /^said so$/],
];
for (const [answer, post, text] of refused)
  test(`a webhook's answer: ${answer}`, async () => {
    await assert.rejects(call(answering(post)), (error: Error) => text.test(error.message));
  });

test("a webhook that does not answer in time is given up, though it goes on", async () => {
  const clock = new VirtualClock();
  const http = answering(() => new Promise(() => {}));
  const asked = callWebhook({ clock, store: new Store(), http }, hook("https://hooks/"), REVIEW, undefined);
  const given = assert.rejects(asked, /context deadline exceeded$/);
  await clock.run(5_000);
  await given;
  assert.equal(clock.pending, 0, "no timer is left");
});

test("a webhook is given up at once when the request that asks has ended already", async () => {
  const http = answering(() => Promise.resolve().then(() => json(200, REVIEW)));
  const at = { clock: new VirtualClock(), store: new Store(), http };
  const ended = AbortSignal.abort(new Error("the client left"));
  await assert.rejects(callWebhook(at, hook("https://hooks/a"), REVIEW, ended), /the client left/);
});

test("over sockets: the authority that is given counts, and a Service's name stands for the address of its endpoint", async () => {
  const clock = systemClock;
  const tls = await selfSigned("hooks.default.svc");
  const server = await serveHttp(async ({ url }) => json(200, { ...REVIEW, seen: url }), { tls });
  const http = webhookSockets(clock);
  const post = (trusted: string | undefined) =>
    http.post({
      url: `https://hooks.default.svc:${server.port}/a`,
      ca: trusted,
      address: "127.0.0.1",
      body: "{}",
      timeoutMs: 5_000,
      signal: undefined,
    });
  try {
    const { seen } = JSON.parse((await post(tls.cert)).body) as { seen: string };
    assert.equal(seen, `https://hooks.default.svc:${server.port}/a`);
    await assert.rejects(post(undefined), /self-signed certificate/);
  } finally {
    await http.close();
    await server.close();
  }
});

const addresses: [config: object, errors: string[]][] = [
  [{ url: "https://a/b" }, []],
  [
    { url: "http://a" },
    ["c.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]"],
  ],
  [{ url: "https://" }, ['c.url: Invalid value: "": host must be specified; desired format: https://host[/path]']],
  [
    { url: "https://u@a?q#f" },
    [
      'c.url: Invalid value: "u": user information is not permitted in the URL',
      'c.url: Invalid value: "f": fragments are not permitted in the URL',
      'c.url: Invalid value: "q": query parameters are not permitted in the URL',
    ],
  ],
  [{ service: { namespace: "a", name: "b", path: "/x/y/" } }, []],
  [
    { service: { namespace: "a", name: "b", path: "/x//y" } },
    ['c.service.path: Invalid value: "/x//y": segment[1] may not be empty'],
  ],
];
for (const [config, errors] of addresses)
  test(`a clientConfig ${JSON.stringify(config)} ${errors.length === 0 ? "is fine" : "is refused"}`, () => {
    assert.deepEqual(
      addressErrors(config as never, "c").map(({ field, message }) => `${field}: ${message}`),
      errors,
    );
  });
