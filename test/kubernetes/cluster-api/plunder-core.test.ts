/** plunder's manifests of 2019, as `slipway convert` writes them, under upstream's core: on the embedded API, and on kube-apiserver. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, type TestContext, test } from "node:test";
import type { Client } from "@slipway/kube";
import { type Node, Secret } from "@slipway/kube/core";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { convertedFile } from "../../../src/kinds/manifests/convert.ts";
import { BareMetalHost } from "../../../src/kinds/metal3/bare-metal-host.ts";
import { PlunderCluster } from "../../../src/kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../../src/kinds/plunder/plunder-machine.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { ALL_KINDS } from "../../../src/operator/kinds.ts";
import { whyNotHere } from "../cluster.ts";
import { until } from "../live.ts";
import { programs } from "./clusterctl.ts";
import type { FarNetboot } from "./far-netboot.ts";
import { embeddedApi, type Management, realApi } from "./management.ts";
import { type Rack, startPlunder } from "./plunder-provider.ts";
import { startUpstream } from "./upstream.ts";

const RUN = ["capi-core"];
const WITHIN_MS = 300_000;
/** Of this machine: upstream's core is another process, and asks the control plane there. */
const CONTROL_PLANE = "127.0.77.1";
const CLUSTER = { namespace: "default", name: "cluster-plunder" };
const folder = await programs("clusterctl", "kubectl", ...RUN);
const skip = folder instanceof Error && folder.message;
const noReal = (await whyNotHere()) ?? false;
const APIS = [
  ["the embedded API", embeddedApi, false],
  ["kube-apiserver", realApi, noReal],
] as const;

async function manifests(name: string) {
  const text = await readFile(`examples/plunder/2019/${name}.yaml`, "utf8");
  const here = text.replace("192.168.1.123", CONTROL_PLANE);
  return convertedFile(here, name, ALL_KINDS).objects;
}

const RACKS: readonly [rack: Rack, on: string][] = [
  ["own", "hosts of the operator's own"],
  ["a netboot's", "a netboot outside of the cluster, which Secret plunder names"],
];

/** A cluster's life: from its manifests to running Machines, and to wiped machines. */
async function life(t: TestContext, management: Management, rack: Rack): Promise<void> {
  const { client, forbidden, netboot } = await startPlunder(t, management, { rack });
  const to = { client, transport: management.transport };
  for (const name of ["cluster", "machine"]) await applyObjects(to, await manifests(name));
  const machines = async () => (await client.list(Machine)).items;
  const story = async (): Promise<string> =>
    `${JSON.stringify([
      (await client.list(Cluster)).items.map(({ status }) => status),
      (await machines()).map(({ status }) => status?.conditions),
      (await client.list(PlunderMachine)).items.map(({ status }) => status),
    ])}\nforbidden: ${forbidden}\n${(await management.said("capi-core")).slice(-3_000)}`;
  await until(
    "two Machines run",
    async () => (await machines()).filter(({ status }) => status?.phase === "Running").length === 2,
    WITHIN_MS,
    story,
  );
  for (const { spec } of await machines()) assert.match(spec.providerID ?? "", /^plunder:\/\/52:54:00:00:00:0\d$/);
  if (netboot !== undefined)
    assert.deepEqual(await netboot.holders(), ["PlunderMachine/default/controlplane", "PlunderMachine/default/worker"]);
  const kubeconfig = await client.get(Secret, { ...CLUSTER, name: `${CLUSTER.name}-kubeconfig` });
  const text = Buffer.from(kubeconfig.data!.value!, "base64").toString();
  assert.ok(text.includes(`https://${CONTROL_PLANE}:6443`), "the kubeconfig names the first machine's address");
  await client.delete(Cluster, CLUSTER);
  const kinds = [Cluster, Machine, PlunderCluster, PlunderMachine].map((kind) => kind as typeof Node);
  const left = async () => (await Promise.all(kinds.map((kind) => client.list(kind)))).flatMap(({ items }) => items);
  const isGone = async (): Promise<boolean> => {
    await netboot?.restartReleased();
    return (await left()).length === 0;
  };
  await until("the Cluster and its Machines are gone", isGone, WITHIN_MS, story);
  await until("all hosts are wiped and free", () => isFree(client, netboot), WITHIN_MS, story);
  assert.deepEqual([...new Set(forbidden)], [], "the operator was forbidden something by the shipped rights");
}

async function isFree(client: Client, netboot: FarNetboot | undefined): Promise<boolean> {
  if (netboot !== undefined) {
    const disks = [...netboot.rack.servers.values()].flatMap((machine) => machine.disks);
    return (await netboot.holders()).length === 0 && disks.every(({ content }) => content === undefined);
  }
  return (await client.list(BareMetalHost)).items.every(
    ({ spec, status }) => spec.consumerRef === undefined && status?.provisioning?.state === "available",
  );
}

describe("upstream's core", { skip }, () => {
  for (const [where, api, skip] of APIS)
    for (const [rack, on] of RACKS)
      test(`N34 N41 N45 N46 the manifests of 2019, converted, end in two running Machines under upstream's core, and in wiped machines, with the shipped rights, on ${where} and ${on}`, {
        skip,
      }, async (t) => {
        await life(t, await startUpstream(t, String(folder), { run: RUN, api }), rack);
      });
});
