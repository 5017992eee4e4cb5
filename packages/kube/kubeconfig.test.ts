import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { fileToken } from "./credentials.ts";
import { fromKubeconfig, inCluster, loadConnection } from "./kubeconfig.ts";

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
