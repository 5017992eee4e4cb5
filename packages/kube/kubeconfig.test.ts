import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { fileToken } from "./credentials.ts";
import { connectionOf, fromKubeconfig, inCluster, loadConnection } from "./kubeconfig.ts";

async function inFolder(files: Record<string, string>, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const CONFIG = `
apiVersion: v1
kind: Config
current-context: by-cert
contexts:
- {name: by-cert, context: {cluster: c, user: cert, namespace: team}}
- {name: by-file, context: {cluster: c, user: file}}
- {name: by-plugin, context: {cluster: c, user: plugin}}
- {name: broken, context: {cluster: nowhere, user: cert}}
clusters:
- {name: c, cluster: {server: "https://10.0.0.1:6443", certificate-authority: ca.crt, tls-server-name: kube}}
users:
- {name: cert, user: {client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")}}}
- {name: file, user: {token: old, tokenFile: token}}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: /bin/sh
      args: ["-c", "echo '{\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"made\\"}}'"]
      interactiveMode: Never
`;
const FILES = { config: CONFIG, "ca.crt": "CA", token: "fresh\n" };
const clock = new VirtualClock();

test("a context with certificates: paths are relative to the file", async () => {
  await inFolder(FILES, async (folder) => {
    const env = { KUBECONFIG: join(folder, "config") };
    const { certificates, ...connection } = await loadConnection({ env, clock });
    assert.equal(typeof certificates, "function", "the CA is in a file");
    assert.deepEqual(connection, {
      server: "https://10.0.0.1:6443",
      ca: "CA",
      cert: "CERT",
      key: "KEY",
      serverName: "kube",
      namespace: "team",
    });
  });
});

test("a token file goes before a token", async () => {
  await inFolder(FILES, async (folder) => {
    const connection = await fromKubeconfig(join(folder, "config"), { clock, context: "by-file" });
    assert.equal(await connection.authorization?.(false), "Bearer fresh");
  });
});

test("an exec plugin is asked for the token", async () => {
  await inFolder(FILES, async (folder) => {
    const connection = await fromKubeconfig(join(folder, "config"), { clock, context: "by-plugin" });
    assert.equal(await connection.authorization?.(false), "Bearer made");
  });
});

test("what is wrong with a kubeconfig is said, without quoting it", async () => {
  const files = { ...FILES, torn: "users: [{name: x, user: {token: hunter22", list: "- 1", flat: "users: 3" };
  await inFolder(files, async (folder) => {
    const load = (file: string, context?: string): Promise<unknown> =>
      fromKubeconfig(join(folder, file), { clock, ...(context === undefined ? {} : { context }) });
    await assert.rejects(load("config", "none"), /it has no context "none"/);
    await assert.rejects(load("config", "broken"), /cluster "nowhere" has no server/);
    await assert.rejects(load("list"), /it is not a mapping/);
    await assert.rejects(load("flat"), /users is not a list/);
    await assert.rejects(load("missing"), { code: "MissingInput" });
    const torn = await load("torn").catch((e: Error) => e);
    assert.ok(torn instanceof Error && /it is not YAML/.test(torn.message) && !/hunter22/.test(torn.message));
  });
  await assert.rejects(loadConnection({ env: {}, clock }), { code: "MissingInput" });
});

test("in a Pod, the service account is used", async () => {
  await inFolder({ "ca.crt": "CA", namespace: "slipway\n", token: "t" }, async (folder) => {
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
    const connection = await inCluster(env, clock, folder);
    assert.equal(connection.server, "https://[fd00::1]:6443");
    assert.equal(connection.namespace, "slipway");
    assert.equal(await connection.authorization?.(false), "Bearer t");
  });
});

test("a token file is read again after a minute, and at once after a refusal; a lost file keeps the last token", async () => {
  await inFolder({ token: "one" }, async (folder) => {
    const time = new VirtualClock();
    const path = join(folder, "token");
    const authorization = fileToken(path, time);
    assert.equal(await authorization(false), "Bearer one");
    await writeFile(path, "two");
    assert.equal(await authorization(false), "Bearer one");
    assert.equal(await authorization(true), "Bearer two");
    await writeFile(path, "three");
    await time.run(60_000);
    assert.equal(await authorization(false), "Bearer three");
    await rm(path);
    assert.equal(await authorization(true), "Bearer three");
    await assert.rejects(fileToken(path, time)(false), { code: "BadCredentials" });
  });
});

/** A kubeconfig of one context as JSON, which is YAML. */
const one = (cluster: object, user?: object, context: object = {}): string =>
  JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "x" },
    contexts: [{ name: "x", context: { cluster: "c", user: "u", ...context } }],
    clusters: [{ name: "c", cluster: { server: "https://10.0.0.1", ...cluster } }],
    ...(user && { users: [{ name: "u", user }] }),
  });

