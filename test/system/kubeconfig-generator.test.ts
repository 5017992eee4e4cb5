/** KubeconfigGenerators on tenants that run embedded. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import { Namespace, Node, Secret } from "@slipway/kube/core";
import { KubeconfigGenerator } from "../../src/kinds/kamaji/kubeconfig-generator.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "./tenants-world.ts";

const ref = (name: string) => ({ namespace: NAMESPACE, name });

async function scene(t: TestContext) {
  const world = await tenantsWorld(t);
  const { client } = world;
  return {
    ...world,
    async generate(name: string, spec: Partial<KubeconfigGenerator["spec"]>) {
      const user = { stringValue: "auditor" };
      await client.create(KubeconfigGenerator, {
        metadata: { name },
        spec: { user, controlPlaneEndpointFrom: "admin.conf", ...spec },
      });
    },
    async label(name: string, labels: Record<string, string | null>) {
      await client.patch(TenantControlPlane, ref(name), { type: "merge", body: { metadata: { labels } } });
    },
    async is(name: string, what: (status: NonNullable<KubeconfigGenerator["status"]>) => boolean) {
      const { signal, done } = deadline(clock, 60_000);
      for (;;) {
        const { status } = await client.get(KubeconfigGenerator, { name });
        if (status !== undefined && what(status)) return done();
        assert.ok(!signal.aborted, JSON.stringify(status));
        await clock.sleep(25);
      }
    },
    secret: (name: string) => client.find(Secret, ref(name)),
  };
}

test("a generator makes a kubeconfig of its user in each tenant that it selects, and takes it away when it does not", async (t) => {
  const { apply, until, inTenant, generate, label, is, secret, client } = await scene(t);
  for (const name of ["a", "b"]) await apply(name);
  await label("a", { audited: "yes" });
  await generate("audit", {
    groups: [{ stringValue: "system:masters" }, { fromDefinition: "metadata.name" }],
    tenantControlPlaneSelector: { matchLabels: { audited: "yes" } },
  });
  for (const name of ["a", "b"]) await until(name, (one) => stateOf(one) === "Ready");
  await is("audit", (one) => one.resources === 1 && one.availableResources === 1);
  assert.equal(await secret("b-audit"), undefined);
  assert.deepEqual(
    (await secret("a-audit"))!.metadata.ownerReferences!.map(({ kind, name }) => [kind, name]),
    [["TenantControlPlane", "a"]],
  );
  await inTenant("a", async (inside) => assert.deepEqual((await inside.list(Node)).items, []), {
    secret: "a-audit",
    key: "value",
  });
  await label("b", { audited: "yes" });
  await is("audit", (one) => one.availableResources === 2);
  await label("a", { audited: null });
  await is("audit", (one) => one.resources === 1);
  assert.equal(await secret("a-audit"), undefined);
  await client.delete(KubeconfigGenerator, { name: "audit" });
  const { signal, done } = deadline(clock, 20_000);
  while ((await secret("b-audit")) !== undefined) {
    assert.ok(!signal.aborted, "the generator is gone, its Secret is not");
    await clock.sleep(25);
  }
  done();
});

test("a generator writes over no Secret that is not its own, and says what is wrong with each tenant", async (t) => {
  const { apply, until, generate, is, secret, client } = await scene(t);
  await client.create(Namespace, { metadata: { name: "other" } });
  await apply("a");
  await until("a", (one) => stateOf(one) === "Ready");
  const authority = await secret("a-ca");
  await generate("ca", {});
  await is("ca", ({ errors = [] }) => /a-ca: it is not of this generator/.test(errors[0]?.message ?? ""));
  assert.deepEqual(await secret("a-ca"), authority);
  await generate("lost", { user: { fromDefinition: "spec.nothing.there" } });
  await is("lost", ({ errors = [], resources, availableResources }) => {
    const [error] = errors;
    return (
      resources === 1 &&
      availableResources === 0 &&
      error?.resource === `${NAMESPACE}/a` &&
      /nothing.there/.test(error.message)
    );
  });
});

test("a kubeconfig is made anew on request, with its Secret, and when the user changes; else it stays", async (t) => {
  const { apply, until, generate, is, secret, client, restart } = await scene(t);
  await apply("a");
  await until("a", (one) => stateOf(one) === "Ready");
  await generate("audit", {});
  await is("audit", (one) => one.availableResources === 1);
  const first = await secret("a-audit");
  await restart();
  await generate("second", {});
  await is("second", (one) => one.availableResources === 1);
  assert.equal((await secret("a-audit"))!.metadata.resourceVersion, first!.metadata.resourceVersion);
  const changed = async (before: Secret): Promise<Secret> => {
    const { signal, done } = deadline(clock, 20_000);
    for (;;) {
      const now = await secret("a-audit");
      if (now !== undefined && now.data!.value !== before.data!.value) {
        done();
        return now;
      }
      assert.ok(!signal.aborted, "the kubeconfig is the same");
      await clock.sleep(25);
    }
  };
  const annotations = { "certs.kamaji.clastix.io/rotate": "" };
  await client.patch(Secret, ref("a-audit"), { type: "merge", body: { metadata: { annotations } } });
  const second = await changed(first!);
  assert.equal(second.metadata.annotations?.["certs.kamaji.clastix.io/rotate"], undefined);
  await client.delete(Secret, ref("a-audit"));
  const third = await changed(second);
  const body = { spec: { groups: [{ stringValue: "auditors" }] } };
  await client.patch(KubeconfigGenerator, { name: "audit" }, { type: "merge", body });
  await changed(third);
});
