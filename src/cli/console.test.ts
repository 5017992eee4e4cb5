/** The console of `slipway up` and `slipway operator`: where it listens, who signs in, and what is refused. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault, systemClock } from "@slipway/base";
import { send, signInWith } from "../console/server/testing.ts";
import { createAuthority, issueServer } from "../pki/authority.ts";
import { verb as operator } from "./operator.ts";
import { freePort, going, servedCluster, spoken, until } from "./testing.ts";
import { verb as up } from "./up.ts";

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "slipway-console-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

const USUAL = ["--port", "0", "--log-level", "error"];

test("up prints where the console is; its kubeconfig signs in as the administrator, by the client certificate in it", async (t) => {
  const dir = folder(t);
  const port = await freePort();
  const { line, stop } = going(t, up, "up", "--dir", dir, ...USUAL, "--console-port", `${port}`);
  const [, url = ""] = /^Console +(\S+)/.exec(await line(/^Console /))!;
  assert.equal(url, `http://127.0.0.1:${port}`);
  await line(/^Ctrl-C stops it/);
  const { status, headers, body } = await signInWith(url, {
    kubeconfig: readFileSync(join(dir, "kubeconfig"), "utf8"),
  });
  assert.equal(status, 200, body);
  assert.deepEqual(JSON.parse(body).user, "slipway-admin");
  const cookie = headers["set-cookie"]![0]!.split(";")[0]!;
  const pools = "/console/k8s/apis/equinix.harvesterhci.io/v1/instancepools";
  assert.equal((await send(url, pools, { headers: { cookie } })).status, 200);
  assert.equal((await stop()).code, 0);
  await assert.rejects(send(url, "/"), /ECONNREFUSED/);
});

test("without --console-port a taken port is no trouble; one that was chosen is, and what had been started ends", async (t) => {
  const dir = folder(t);
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  const { port } = taken.address() as { port: number };
  await assert.rejects(
    spoken(t, up, "up", "--dir", dir, ...USUAL, "--console-port", `${port}`),
    (error) =>
      isFault(error, "AlreadyExists") &&
      /another process listens there; choose another --console-port/.test(error.advice),
  );
  const { line, stop } = going(t, up, "up", "--dir", dir, ...USUAL, "--no-console");
  await line(/^Ctrl-C stops it/);
  assert.doesNotMatch((await stop()).out, /^Console/m);
});

test("an operator has a console where a port is given, and none of the operator's credentials in it", async (t) => {
  const { kubeconfig } = await servedCluster(t);
  const [health, console] = [await freePort(), await freePort()];
  const args = ["--kubeconfig", kubeconfig, "--systems", "providers", "--log-level", "error", "--no-leader-election"];
  const listens = [
    "--health-listen",
    `127.0.0.1:${health}`,
    "--boot-listen",
    "127.0.0.1:0",
    "--boot-url",
    "http://a.example",
  ];
  const { stop } = going(t, operator, "operator", ...args, ...listens, "--console-port", `${console}`);
  const url = `http://127.0.0.1:${console}`;
  const isThere = () =>
    send(url, "/console/session").then(
      ({ status }) => status === 401,
      () => false,
    );
  await until("the console answers", isThere);
  assert.equal((await send(url, "/console/k8s/api/v1/namespaces")).status, 401);
  assert.equal((await signInWith(url, { token: "nobodys-token" })).status, 401);
  assert.equal((await signInWith(url, { kubeconfig: readFileSync(kubeconfig, "utf8") })).status, 200);
  await stop();
});

test("with --console-cert an operator's console speaks TLS alone, and its cookie goes over nothing else", async (t) => {
  const { kubeconfig } = await servedCluster(t);
  const dir = folder(t);
  const authority = await createAuthority({ commonName: "site", clock: systemClock });
  const hosts = ["127.0.0.1"];
  const issued = await issueServer(authority, { commonName: "console", hosts, clock: systemClock });
  const [cert, key] = [join(dir, "tls.crt"), join(dir, "tls.key")];
  writeFileSync(cert, issued.certificatePem);
  writeFileSync(key, issued.keyPem);
  const port = await freePort();
  const args = ["--kubeconfig", kubeconfig, "--systems", "providers", "--log-level", "error", "--no-leader-election"];
  const health = ["--health-listen", "127.0.0.1:0"];
  const boot = ["--boot-listen", "127.0.0.1:0", "--boot-url", "http://a.example"];
  const web = ["--console-port", `${port}`, "--console-cert", cert, "--console-key", key];
  const { stop } = going(t, operator, "operator", ...args, ...health, ...boot, ...web);
  const origin = `https://127.0.0.1:${port}`;
  const ask = async (ca: string, body?: object): Promise<IncomingMessage> => {
    const headers = { "content-type": "application/json", origin };
    const asked = request(`${origin}/console/session`, { ca, method: body ? "POST" : "GET", headers, agent: false });
    asked.end(body && JSON.stringify(body));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    answer.resume();
    return answer;
  };
  const { certificatePem: ca } = authority;
  await until("the console answers", () =>
    ask(ca).then(
      ({ statusCode }) => statusCode === 401,
      () => false,
    ),
  );
  const { statusCode, headers } = await ask(ca, { kubeconfig: readFileSync(kubeconfig, "utf8") });
  assert.equal(statusCode, 200);
  assert.match(headers["set-cookie"]![0]!, /; Secure/);
  const other = await createAuthority({ commonName: "another", clock: systemClock });
  await assert.rejects(ask(other.certificatePem), /certificate/);
  await assert.rejects(send(`http://127.0.0.1:${port}`, "/console/session"));
  await stop();
});

test("half of a certificate, and half of a provider of identities, are refused before anything listens", async (t) => {
  const { kubeconfig } = await servedCluster(t);
  const listens = ["--health-listen", "127.0.0.1:0", "--boot-listen", "127.0.0.1:0", "--boot-url", "http://a.example"];
  const start = (...more: string[]) =>
    spoken(t, operator, "operator", "--kubeconfig", kubeconfig, ...listens, "--console-port", "0", ...more);
  for (const half of [
    ["--console-cert", "tls.crt"],
    ["--console-key", "tls.key"],
  ])
    await assert.rejects(
      start(...half),
      (error) => isFault(error, "BadRequest") && /belong together/.test(error.advice),
    );
  const issuer = ["--console-oidc-issuer", "https://id.example"];
  for (const half of [issuer, ["--console-oidc-client", "racks"], [...issuer, "--console-oidc-client", "racks"]])
    await assert.rejects(
      start(...half),
      (error) => isFault(error, "BadRequest") && /give --console-oidc-issuer, .* and --console-url/.test(error.advice),
    );
});
