import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
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
    ...{ assets: async () => "/nowhere", kine: async () => "/nowhere/kine", releaseOf: async () => undefined },
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
