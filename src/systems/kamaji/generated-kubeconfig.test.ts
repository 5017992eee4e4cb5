import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { createAuthority, issueClient } from "../../pki/authority.ts";
import { kubeconfig } from "../../pki/kubeconfig.ts";
import { isCurrent } from "./generated-kubeconfig.ts";

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
