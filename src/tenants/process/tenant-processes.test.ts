import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { testPlane } from "../testing.ts";
import { ProcessRuntime } from "./process-runtime.ts";

test("a folder that is too long for a kine's socket is refused with what to do, and nothing is started", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-tenants-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const runtime = new ProcessRuntime({
    ...{ clock, host: "127.0.0.1", dir: join(dir, "x".repeat(100)) },
    ...{
      assets: async () => "/nowhere",
      kine: async () => "/nowhere/kine",
      tunnel: async () => "",
      releaseOf: async () => undefined,
    },
  });
  t.after(() => runtime.close());
  const { plane } = await testPlane("a", { host: "127.0.0.1", port: 6443 });
  const kine = { endpoint: "sqlite://", secret: { name: "", key: "" }, extraArgs: [] };
  const store = { endpoints: [], prefix: "/registry", kine };
  await assert.rejects(runtime.ensure({ ...plane, store }), {
    code: "Invalid",
    remedy: "name a folder with a shorter path by --tenants-dir",
  });
  assert.deepEqual(runtime.pids("a"), []);
});

test("a plane whose programs have only just started is not ready; asleep, none of them runs; removed, its folder is gone", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-tenants-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const names = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
  for (const name of names) {
    writeFileSync(join(dir, name), "#!/bin/sh\nexec sleep 600\n");
    chmodSync(join(dir, name), 0o755);
  }
  const runtime = new ProcessRuntime({
    ...{ clock, host: "127.0.0.1", dir: join(dir, "planes"), assets: async () => dir },
    ...{ kine: async () => "/nowhere/kine", tunnel: async () => "/nowhere/tunnel", releaseOf: async () => undefined },
  });
  t.after(() => runtime.close());
  const { plane } = await testPlane("a", await runtime.place("a", { port: 0, exact: false }));
  const store = { endpoints: ["https://127.0.0.1:1"], prefix: "/a" };
  const started = await runtime.ensure({ ...plane, store });
  assert.equal(started.readyReplicas, 0);
  assert.equal(runtime.pids("a").length, 3);
  const asleep = await runtime.ensure({ ...plane, store, replicas: 0 });
  assert.deepEqual([asleep.readyReplicas, runtime.pids("a")], [0, []]);
  await runtime.remove("a");
  assert.equal(existsSync(join(dir, "planes", "a")), false);
});
