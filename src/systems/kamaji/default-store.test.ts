import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock as clock, quietLog as log } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { startDefaultStore } from "./default-store.ts";
import { DataStore, dataStore, Turn } from "./testing.ts";

type Any = Resource<KubeObject>;

/** Answers that authentication is on. */
const ETCD = `
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
const flag = (of) => process.argv.find((each) => each.startsWith("--" + of + "=")).slice(of.length + 3);
const server = createSecureServer({ cert: readFileSync(flag("cert-file")), key: readFileSync(flag("key-file")) });
server.on("stream", (stream) => {
  stream.resume();
  stream.respond({ ":status": 200 }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(Buffer.from([0, 0, 0, 0, 2, 16, 1]));
});
const { hostname, port } = new URL(flag("listen-client-urls"));
server.listen(Number(port), hostname);
`;

test("tenants without a DataStore get an etcd beside them, which goes on at the same address after a restart", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-etcd-"));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "etcd.mjs"), ETCD);
  writeFileSync(join(dir, "etcd"), `#!/bin/sh\nexec "${process.execPath}" "${dir}/etcd.mjs" "$@"\n`);
  chmodSync(join(dir, "etcd"), 0o755);
  const turn = new Turn();
  const start = () =>
    startDefaultStore(turn.context.client, {
      clock,
      log,
      namespace: "ops",
      dir: join(dir, "state"),
      assets: async () => dir,
    });
  const first = (await start())!;
  t.after(() => first.close());
  const { metadata, spec } = turn.get(DataStore, { name: "default" });
  assert.equal(metadata.annotations?.["slipway.dev/etcd"], join(dir, "state"));
  const at = (keyPath: string) => ({ secretReference: { namespace: "ops", name: "slipway-tenants-etcd", keyPath } });
  assert.deepEqual(spec, {
    driver: "etcd",
    endpoints: [first.endpoint],
    tlsConfig: {
      certificateAuthority: { certificate: at("ca.crt"), privateKey: at("ca.key") },
      clientCertificate: { certificate: at("root.crt"), privateKey: at("root.key") },
    },
  });
  const texts = () =>
    Object.fromEntries(
      Object.entries(turn.get(Secret, { namespace: "ops", name: "slipway-tenants-etcd" }).data!).map(([key, value]) => [
        key,
        Buffer.from(value, "base64").toString(),
      ]),
    );
  const { authority, root } = first;
  assert.deepEqual(texts(), {
    ...{ "ca.crt": authority.certificatePem, "ca.key": authority.keyPem },
    ...{ "root.crt": root.certificatePem, "root.key": root.keyPem },
  });
  await first.close();

  turn.get(Secret, { namespace: "ops", name: "slipway-tenants-etcd" }).data = {};
  const again = (await start())!;
  assert.equal(again.endpoint, first.endpoint);
  assert.equal(texts()["ca.crt"], authority.certificatePem, "the Secret is brought to what it is");
  assert.deepEqual(turn.get(DataStore, { name: "default" }).spec.endpoints, [first.endpoint]);
  await again.close();
});

test("a default DataStore that somebody else runs is left alone", async () => {
  const turn = new Turn([DataStore as Any, dataStore("default")]);
  const assets = async (): Promise<string> => assert.fail("nothing is to be started");
  assert.equal(
    await startDefaultStore(turn.context.client, { clock, log, namespace: "ops", dir: "/nowhere", assets }),
    undefined,
  );
  assert.deepEqual(turn.asked, []);
});
