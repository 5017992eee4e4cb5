import assert from "node:assert/strict";
import { test } from "node:test";
import type { ElasticAddress } from "../../machines/elastic.ts";
import type { MachineDriver } from "../../machines/machine.ts";
import { aPacketCluster } from "./testing.ts";
import { seeToVip, vipSteps } from "./vip.ts";

const WITH_ADDRESS = { elasticIP: { id: "ip-1", address: "203.0.113.5" } };
const cpem = aPacketCluster({}, WITH_ADDRESS);
const kubeVip = aPacketCluster({ vipManager: "KUBE_VIP" }, WITH_ADDRESS);
const steps = (cluster = cpem, isControlPlane = true, held?: Parameters<typeof vipSteps>[0]["held"]) =>
  vipSteps({ cluster, isControlPlane, held });

test("CPEM: the address is for control plane machines, once it is reserved and until it was seen to", () => {
  assert.deepEqual(steps(), ["address"]);
  assert.deepEqual(steps(cpem, false), []);
  assert.deepEqual(steps(cpem, true, { address: true }), []);
  assert.deepEqual(steps(cpem, true, { session: true }), ["address"]);
  assert.deepEqual(steps(aPacketCluster()), []);
  assert.deepEqual(steps(aPacketCluster({ vipManager: "NONE" }, WITH_ADDRESS)), []);
});

test("KUBE_VIP: every machine gets its BGP session once", () => {
  assert.deepEqual(steps(kubeVip), ["session"]);
  assert.deepEqual(steps(kubeVip, false), ["session"]);
  assert.deepEqual(steps(kubeVip, true, { session: true }), []);
});

test("B32 machines of a foreign control plane, and of none, do nothing about addresses", () => {
  const foreign = aPacketCluster({}, WITH_ADDRESS, { annotations: { "cluster.x-k8s.io/managed-by": "other" } });
  assert.deepEqual(steps(foreign), []);
  assert.deepEqual(vipSteps({ cluster: undefined, isControlPlane: true, held: undefined }), []);
});

/** A driver that records what is asked of it. */
function provider(addresses: ElasticAddress[]) {
  const asked: string[] = [];
  const elastic = {
    list: async () => addresses,
    assign: async ({ id }: ElasticAddress, machine: string) => void asked.push(`assign ${id} ${machine}`),
    openSession: async (machine: string) => void asked.push(`session ${machine}`),
  };
  return { asked, driver: { elastic } as unknown as MachineDriver };
}
const { signal } = new AbortController();

test("CPEM: a free address is assigned; one that a machine has stays there, for the cloud controller moves it", async () => {
  const address: ElasticAddress = { id: "ip-1", address: "203.0.113.5", tags: [], metro: "da", assignments: [] };
  const taken = { ...address, assignments: [{ id: "a", machine: "m-2" }] };
  for (const [addresses, expected] of [
    [[address], ["assign ip-1 m-1"]],
    [[taken], []],
    [[{ ...address, id: "ip-2" }], []],
  ] as const) {
    const { asked, driver } = provider([...addresses]);
    assert.deepEqual(await seeToVip({ signal }, driver, { step: "address", machine: "m-1", cluster: cpem }), {
      address: true,
    });
    assert.deepEqual(asked, expected);
  }
});

test("KUBE_VIP: the session is opened and the address left alone", async () => {
  const { asked, driver } = provider([]);
  assert.deepEqual(await seeToVip({ signal }, driver, { step: "session", machine: "m-1", cluster: kubeVip }), {
    session: true,
  });
  assert.deepEqual(asked, ["session m-1"]);
});
