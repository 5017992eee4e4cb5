/** A tenant on real programs of several releases: what only they can show. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import { ConfigMap } from "@slipway/kube/core";
import type { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { findAssets, findRelease, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { stateOf, tenantsWorld } from "../system/tenants-world.ts";

const assets = await findAssets(process.env, ["etcd", ...TENANT_BINARIES]).catch((error: Error) => error);
const skip = assets instanceof Error ? `${assets.message}; run \`make kube-assets\`` : false;
const [v34, v35] = await Promise.all(["1.34", "1.35"].map((minor) => findRelease(process.env, TENANT_BINARIES, minor)));
const noReleases =
  skip ||
  (v34 === undefined || v35 === undefined
    ? 'no programs of 1.34 and 1.35: make kube-assets VERSIONS="1.34 1.35"'
    : false);

const at = (version: string) => ({ kubernetes: { version, kubelet: { cgroupfs: "systemd" } } });
const isAt = (version: string) => (one: TenantControlPlane) =>
  stateOf(one) === "Ready" && one.status?.kubernetesResources?.version?.version === version;
const settings = { metadata: { namespace: "default", name: "kept" } };

test("B16 a tenant goes from 1.34 to 1.36 through 1.35 on real programs, and keeps its objects", {
  skip: noReleases,
}, async (t) => {
  const { apply, until, inTenant } = await tenantsWorld(t, String(assets));
  await apply("a", at(`v${v34}`));
  await until("a", isAt(`v${v34}`));
  await inTenant("a", async (inside) => await inside.create(ConfigMap, settings));
  await apply("a", at("v1.36.3"));
  await until("a", isAt(`v${v35}`));
  await until("a", isAt("v1.36.3"));
  await inTenant("a", async (inside) => assert.ok(await inside.find(ConfigMap, settings.metadata)));
});

test("writePermissions hold on a real API server, for its users and not for its operator", { skip }, async (t) => {
  const { apply, until, inTenant } = await tenantsWorld(t, String(assets));
  await apply("a", { writePermissions: { blockDeletion: true } });
  await until("a", (one) => stateOf(one) === "WriteLimited");
  await inTenant("a", async (inside) => {
    // A policy holds some moments after it was written.
    const { signal, done } = deadline(clock, 30_000);
    for (let refusal = ""; !/has blocked writes for now \(delete\)/.test(refusal); await clock.sleep(100)) {
      assert.ok(!signal.aborted, `it was never refused: ${refusal}`);
      if ((await inside.find(ConfigMap, settings.metadata)) === undefined) await inside.create(ConfigMap, settings);
      refusal = await inside.delete(ConfigMap, settings.metadata).then(
        () => "",
        (error: Error) => error.message,
      );
    }
    done();
  });
  await inTenant("a", async (inside) => await inside.delete(ConfigMap, settings.metadata), "super-admin.conf");
});
