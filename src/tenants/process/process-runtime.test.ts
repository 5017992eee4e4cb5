import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { ProcessRuntime } from "./process-runtime.ts";

test("a tenant's agents have a port that is kept, beside its own, while they are asked for", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-tenants-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const nowhere = async (): Promise<string> => "/nowhere";
  const runtime = new ProcessRuntime({
    ...{ clock, host: "127.0.0.1", dir, assets: nowhere, kine: nowhere, tunnel: nowhere },
    releaseOf: async () => undefined,
  });
  t.after(() => runtime.close());
  const foreign = createServer().listen(0, "127.0.0.1");
  await once(foreign, "listening");
  t.after(() => foreign.close());
  const { port } = foreign.address() as { port: number };
  const home = (tunnel?: number, before?: number) =>
    ({
      tenant: { status: before && { addons: { konnectivity: { service: { port: before } } } } },
      spec: { addons: tunnel && { konnectivity: { server: { port: tunnel } } } },
    }) as never;
  const wanted = { port: 0, exact: false };
  const first = await runtime.place("a", wanted, home(port));
  assert.equal(first.host, "127.0.0.1");
  assert.ok(first.tunnelPort! > port, "a port that another has is passed over");
  assert.deepEqual(await runtime.place("a", wanted, home(port)), first, "it is kept");
  assert.notEqual((await runtime.place("b", wanted, home(first.tunnelPort))).tunnelPort, first.tunnelPort);
  assert.deepEqual(await runtime.place("a", wanted, home()), { host: first.host, port: first.port });
  const again = await runtime.place("c", wanted, home(port, first.tunnelPort));
  assert.equal(again.tunnelPort, first.tunnelPort, "one that agents know is taken again");
  await runtime.remove("c");
  assert.equal((await runtime.place("d", wanted, home(port, first.tunnelPort))).tunnelPort, first.tunnelPort);
});
