/** What SIP writes for an OpenID Connect provider, read by Dex itself, and what it writes for the sub-cluster, read by kube-apiserver: users log in. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { findAssets } from "../../src/kubernetes/assets.ts";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { login, type Provider, refreshed } from "../../src/lab/vino/dex-login.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { dexKeys } from "../../src/systems/sip/services/auth/dex-certificate.ts";
import { CLIENT_ID, dexConfig } from "../../src/systems/sip/services/auth/dex-config.ts";
import { oidcSettings } from "../../src/systems/sip/services/auth/oidc-settings.ts";
import { startCluster } from "./cluster.ts";
import { freePort } from "./free-port.ts";

const assets = await findAssets(process.env, ["etcd", "kube-apiserver", "dex"]).catch((error: Error) => error);
const skip = assets instanceof Error ? `${assets.message}; run \`make kube-assets NAMES=dex\`` : false;

const HOST = "127.0.0.1";
const ADA = { name: "ada@example.org", password: "password" };
/** Named as if Kubernetes itself had made her. */
const EVE = { name: "system:eve@example.org", password: "password" };
const PATIENCE_MS = 120_000;
/** As Dex has it for whoever takes the connector mockCallback. */
const MOCK = { username: "kilgore@kilgore.trout", groups: ["authors"] };

for (const by of ["flags", "file"] as const)
  test(`SIP-14 users log in by Dex, and kube-apiserver knows their names and groups by the ${by} of the settings`, {
    skip,
  }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "slipway-dex-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const { provider, settings } = await startDex(t, folder);
    const identity = await laptopIdentity(undefined, HOST, clock);
    const cluster = await startCluster({ identity, apiServerFlags: oidcFlags(by, settings, folder) });
    t.after(() => cluster.close());
    const { client, plane } = cluster;
    for (const binding of BINDINGS) await applyAs(cluster.transport, binding);
    await client.create(ConfigMap, { metadata: { name: "seen", namespace: "default" } });

    const as = (token: string): Transport => {
      const transport = createHttpTransport({
        ...{ server: plane.url, ca: identity.serving.clientCa! },
        authorization: async () => `Bearer ${token}`,
      });
      t.after(() => transport.close());
      return transport;
    };
    const ada = await login(provider, { connector: "local", user: ADA });
    const first = await whoIs(as(ada.id_token));
    assert.deepEqual(first, { username: ADA.name, groups: ["system:authenticated"] });
    const mock = await login(provider, { connector: "mock" });
    const second = await whoIs(as(mock.id_token));
    assert.deepEqual(second, { ...MOCK, groups: [...MOCK.groups, "system:authenticated"] });

    // Rights are those of the bindings: one user's by her name, the other's by the group.
    const read = async (token: string) => await statusOf(as(token), "/api/v1/namespaces/default/configmaps/seen");
    assert.deepEqual([await read(ada.id_token), await read(mock.id_token)], [403, 200]);
    assert.equal(await statusOf(as(ada.id_token), "/api/v1/namespaces/default/secrets"), 200);
    assert.equal(await statusOf(as(mock.id_token), "/api/v1/namespaces/default/secrets"), 403);

    if (by === "file") {
      const eve = await login(provider, { connector: "local", user: EVE });
      assert.equal(await statusOf(as(eve.id_token), "/api/v1/namespaces/default/secrets"), 401);
    }
    const later = await refreshed(provider, ada.refresh_token!);
    assert.equal((await whoIs(as(later.id_token)))?.username, ADA.name);
    await assert.rejects(login(provider, { connector: "local", user: { ...ADA, password: "another" } }));
    const [head, body, signature] = ada.id_token.split(".");
    const turned = `${signature!.startsWith("A") ? "B" : "A"}${signature!.slice(1)}`;
    assert.equal(await statusOf(as(`${head}.${body}.${turned}`), "/api/v1/namespaces/default/secrets"), 401);
  });

/** Bindings are the user's own: a group may read ConfigMaps, one user Secrets. */
const BINDINGS = [
  ["configmaps", { kind: "Group", name: "authors", apiGroup: "rbac.authorization.k8s.io" }],
  ["secrets", { kind: "User", name: ADA.name, apiGroup: "rbac.authorization.k8s.io" }],
].flatMap(([resource, subject]) => [
  {
    plural: "roles",
    body: {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" },
      metadata: { name: resource, namespace: "default" },
      rules: [{ apiGroups: [""], resources: [resource], verbs: ["get", "list"] }],
    },
  },
  {
    plural: "rolebindings",
    body: {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding" },
      metadata: { name: resource, namespace: "default" },
      ...{ roleRef: { kind: "Role", name: resource, apiGroup: "rbac.authorization.k8s.io" }, subjects: [subject] },
    },
  },
]);

