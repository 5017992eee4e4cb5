import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, isFault, quietLog, systemClock } from "@slipway/base";
import { type Context, conditionOf, createClient, DONE, type KubeObject } from "@slipway/kube";
import { FakeApi } from "@slipway/kube/testing";
import { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import type { Machine } from "../../machines/machine.ts";
import { Patience } from "../../machines/patience.ts";
import { aMachine } from "../../machines/testing.ts";
import { FetchedData } from "./fetched-data.ts";
import { machineController } from "./machine-controller.ts";
import { MACHINE_FINALIZER } from "./names.ts";
import type { Plunder } from "./shared.ts";

const REF = { namespace: "shop", name: "w1" };
const MAC = "52:54:00:00:00:0a";
const MACHINE = {
  metadata: { name: "m", namespace: "shop", uid: "uid-m" },
  spec: {
    clusterName: "c1",
    bootstrap: { dataSecretName: "data" },
    infrastructureRef: { kind: "PlunderMachine", name: "w1" },
  },
};
const CLUSTER = {
  metadata: { name: "c1", namespace: "shop", uid: "uid-c" },
  spec: { infrastructureRef: { kind: "PlunderCluster", name: "c1" } },
  status: { initialization: { infrastructureProvisioned: true } },
};
const OWNER = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Machine", name: "m", uid: "uid-m" };
const TAKEN = {
  ...{ instanceID: "rack/h-1/uid", host: "rack/h-1", provider: "own" },
  purchase: { attempt: 1, at: "1970-01-01T00:00:00.000Z", state: "Done", placement: 0 },
};

interface World {
  metadata?: object;
  spec?: object;
  status?: object;
  cluster?: object;
  sight?: Partial<Machine>;
  /** Another PlunderMachine of the same MAC address. */
  other?: KubeObject;
}

/** A PlunderMachine on an API, with its surroundings and an inventory that has its host. */
async function stage({ metadata = {}, spec = {}, status = TAKEN, cluster = CLUSTER, sight = {}, other }: World = {}) {
  const api = new FakeApi();
  const client = createClient(api, { clock: systemClock, random: cryptoRandom, log: quietLog });
  await client.create(PlunderMachine, {
    metadata: { ...REF, generation: 3, finalizers: [MACHINE_FINALIZER], ownerReferences: [OWNER], ...metadata },
    spec: { deploymentType: "preseed", ...spec },
    status,
  } as never);
  const object = async () => (await client.find(PlunderMachine, REF))!;
  const seen = await object();
  const around: Record<string, unknown> = { PlunderMachine: seen, Machine: MACHINE, Cluster: cluster };
  const quiet = () => {};
  const context = {
    ...{ client, log: quietLog, random: cryptoRandom, signal: new AbortController().signal },
    clock: { now: () => 1_000, monotonic: () => 1_000 },
    ...{ clean: <T>(value: T): T => value, events: { normal: quiet, warning: quiet } },
    cache: {
      get: ({ kind }: { kind: string }) => around[kind],
      byIndex: (_: unknown, index: string, key: string) =>
        index === "providerID" && key === `plunder://${MAC}` && other !== undefined ? [other] : [],
    },
  } as unknown as Context;
  const looks: string[] = [];
  const look = async (id: string) => {
    looks.push(id);
    return aMachine({ id, bootMac: MAC, ...sight });
  };
  const driver = { type: "inventory", capabilities: { reinstall: true }, find: async () => [], check: () => [] };
  const plunder = {
    accounts: { fleet: async () => ({ driver, look, note: (one: Machine) => one, all: async () => [] }) },
    ...{ own: { namespace: "ns", secret: "own" }, pollMs: 15_000, patience: new Patience() },
    fetched: new FetchedData({ find: async () => undefined } as never),
  } as unknown as Plunder;
  const reconcile = () =>
    machineController(plunder)
      .reconcile(REF, context)
      .catch((error: unknown) => error);
  return { reconcile, object, looks, access: machineController(plunder).access };
}

test("N40 a paused machine is left alone, says so, and what is waited for is to be unpaused", async () => {
  for (const world of [
    { cluster: { ...CLUSTER, spec: { ...CLUSTER.spec, paused: true } } },
    { metadata: { annotations: { "cluster.x-k8s.io/paused": "" } } },
  ]) {
    const { reconcile, object, looks } = await stage(world);
    assert.deepEqual([await reconcile(), looks], [DONE, []]);
    const { status, spec } = await object();
    assert.deepEqual([conditionOf(status?.conditions, "Paused")?.status, spec.providerID], ["True", undefined]);
    assert.equal(status?.waitingFor, "the Cluster or the object to be unpaused");
  }
});

test("N32 a host that runs gives the machine its name, and the machine is looked at again at once", async () => {
  const { reconcile, object } = await stage();
  assert.deepEqual(await reconcile(), { againAfterMs: 0 });
  assert.equal((await object()).spec.providerID, `plunder://${MAC}`);
});

test("N32 a machine that has its name says that it is installed; one whose card is not known yet has none", async () => {
  const named = await stage({ spec: { providerID: `plunder://${MAC}` } });
  await named.reconcile();
  assert.equal(conditionOf((await named.object()).status?.conditions, "Paused")?.status, "False");
  assert.equal((await named.object()).status?.ready, true);
  const unseen = await stage({ sight: { bootMac: undefined } });
  await unseen.reconcile();
  assert.equal((await unseen.object()).spec.providerID, undefined);
  assert.ok((await unseen.object()).status?.conditions?.some(({ type }) => type === "Installed"));
});

test("N38 a MAC address that another machine has gives no second one its name", async () => {
  const other = { metadata: { namespace: "shop", name: "w2", uid: "uid-2" } } as KubeObject;
  const { reconcile, object } = await stage({ other });
  const outcome = await reconcile();
  const { status, spec } = await object();
  assert.equal(spec.providerID, undefined);
  assert.match(isFault(outcome) ? outcome.message : JSON.stringify(status), /which is that of .*w2/);
});

test("its rights are those that it uses: boots are written in its own namespace alone", async () => {
  const { access } = await stage();
  const rights = access.map(
    ({ resource, verbs, subresource, namespace }) =>
      `${resource.kind}${subresource ? `/${subresource}` : ""} ${verbs.join()}${namespace ? ` in ${namespace}` : ""}`,
  );
  assert.deepEqual(rights, [
    ...["PlunderMachine get,update,patch", "PlunderMachine/status get,update,patch", "MachineProvider get"],
    ...["IPAddressClaim get,create", "Secret get,create,patch", "Secret get,create,patch,delete in ns"],
  ]);
});
