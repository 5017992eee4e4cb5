import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import type { KubeconfigGenerator } from "../../kinds/kamaji/kubeconfig-generator.ts";
import { tenant } from "../../kinds/kamaji/testing.ts";
import { createAuthority, issueClient } from "../../pki/authority.ts";
import { kubeconfig } from "../../pki/kubeconfig.ts";
import { generatedUser, isCurrent } from "./generated-kubeconfig.ts";

test("a kubeconfig is current for its user, groups, server and authority, and while it has time left", async () => {
  const authority = await createAuthority({ commonName: "ca", clock });
  const other = await createAuthority({ commonName: "ca", clock });
  const { certificatePem, keyPem } = await issueClient(authority, { commonName: "u", organizations: ["g"], clock });
  const server = "https://a.example:6443";
  const caPem = authority.certificatePem;
  const held = kubeconfig({
    name: "a",
    userName: "u",
    server,
    caPem,
    clientCertPem: certificatePem,
    clientKeyPem: keyPem,
  });
  const wanted = { user: "u", groups: ["g"], server, caPem, now: clock.now(), leftMs: 1000 };
  assert.equal(isCurrent(held, wanted), true);
  const others = [
    { user: "v" },
    { groups: ["h"] },
    { groups: [] },
    { server: "https://b.example:6443" },
    { caPem: other.certificatePem },
    { now: clock.now() + 1000 * 365.25 * 24 * 3_600_000 },
  ];
  for (const change of others) assert.equal(isCurrent(held, { ...wanted, ...change }), false, JSON.stringify(change));
  assert.equal(isCurrent("", wanted), false);
});

test("a user and groups come from a text or from a field of the tenant that has one; groups once each, sorted", () => {
  const of = (user: object, groups?: object[]) =>
    generatedUser({ spec: { user, groups } } as unknown as KubeconfigGenerator, tenant({ dataStore: "default" }));
  const field = (fromDefinition: string) => ({ fromDefinition });
  assert.deepEqual(of({ stringValue: "ann" }), { user: "ann", groups: [] });
  assert.deepEqual(of(field("metadata.name"), [{ stringValue: "b" }, field("metadata.name"), { stringValue: "b" }]), {
    user: "a",
    groups: ["a", "b"],
  });
  assert.deepEqual(of({ stringValue: "ann", fromDefinition: "metadata.name" }).user, "ann");
  assert.throws(() => of({}), { code: "Invalid", message: /neither stringValue nor fromDefinition is set/ });
  for (const none of [
    "metadata.nothing",
    "metadata",
    "metadata.name.0",
    "spec.dataStore.length",
    "toString",
    "nothing.name",
  ])
    assert.throws(
      () => of(field(none)),
      {
        code: "Invalid",
        message: `TenantControlPlane field ${none}: the tenant has no text there`,
        remedy: "name a field such as metadata.name, or use stringValue",
      },
      none,
    );
});
