/** plunder's manifests of 2019 as they are, in versions that no upstream serves any more, on kube-apiserver: with the light core, and with the rights that `deploy/` ships. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { loadAll } from "js-yaml";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { MachineV1alpha2 } from "../../../src/kinds/cluster-api/v1alpha2.ts";
import { BareMetalHost } from "../../../src/kinds/metal3/bare-metal-host.ts";
import { PlunderMachine } from "../../../src/kinds/plunder/plunder-machine.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { startCluster, whyNotHere } from "../cluster.ts";
import { until } from "../live.ts";
import { CONTROLLERS } from "./management.ts";
import { startPlunder } from "./plunder-provider.ts";

const skip = (await whyNotHere()) ?? false;
const WITHIN_MS = 300_000;
/** Of this machine, in the place of an address of the author's. */
const CONTROL_PLANE = "127.0.77.2";

async function manifests(name: string): Promise<KubeObject[]> {
  const text = await readFile(`examples/plunder/2019/${name}.yaml`, "utf8");
  return loadAll(text.replace("192.168.1.123", CONTROL_PLANE)) as KubeObject[];
}

test("N34 N41 N45 N46 the manifests of 2019 as they are end in two running Machines of v1alpha2 on kube-apiserver, and in wiped hosts", {
  skip,
}, async (t) => {
  const { plane, transport, close } = await startCluster({ controllers: CONTROLLERS });
  t.after(close);
  const { client, forbidden } = await startPlunder(
    t,
    { transport, kubeconfigFile: plane.kubeconfigFile },
    { core: "light" },
  );
  const story = async (): Promise<string> =>
    `${JSON.stringify([
      (await client.list(Cluster)).items.map(({ status }) => status),
      (await client.list(Machine)).items.map(({ status }) => status?.conditions),
      (await client.list(PlunderMachine)).items.map(({ status }) => status),
    ])}\nforbidden: ${forbidden}`;

  for (const name of ["cluster", "machine"]) await applyObjects({ client, transport }, await manifests(name));
  const running = async (): Promise<MachineV1alpha2[]> =>
    (await client.list(MachineV1alpha2)).items.filter(({ status }) => status?.phase === "running");
  await until("two Machines of v1alpha2 run", async () => (await running()).length === 2, WITHIN_MS, story);
  for (const { spec, status } of await running()) {
    assert.match(spec.providerID ?? "", /^plunder:\/\/52:54:00:00:00:0\d$/);
    assert.ok(status?.nodeRef?.name, "it has a Node");
  }

  for (const { metadata } of (await client.list(Machine)).items)
    await client.delete(Machine, { namespace: "default", name: metadata.name });
  const isGone = async (): Promise<boolean> =>
    (await client.list(Machine)).items.length + (await client.list(PlunderMachine)).items.length === 0;
  await until("the Machines are gone", isGone, WITHIN_MS, story);
  const isFree = async (): Promise<boolean> =>
    (await client.list(BareMetalHost)).items.every(
      ({ spec, status }) => spec.consumerRef === undefined && status?.provisioning?.state === "available",
    );
  await until("all hosts are wiped and free", isFree, WITHIN_MS, story);
  assert.deepEqual([...new Set(forbidden)], [], "the operator was forbidden something by the shipped rights");
});
