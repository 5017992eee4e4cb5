/** The inventory's driver on the embedded API; the engine of hosts is played by the test. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { NOTHING } from "../../../inventory/claims/claim.ts";
import { installCrds } from "../../../kinds/install.ts";
import { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import type { Order } from "../../machine.ts";
import { createInventoryDriver } from "./driver.ts";

const NAMESPACE = "rack";
const ORDER: Order = {
  claim: "uid-1",
  claimant: { apiVersion: "machines.test/v1", kind: "Claim", name: "pool-a" },
  group: "pool",
  hostname: "pool-a",
  placement: { plan: "any", metro: undefined },
  operatingSystem: "custom_ipxe",
  boot: { scriptUrl: "http://boot.test/secret", userData: "" },
  tags: [],
};

async function stage(t: TestContext) {
  const [clock, random, log] = [new VirtualClock(), seededRandom(1), quietLog];
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log });
  const installed = installCrds(client, clock, new AbortController().signal, [[BareMetalHost]]);
  await clock.run(60_000);
  await installed;
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  const ref = { namespace: NAMESPACE, name: "node-1" };
  const spec = { online: false, automatedCleaningMode: "metadata" as const };
  await client.create(BareMetalHost, { metadata: ref, spec });
  const host = () => client.get(BareMetalHost, ref);
  const enter = async (state: string): Promise<void> => {
    const status = { operationalStatus: "OK", errorMessage: "", poweredOn: true, provisioning: { state, ID: "" } };
    await client.updateStatus(BareMetalHost, { ...(await host()), status: status as never });
  };
  await enter("available");
  const list = async () => (await client.list(BareMetalHost)).items;
  const http = async () => assert.fail("no cloud is asked");
  const driver = createInventoryDriver(
    {
      ...{ endpoint: undefined, token: "", project: "", planMapping: {}, metroMapping: {} },
      inventory: { namespaces: [NAMESPACE], plans: { any: {} }, setAsideAfter: 2 },
    },
    { clock, log, http, hosts: { client, list } },
  );
  return { client, driver, host, enter };
}

test("a claim takes a host, switches it on, and says what it boots in a Secret that its claimant owns", async (t) => {
  const { client, driver, host } = await stage(t);
  const machine = await driver.create(ORDER);
  assert.deepEqual([machine.id, machine.phase, machine.plan], ["rack/node-1/uid-1", "building", "any"]);
  const { spec, metadata } = await host();
  assert.deepEqual(spec.consumerRef, { ...ORDER.claimant, uid: "uid-1" });
  assert.deepEqual([spec.online, spec.customDeploy?.method, spec.userData?.name], [true, "ipxe", "script-uid-1"]);
  assert.equal(metadata.labels?.["slipway.dev/group"], "pool");
  const secret = await client.get(Secret, { namespace: NAMESPACE, name: "script-uid-1" });
  assert.equal(Buffer.from(secret.data!.scriptURL!, "base64").toString(), "http://boot.test/secret");
  assert.deepEqual(secret.metadata.ownerReferences, [{ ...ORDER.claimant, uid: "uid-1" }]);
  assert.deepEqual(
    (await driver.find("uid-1")).map(({ id }) => id),
    [machine.id],
  );
  assert.deepEqual(await driver.find("uid-2"), []);
});

test("a machine that is given back keeps its host until that is wiped, and takes nothing from who has it next", async (t) => {
  const { client, driver, host, enter } = await stage(t);
  const { id } = await driver.create(ORDER);
  await enter("provisioned");
  assert.equal((await driver.read(id))?.phase, "running");
  await driver.release(id, { force: false });
  await driver.release(id, { force: false });
  assert.equal((await driver.read(id))?.phase, "releasing");
  assert.equal((await host()).spec.customDeploy, undefined);
  assert.equal(await client.find(Secret, { namespace: NAMESPACE, name: "script-uid-1" }), undefined);

  await driver.release(id, { force: true });
  assert.equal(await driver.read(id), undefined);
  await enter("available");
  const next = await driver.create({ ...ORDER, claim: "uid-2" });
  await driver.release(id, { force: true });
  assert.equal((await host()).spec.consumerRef?.uid, "uid-2");
  assert.equal((await driver.read(next.id))?.phase, "building");
  await assert.rejects(driver.power(id, "off"), /is not this claim's/);
});

test("power is what the host's specification says, and a cycle its annotation", async (t) => {
  const { driver, host } = await stage(t);
  const { id } = await driver.create(ORDER);
  await driver.power(id, "off");
  assert.equal((await host()).spec.online, false);
  await driver.power(id, "on");
  await driver.power(id, "cycle");
  assert.equal((await host()).spec.online, true);
  assert.equal((await host()).metadata.annotations?.["reboot.metal3.io"], '{"mode":"hard"}');
});

test("an installation anew is announced, with what is to be installed, and its script is the new one", async (t) => {
  const { client, driver, host, enter } = await stage(t);
  const { id } = await driver.create(ORDER);
  await enter("provisioned");
  const boot = { scriptUrl: "http://boot.test/another", userData: "" };
  await driver.reinstall(id, boot);
  await driver.reinstall(id, boot);
  const { spec, metadata } = await host();
  assert.equal(spec.customDeploy, undefined);
  assert.deepEqual(JSON.parse(metadata.annotations!["slipway.dev/install-again"]!), {
    customDeploy: { method: "ipxe" },
    userData: { name: "script-uid-1", namespace: NAMESPACE },
  });
  assert.equal((await driver.read(id))?.phase, "reinstalling");
  const secret = await client.get(Secret, { namespace: NAMESPACE, name: "script-uid-1" });
  assert.equal(Buffer.from(secret.data!.scriptURL!, "base64").toString(), boot.scriptUrl);
});

test("a script is removed when its claim gets no host after all, and when its host is lost", async (t) => {
  const { client, driver, host } = await stage(t);
  const ref = { namespace: NAMESPACE, name: "node-1" };
  const consume = (consumerRef: object | null) =>
    client.patch(BareMetalHost, ref, { type: "merge", body: { spec: { ...NOTHING, consumerRef } } });
  const scripts = async () =>
    (await client.list(Secret, { namespace: NAMESPACE })).items.map(({ metadata }) => metadata.name).toSorted();
  // Another takes the host between the look and the claim.
  const other = { ...ORDER.claimant, name: "other", uid: "uid-9" };
  const forHost = async () => void (await consume(other));
  await assert.rejects(driver.create({ ...ORDER, boot: { ...ORDER.boot, forHost } }), /no host can be had/);
  assert.equal((await host()).spec.consumerRef?.uid, "uid-9");
  assert.deepEqual(await scripts(), []);
  await consume(null);
  for (const claim of ["uid-1", "uid-2"]) {
    await driver.create({ ...ORDER, claim });
    await consume(null);
  }
  assert.deepEqual(await scripts(), ["script-uid-1", "script-uid-2"]);
  await driver.forget!("uid-1");
  await driver.forget!("uid-1");
  assert.deepEqual(await scripts(), ["script-uid-2"]);
});

test("who has lost the lease changes nothing any more", async (t) => {
  const { driver, host } = await stage(t);
  const lost = AbortSignal.abort();
  await assert.rejects(driver.create(ORDER, lost));
  assert.equal((await host()).spec.consumerRef, undefined);
  const { id } = await driver.create(ORDER);
  await assert.rejects(driver.release(id, { force: true }, lost));
  await assert.rejects(driver.power(id, "off", lost));
  const { spec } = await host();
  assert.deepEqual([spec.consumerRef?.uid, spec.online], ["uid-1", true]);
});

test("networks other than the plain one are refused with what to do", async (t) => {
  const { driver } = await stage(t);
  const machine = await driver.create(ORDER);
  const settled = (mode: "layer3" | "hybrid" | undefined, vlans: string[] = []) =>
    driver.networkSettled(machine, { mode, vlans: vlans.map((vlan) => ({ port: "eth0", vlans: [vlan] })) });
  assert.deepEqual(
    [settled(undefined), settled("layer3"), settled("hybrid"), settled("layer3", ["5"])],
    [true, true, false, false],
  );
  await assert.rejects(driver.setNetwork(machine, { mode: "hybrid", vlans: [] }), /set at their switches/);
});
