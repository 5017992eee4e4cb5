/** `clusterctl move`, the real one, from one light core to another: machines keep running, and nothing is bought twice. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { quietLog, Secrets } from "@slipway/base";
import { isTrue, type KubeObject } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { TenantControlPlane } from "../../../src/kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { PacketMachine } from "../../../src/kinds/packet/packet-machine.ts";
import { MachineProvider } from "../../../src/kinds/slipway/machine-provider.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { type Laptop, startLaptop } from "../../../src/laptop/laptop.ts";
import { readManifests } from "../../../src/laptop/manifests.ts";
import { EXAMPLE_KEYS } from "../../../src/laptop/metal.ts";
import { DEFAULT_NAMESPACE } from "../../../src/operator/defaults.ts";
import { until } from "../live.ts";
import { clusterctlOf, kubeconfigIn, programs, scratch } from "./clusterctl.ts";

const NAME = "capi-quickstart";
const TENANTS = "tenants";
const PROVIDER = "metal";
const WITHIN_MS = 180_000;
const folder = await programs("clusterctl");
const skip = folder instanceof Error && folder.message;

async function laptop(t: TestContext): Promise<Laptop> {
  const started = await startLaptop({
    ...{ kubernetes: "embedded", dir: undefined, host: "127.0.0.1", port: 0, speed: 400, counterparts: [] },
    ...{ log: quietLog, secrets: new Secrets() },
  });
  t.after(() => started.close());
  return started;
}

/** The account of the one cloud, which is no object of the cluster's: each management cluster has its own. */
async function account({ client }: Laptop, endpoint: string): Promise<void> {
  const { token, project } = EXAMPLE_KEYS.equinix;
  const data = { METAL_AUTH_TOKEN: base64(token), PROJECT_ID: base64(project.id) };
  await client.create(Secret, { metadata: { name: PROVIDER, namespace: DEFAULT_NAMESPACE }, data });
  await client.create(MachineProvider, {
    metadata: { name: PROVIDER },
    spec: { type: "equinix", endpoint, credentialsSecretRef: { name: PROVIDER } },
  });
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The Packet example with its tenant in a third cluster, and its machines from the account. */
async function manifests(elsewhere: string): Promise<KubeObject[]> {
  const objects = await readManifests("examples/packet-kamaji");
  const changes: Record<string, object> = {
    PacketCluster: { providerRef: { name: PROVIDER } },
    KamajiControlPlane: {
      deployment: {
        externalClusterReference: {
          ...{ kubeconfigSecretName: "elsewhere", kubeconfigSecretKey: "value", deploymentNamespace: TENANTS },
        },
      },
    },
  };
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    // Owned by nobody: the label has clusterctl take it along.
    metadata: { name: "elsewhere", namespace: "default", labels: { "clusterctl.cluster.x-k8s.io/move": "" } },
    data: { value: base64(elsewhere) },
  };
  const changed = objects.map((object) => {
    const { spec } = object as KubeObject & { spec?: object };
    return changes[object.kind] === undefined ? object : { ...object, spec: { ...spec, ...changes[object.kind] } };
  });
  return [...changed, secret as unknown as KubeObject];
}

async function available({ client }: Laptop): Promise<void> {
  const find = () => client.find(Cluster, { namespace: "default", name: NAME });
  await until(
    "the cluster is available with three running machines",
    async () => {
      const machines = (await client.list(Machine)).items;
      const running = machines.filter(
        ({ status }) => status?.phase === "Running" && isTrue(status.conditions, "Ready"),
      );
      return isTrue((await find())?.status?.conditions, "Available") && running.length === 3;
    },
    WITHIN_MS,
    async () =>
      JSON.stringify([(await find())?.status, (await client.list(Machine)).items.map(({ status }) => status)]),
  );
}

const idsOf = async ({ client }: Laptop): Promise<string[]> =>
  (await client.list(Machine)).items.map(({ metadata, spec }) => `${metadata.name} ${spec.providerID}`).toSorted();

describe("clusterctl move", { skip }, () => {
  test("from one light core to another, and back: the same machines and the same tenant, and nothing is left behind", async (t) => {
    const [tenants, home, away] = [await laptop(t), await laptop(t), await laptop(t)];
    const cloud = home.metal.equinix;
    for (const each of [home, away]) await account(each, cloud.url);
    await tenants.client.create(Namespace, { metadata: { name: TENANTS } });
    await applyObjects(home, await manifests(tenants.identity.kubeconfig(tenants.url)));
    await available(home);
    const tenantsThere = async () =>
      (await tenants.client.list(TenantControlPlane)).items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
    const [machines, planes, devices] = [await idsOf(home), await tenantsThere(), cloud.sim.devices().length];
    assert.equal(devices, 3);

    const dir = await scratch(t);
    const clusterctl = clusterctlOf(String(folder), dir);
    const files = new Map<Laptop, string>();
    for (const [name, each] of Object.entries({ home, away }))
      files.set(each, await kubeconfigIn(dir, name, each.identity.kubeconfig(each.url)));
    for (const [from, to] of [
      [home, away],
      [away, home],
    ] as const) {
      await clusterctl("move", "--kubeconfig", files.get(from)!, "--to-kubeconfig", files.get(to)!);
      for (const kind of [Cluster, Machine, PacketMachine, KamajiControlPlane])
        assert.deepEqual((await from.client.list(kind as typeof Cluster)).items, []);
      await available(to);
      assert.deepEqual(await idsOf(to), machines);
      assert.deepEqual(await tenantsThere(), planes);
      assert.equal(cloud.sim.devices().length, devices);
    }
  });
});
