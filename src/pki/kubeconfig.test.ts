import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { load } from "js-yaml";
import { kubeconfig } from "./kubeconfig.ts";

const certificates = { caPem: "CA\n", clientCertPem: "CERT\n", clientKeyPem: "KEY\n" };

test("a kubeconfig embeds its certificates and has one context", () => {
  const text = kubeconfig({ name: "slipway", server: "https://127.0.0.1:6443", ...certificates });
  assert.equal(
    text,
    `apiVersion: v1
kind: Config
clusters:
  - name: slipway
    cluster:
      server: https://127.0.0.1:6443
      certificate-authority-data: Q0EK
users:
  - name: slipway
    user:
      client-certificate-data: Q0VSVAo=
      client-key-data: S0VZCg==
contexts:
  - name: slipway
    context:
      cluster: slipway
      user: slipway
current-context: slipway
`,
  );
});

test("any name and token are read back as they were", () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ maxLength: 400 }), (name, token) => {
      const read = load(kubeconfig({ name, server: "https://a.example", token })) as {
        users: unknown;
        "current-context": unknown;
      };
      assert.deepEqual(read.users, [{ name, user: { token } }]);
      assert.equal(read["current-context"], name);
    }),
  );
});

test("kubectl reads it", (t) => {
  if (spawnSync("kubectl", ["version", "--client"]).status !== 0) return t.skip("kubectl is not here");
  const dir = mkdtempSync(join(tmpdir(), "kubeconfig-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, "config");
  writeFileSync(
    file,
    kubeconfig({ name: "slipway", server: "https://127.0.0.1:1", namespace: "metal", ...certificates }),
  );
  const done = spawnSync("kubectl", ["--kubeconfig", file, "config", "view", "--minify", "-o", "json"]);
  const read = JSON.parse(done.stdout.toString());
  assert.equal(read.clusters[0].cluster.server, "https://127.0.0.1:1");
  assert.equal(read.contexts[0].context.namespace, "metal");
});
