import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { packet } from "../systems/packet/system.ts";
import { providers } from "../systems/providers/system.ts";
import { installKinds } from "./install-kinds.ts";

test("Slipway's own kinds are installed always, others only for systems that run, and foreign definitions stay", async (t) => {
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log });
  const { signal } = new AbortController();
  const group = "infrastructure.cluster.x-k8s.io";
  const names = async () => (await client.list(CustomResourceDefinition)).items.map(({ metadata }) => metadata.name);
  await installKinds([providers], { client, clock, signal });
  const own = await names();
  assert.ok(
    own.some((name) => name.startsWith("instancepools.")) && own.includes("machineproviders.slipway.dev"),
    own.join(),
  );
  assert.ok(!own.some((name) => name.endsWith(group)), own.join());
  const foreign = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `packetclusters.${group}`, labels: { theirs: "yes" } },
    spec: {
      ...{ group, scope: "Namespaced", names: { plural: "packetclusters", kind: "PacketCluster" } },
      versions: [{ name: "v1beta1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  const helm = createClient(api.transport(), { clock, random, log, fieldManager: "helm" });
  await helm.create(CustomResourceDefinition, foreign as never);
  await installKinds([packet], { client, clock, signal });
  assert.ok((await names()).includes(`packetmachines.${group}`));
  const stays = await client.get(CustomResourceDefinition, { name: `packetclusters.${group}` });
  assert.deepEqual(stays.metadata.labels, { theirs: "yes" });
});