test("a kubeconfig in a Secret holds everything itself", async () => {
  const user = { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") };
  const cluster = { "certificate-authority-data": base64("CA"), "tls-server-name": "kube" };
  const { authorization, ...connection } = connectionOf(one(cluster, user, { namespace: "team" }), "Secret/s", clock);
  assert.equal(authorization, undefined);
  assert.deepEqual(connection, {
    ...{ server: "https://10.0.0.1", ca: "CA", cert: "CERT", key: "KEY", serverName: "kube", namespace: "team" },
  });
  assert.deepEqual(connectionOf(one({}), "Secret/s", clock), { server: "https://10.0.0.1" });
  assert.equal(connectionOf(one({ "insecure-skip-tls-verify": true }), "s", clock).insecure, true);
  assert.equal("insecure" in connectionOf(one({ "insecure-skip-tls-verify": false }), "s", clock), false);
});

test("it may name no files and no programs, which would be read and run here", () => {
  const refused = (text: string, why: RegExp) =>
    assert.throws(() => connectionOf(text, "Secret/s", clock), { code: "Invalid", message: why });
  refused(one({ "certificate-authority": "/ca" }), /names files/);
  for (const name of ["client-certificate", "client-key", "tokenFile"])
    refused(one({}, { [name]: "/f" }), /names files/);
  for (const name of ["exec", "auth-provider"]) refused(one({}, { [name]: {} }), /names a plugin/);
  refused(one({ "proxy-url": "http://proxy" }), /proxy-url is not supported/);
  for (const server of ["10.0.0.1:6443", "ftp://10.0.0.1", "https://"])
    refused(one({ server }), /not an http or https URL/);
});

test("who has a token, or a name and a password, says so in the header; a token goes first", async () => {
  const header = (user: object) => connectionOf(one({}, user), "s", clock).authorization?.(false);
  assert.equal(await header({ token: "t", username: "ada", password: "p" }), "Bearer t");
  assert.equal(await header({ username: "ada", password: "p" }), `Basic ${base64("ada:p")}`);
  assert.equal(await header({ username: "ada" }), `Basic ${base64("ada:")}`);
  assert.equal(await header({}), undefined);
});

test("of several files in KUBECONFIG the first counts; in a Pod without a port it is the usual one", async () => {
  await inFolder({ a: one({ server: "https://a" }), "ca.crt": "CA", namespace: "n" }, async (folder) => {
    const env = { KUBECONFIG: `:${join(folder, "a")}:${join(folder, "b")}`, KUBERNETES_SERVICE_HOST: "10.9.9.9" };
    assert.equal((await loadConnection({ env, clock })).server, "https://a");
    assert.equal(
      (await loadConnection({ kubeconfig: join(folder, "a"), env: {}, clock, context: "x" })).server,
      "https://a",
    );
    assert.equal((await inCluster({}, clock, folder)).server, "https://kubernetes.default.svc:443");
  });
});

test("certificates in files are read again, those in the text are not", async () => {
  const files = {
    a: one({ "certificate-authority": "ca" }),
    ca: "CA",
    b: one({ "certificate-authority-data": base64("CA") }),
  };
  await inFolder(files, async (folder) => {
    const load = (name: string) => fromKubeconfig(join(folder, name), { clock });
    assert.equal(typeof (await load("a")).certificates, "function");
    assert.deepEqual([(await load("b")).certificates, (await load("b")).ca], [undefined, "CA"]);
  });
});