async function applyAs(transport: Transport, { plural, body }: (typeof BINDINGS)[number]): Promise<void> {
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/default/${plural}`;
  const answer = await transport.request({ method: "POST", path, body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
}

interface Started {
  provider: Provider;
  settings: Record<string, string>;
}

/** Dex with the configuration and the certificate that SIP gives it, but for where it listens. */
async function startDex(t: TestContext, folder: string): Promise<Started> {
  const port = await freePort();
  const issuer = `https://${HOST}:${port}/dex`;
  const keys = await dexKeys({}, { host: HOST, clock });
  const tls = join(folder, "tls");
  mkdirSync(tls);
  for (const name of ["tls.crt", "tls.key"]) writeFileSync(join(tls, name), keys[name]!, { mode: 0o600 });
  const file = join(folder, "config.yaml");
  const connectors = [{ type: "mockCallback", id: "mock", name: "Mock" }];
  // bcrypt of `password`.
  const hash = "$2a$10$2b2cU8CPhOTaGrs1HRQuAueS7JTT5ZHsHSzYiFPm1leZck7Mc8T4W";
  const staticPasswords = [
    { email: ADA.name, hash, username: "ada", userID: "08a8684b-db88-4b73-90a9-3cd1661f5466" },
    { email: EVE.name, hash, username: "eve", userID: "5c6f4b1e-3a67-4f5b-9f53-0c9f9a9e7c11" },
  ];
  writeFileSync(file, dexConfig({ issuer, connectors, staticPasswords }, { listen: `${HOST}:${port}`, tls }));
  const dex = new KeptProcess({
    ...{ command: join(String(assets), "dex"), args: ["serve", file] },
    ...{ logFile: join(folder, "dex.log"), orphaned: "KILL" },
  });
  t.after(() => dex.stop("KILL"));
  const ca = keys["ca.crt"]!;
  const end = clock.monotonic() + PATIENCE_MS;
  while (!(await isHealthy(`${issuer}/healthz`, ca))) {
    if (clock.monotonic() > end || !dex.running) throw new Error(`Dex does not answer:\n${await dex.lastWords()}`);
    await clock.sleep(100);
  }
  return {
    provider: { issuer, ca, clientId: CLIENT_ID, redirectUri: "http://localhost:8000" },
    settings: oidcSettings({ issuer, caPem: ca }),
  };
}

async function isHealthy(url: string, ca: string): Promise<boolean> {
  return await new Promise((resolve) => {
    get(url, { ca, timeout: 10_000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    }).on("error", () => resolve(false));
  });
}

/** The settings as kube-apiserver takes them; the authority's file is where this test has put it. */
function oidcFlags(by: "flags" | "file", settings: Record<string, string>, folder: string): string[] {
  const place = (key: string): string => {
    writeFileSync(join(folder, key), settings[key]!);
    return join(folder, key);
  };
  if (by === "file") return [`--authentication-config=${place("authentication-config.yaml")}`];
  const flags = settings["kube-apiserver-flags"]!.trim().split("\n");
  return flags.map((flag) => (flag.startsWith("--oidc-ca-file=") ? `--oidc-ca-file=${place("ca.crt")}` : flag));
}

/** Who kube-apiserver takes the token's bearer for. It learns the provider's keys a moment after its start. */
async function whoIs(transport: Transport): Promise<{ username: string; groups: string[] } | undefined> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const end = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const answer = await transport.request({ method: "POST", path, body });
    if (answer.status === 201) {
      const { username, groups } = (answer.body as { status: { userInfo: { username: string; groups: string[] } } })
        .status.userInfo;
      return { username, groups: groups.toSorted() };
    }
    if (clock.monotonic() > end) throw new Error(`nobody: ${answer.status} ${JSON.stringify(answer.body)}`);
    await clock.sleep(200);
  }
}

async function statusOf(transport: Transport, path: string): Promise<number> {
  return (await transport.request({ method: "GET", path })).status;
}
