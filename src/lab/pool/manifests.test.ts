import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient, type KubeObject } from "@slipway/kube";
import { installCrds } from "../../kinds/install.ts";
import { applyObjects } from "../../laptop/apply.ts";
import { KINDS } from "../../operator/kinds.ts";
import { asDocuments, POOL_NAME, poolManifests } from "./manifests.ts";

test("the manifests are applied as they stand in the file", async (t) => {
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const transport = api.transport();
  const client = createClient(transport, { clock, random, log });
  await installCrds(client, clock, AbortSignal.timeout(60_000), KINDS);
  const isoUrl = "http://10.77.0.1:8091/stand-in/harvester-v1.8.1-amd64.iso";
  const documents = asDocuments(poolManifests({ count: 2, isoUrl, disk: "/dev/nvme0n1" }));
  const stored = await applyObjects({ client, transport }, documents as KubeObject[]);
  assert.deepEqual(
    stored.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    ["MachineProvider lab", `InstancePool ${POOL_NAME}`],
  );
  const spec = (stored[1] as unknown as { spec: Record<string, unknown> }).spec;
  assert.deepEqual([spec.count, spec.isoUrl, spec.providerRef], [2, isoUrl, { name: "lab" }]);
});
