import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { testPlane } from "../testing.ts";
import { filesOf, PlaneFiles } from "./plane-files.ts";

test("a plane's files are written when they change, stay as they are otherwise, and go when they are no longer wanted", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-files-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const inode = (name: string): number => statSync(join(dir, name)).ino;
  const files = new PlaneFiles(dir);
  const texts = { "ca.crt": "authority", "etcd/server.key": "key" };
  const mark = await files.keep(texts);
  assert.equal(readFileSync(join(dir, "etcd/server.key"), "utf8"), "key");
  assert.equal(statSync(join(dir, "etcd/server.key")).mode & 0o777, 0o600);
  assert.equal(statSync(join(dir, "etcd")).mode & 0o777, 0o700);
  const before = inode("ca.crt");

  // Each write is another file: see `replacePrivateFile`.
  assert.equal(await files.keep(texts), mark);
  assert.equal(await new PlaneFiles(dir).keep(texts), mark);
  assert.equal(inode("ca.crt"), before);

  assert.notEqual(await files.keep({ "ca.crt": "another" }), mark);
  assert.notEqual(inode("ca.crt"), before);
  assert.equal(existsSync(join(dir, "etcd/server.key")), false);
});

test("a plane's programs read its keys and kubeconfigs, and those of its datastore where it has any", async () => {
  const { plane } = await testPlane("a", { host: "127.0.0.1", port: 6443 });
  const { pki } = plane;
  const files = filesOf(plane);
  assert.deepEqual(files, {
    "ca.crt": pki.ca.cert,
    "ca.key": pki.ca.key,
    "apiserver.crt": pki.apiServer.cert,
    "apiserver.key": pki.apiServer.key,
    "apiserver-kubelet-client.crt": pki.apiServerKubeletClient.cert,
    "apiserver-kubelet-client.key": pki.apiServerKubeletClient.key,
    "front-proxy-ca.crt": pki.frontProxyCa.cert,
    "front-proxy-client.crt": pki.frontProxyClient.cert,
    "front-proxy-client.key": pki.frontProxyClient.key,
    "sa.pub": pki.accounts.publicKey,
    "sa.key": pki.accounts.privateKey,
    "controller-manager.conf": plane.kubeconfigs.controllerManager,
    "scheduler.conf": plane.kubeconfigs.scheduler,
  });
  const store = { endpoints: [], prefix: "/", tls: { ca: "CA", cert: "CERT", key: "KEY" } };
  const { "etcd/ca.crt": ca, "etcd/server.crt": cert, "etcd/server.key": key } = filesOf({ ...plane, store });
  assert.deepEqual([ca, cert, key], ["CA", "CERT", "KEY"]);
  const kine = { endpoint: "mysql://x", secret: { name: "", key: "" }, ca: "DB CA", extraArgs: [] };
  const behindKine = filesOf({ ...plane, store: { endpoints: [], prefix: "/", kine } });
  assert.deepEqual([behindKine["etcd/ca.crt"], Object.keys(behindKine).length], ["DB CA", 14]);
});
