/** The etcd of tenants that run as processes: it comes and ends with the operator that runs them. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { installCrds } from "../../src/kinds/install.ts";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { KAMAJI_KINDS } from "../../src/kinds/kamaji/kinds.ts";
import { findAssets } from "../../src/kubernetes/assets.ts";
import { kamaji } from "../../src/systems/kamaji/system.ts";
import type { SystemPorts } from "../../src/systems/system.ts";

const namespace = "harvester-system";
const assets = await findAssets(process.env, ["etcd"]).catch((error: Error) => error);
const skip = assets instanceof Error ? `${assets.message}; run \`make kube-assets\`` : false;

async function answers(endpoint: string): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port: Number(endpoint.split(":").at(-1)) });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test("before tenants run as processes there is a default DataStore, which ends with the operator; embedded ones need none", {
  skip,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-tenants-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log });
  const { signal } = new AbortController();
  await installCrds(client, clock, signal, KAMAJI_KINDS);
  await client.create(Namespace, { metadata: { name: namespace } });
  const run = async (runtime: "embedded" | "process"): Promise<() => Promise<void>> => {
    const ports = { clock, random, log, namespace } as unknown as SystemPorts;
    const parts = kamaji.parts(ports, { runtime, host: "127.0.0.1", dir });
    await parts.prepare?.(client, signal);
    return async () => await parts.closed?.();
  };

  const endEmbedded = await run("embedded");
  assert.equal(await client.find(DataStore, { name: "default" }), undefined);
  await endEmbedded();

  const end = await run("process");
  const { spec } = await client.get(DataStore, { name: "default" });
  assert.equal(await answers(spec.endpoints[0]!), true);
  await end();
  assert.equal(await answers(spec.endpoints[0]!), false);
});
