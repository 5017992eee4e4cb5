import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { Client, Resource } from "@slipway/kube";
import { refOf, tenantKubeconfig } from "./kubeconfig.ts";

const encoded = (text: string): string => Buffer.from(text).toString("base64");

/** A cluster with one tenant, and one Secret where `data` is given. */
function cluster(status: object, data?: Record<string, string>): Client {
  const tenant = { metadata: { namespace: "tenants", name: "a" }, status };
  return {
    find: async ({ kind }: Resource, { namespace, name }: { namespace: string; name: string }) => {
      if (namespace !== "tenants") return undefined;
      if (kind === "TenantControlPlane") return name === "a" ? tenant : undefined;
      return name === "a-admin-kubeconfig" && data !== undefined ? { data } : undefined;
    },
    list: async () => ({ items: [tenant] }),
  } as unknown as Client;
}

const READY = { kubeconfig: { admin: { secretName: "a-admin-kubeconfig" } } };
const a = { namespace: "tenants", name: "a" };

test("a tenant is named with its namespace, or in the one that is given", () => {
  assert.deepEqual(refOf("a", "tenants"), a);
  assert.deepEqual(refOf("tenants/a", "default"), a);
  for (const wrong of ["", "/a", "a/", "a/b/c"])
    assert.throws(
      () => refOf(wrong, "x"),
      (error) => isFault(error, "BadRequest"),
    );
});

test("each of its kubeconfigs is had by its key", async () => {
  const client = cluster(READY, { "admin.conf": encoded("one"), "super-admin.svc": encoded("two") });
  assert.equal(await tenantKubeconfig(client, a, "admin.conf"), "one");
  assert.equal(await tenantKubeconfig(client, a, "super-admin.svc"), "two");
});

test("where there is none, it says which tenants there are, or what the tenant waits for", async () => {
  await assert.rejects(tenantKubeconfig(cluster(READY), { ...a, name: "b" }, "admin.conf"), (error) => {
    assert.ok(isFault(error, "NotFound"));
    assert.match(error.advice, /tenants\/b: there is no such tenant.*there are: tenants\/a/);
    return true;
  });
  const waiting = cluster({ ...READY, waitingFor: "DataStore/default" });
  await assert.rejects(
    tenantKubeconfig(waiting, a, "admin.conf"),
    /no admin\.conf yet; it waits for DataStore\/default/,
  );
  await assert.rejects(tenantKubeconfig(cluster({}), a, "admin.conf"), /no admin\.conf yet/);
});
