import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { Namespace, Node } from "@slipway/kube/core";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { installCrds } from "../../kinds/install.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { viewPool } from "./view.ts";

test("a lab's pool is seen with its Instances, Nodes and the hosts that netboot discovered; a pool that is gone is none", async (t) => {
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log });
  const { signal } = new AbortController();
  await installCrds(client, clock, signal, [[InstancePool], [Instance], [BareMetalHost]]);
  await client.create(Namespace, { metadata: { name: "slipway-hosts" } });
  for (const namespace of ["slipway-hosts", "default"])
    await client.create(BareMetalHost, {
      metadata: { namespace, name: `host-in-${namespace}` },
      spec: { online: true },
    } as never);
  await client.create(Instance, { metadata: { name: "a" }, spec: { plan: "p" } });
  await client.create(Node, { metadata: { name: "a" } });
  const names = (list: readonly { metadata: { name: string } }[]) => list.map(({ metadata }) => metadata.name);
  const before = await viewPool(client, signal);
  assert.deepEqual(
    [before.pool, names(before.hosts), names(before.instances), names(before.nodes)],
    [undefined, ["host-in-slipway-hosts"], ["a"], ["a"]],
  );
  await client.create(InstancePool, { metadata: { name: "lab-pool" }, spec: { count: 1, plan: "p" } } as never);
  assert.equal((await viewPool(client, signal)).pool?.spec.count, 1);
});
