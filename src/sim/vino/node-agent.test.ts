import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog as log, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { installCrds } from "../../kinds/install.ts";
import { NODE_LABEL, VinoNode } from "../../kinds/vino/vino-node.ts";
import { SimNodeAgent } from "./node-agent.ts";

const DOMAIN = {
  ...{ name: "d", uuid: "5b1c7f0e-0000-4000-8000-000000000001", host: "h", role: "r", vcpus: 2, memoryMiB: 1024 },
  ...{ bootMAC: "52:54:00:00:00:01", interfaces: [], disks: [], bmc: { name: "credentials" } },
  ...{ pinned: true, hugepages: false, firmware: "uefi" },
};

test("a domain whose credentials are not there holds no cores, and none are left when it is not wanted any more", async (t) => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log });
  const passing = async <T>(promise: Promise<T>): Promise<T> => {
    let isSettled = false;
    const settled = promise.finally(() => {
      isSettled = true;
    });
    assert.ok(await clock.run(60_000, () => isSettled));
    return settled;
  };
  await passing(installCrds(client, clock, new AbortController().signal, [[VinoNode]]));
  await passing(client.create(Namespace, { metadata: { name: "n" } }));
  const ref = { namespace: "n", name: "node" };
  const storagePool = { name: "default", path: "/var/lib/images" };
  const spec = { nodeName: "node", storagePool, networks: [], domains: [DOMAIN] };
  const created = client.create(VinoNode, { metadata: { ...ref, labels: { [NODE_LABEL]: "node" } }, spec } as never);
  await passing(created);
  const domains = { put: () => assert.fail("it was made"), remove: () => {} };
  const agent = new SimNodeAgent({ client, clock, node: "node", address: "10.0.0.1", domains });
  t.after(() => agent.close());

  await clock.run(3_000);
  const { status } = await passing(client.get(VinoNode, ref));
  assert.deepEqual([status?.domains?.map(({ state }) => state), [...agent.cores]], [["Pending"], []]);
  await passing(client.patch(VinoNode, ref, { type: "merge", body: { spec: { domains: [] } } }));
  await clock.run(3_000);
  assert.deepEqual([...agent.cores], []);
});
