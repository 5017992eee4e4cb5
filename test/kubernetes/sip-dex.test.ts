/** What SIP writes for an OpenID Connect provider, read by Dex itself, and what it writes for the sub-cluster, read by kube-apiserver: users log in. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { login, refreshed } from "../../src/lab/vino/dex-login.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { startCluster } from "./cluster.ts";
import { ADA, EVE, HOST, MOCK, oidcFlags, startDex, whoIs, whyNoDex } from "./dex.ts";

const skip = (await whyNoDex()) ?? false;

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
    assert.equal((await whoIs(as(later.id_token))).username, ADA.name);
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

async function statusOf(transport: Transport, path: string): Promise<number> {
  return (await transport.request({ method: "GET", path })).status;
}
