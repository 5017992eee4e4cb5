/** Objects as versions left them that made one of each card. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Event } from "@slipway/kube/core";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { DISCOVERED_LABEL } from "./declaration.ts";
import { INVENTORY, MAC, NAMESPACE, type Rack, rack } from "./testing.ts";
import { twinsOf } from "./twins.ts";

const SECOND = "52:54:00:12:34:57";
const NAMES = [MAC, SECOND].map((mac) => `host-${mac.replaceAll(":", "-")}`) as [string, string];

async function made(
  { client }: Rack,
  name: string,
  mac: string,
  { spec = {}, isDiscovered = true, annotations = {} }: { spec?: object; isDiscovered?: boolean; annotations?: object },
): Promise<void> {
  const labels = isDiscovered ? { [DISCOVERED_LABEL]: "true" } : {};
  await client.create(BareMetalHost, {
    metadata: { name, namespace: NAMESPACE, labels, annotations: { ...annotations } },
    spec: { online: true, automatedCleaningMode: "metadata", bootMACAddress: mac, ...spec },
  });
}

/** The names that are left once the machine has shown both cards. */
async function left(at: Rack): Promise<string[]> {
  at.seen.hear(MAC, at.clock.now(), { macs: [MAC, SECOND], inventory: INVENTORY });
  await at.settle();
  return (await at.hosts()).map(({ metadata }) => metadata.name);
}

test("of two objects that discovery made of one machine the older goes on, and an event says so", async (t) => {
  const at = await rack(t);
  await made(at, NAMES[1], SECOND, {});
  await at.settle();
  await made(at, NAMES[0], MAC, {});
  assert.deepEqual(await left(at), [NAMES[1]]);
  const { items } = await at.client.list(Event);
  const told = items.filter(({ reason }) => reason === "Merged").map(({ involvedObject }) => involvedObject?.name);
  assert.deepEqual(told.toSorted(), [...NAMES].toSorted());
  const [host] = await at.hosts();
  assert.equal(host?.status?.hardware?.ramMebibytes, 2048, "it has what the machine reports");
});

test("what is used, approved or declared goes before what is older", async (t) => {
  const image = { url: "http://images.invalid/a.raw", checksum: "0" };
  const goesOn = [{ spec: { image } }, { annotations: { "slipway.dev/approved": "true" } }, { isDiscovered: false }];
  for (const which of goesOn) {
    const at = await rack(t);
    await made(at, NAMES[1], SECOND, {});
    await at.settle();
    const name = which.isDiscovered === false ? "mine" : NAMES[0];
    await made(at, name, MAC, which);
    assert.deepEqual(await left(at), [name], JSON.stringify(which));
  }
});

test("what is used, declared, or of the very card that is declared, is not deleted", async (t) => {
  const consumerRef = { apiVersion: "v1", kind: "ConfigMap", name: "mine" };
  const both: [Parameters<typeof made>[3], Parameters<typeof made>[3], string][] = [
    [{ spec: { consumerRef } }, { spec: { consumerRef } }, SECOND],
    [{ isDiscovered: false }, { isDiscovered: false }, SECOND],
    [{ isDiscovered: false }, {}, MAC],
  ];
  for (const [first, second, mac] of both) {
    const at = await rack(t);
    await made(at, first.isDiscovered === false ? "mine" : NAMES[0], MAC, first);
    await made(at, second.isDiscovered === false ? "other" : NAMES[1], mac, second);
    assert.equal((await left(at)).length, 2, JSON.stringify([first, second]));
  }
});

test("an object is merged from each state in which nothing of a user's is on the machine, and from no other", () => {
  const object = (name: string, mac: string, { state = "available", spec = {}, metadata = {} } = {}) =>
    ({
      metadata: {
        namespace: NAMESPACE,
        name,
        creationTimestamp: "2026-01-01T00:00:00Z",
        labels: { [DISCOVERED_LABEL]: "true" },
        ...metadata,
      },
      spec: { online: true, bootMACAddress: mac, ...spec },
      status: { provisioning: { state } },
    }) as unknown as BareMetalHost;
  const older = object(NAMES[0], MAC, { metadata: { creationTimestamp: "2025-01-01T00:00:00Z" } });
  const merged = (of: Parameters<typeof object>[2]) =>
    twinsOf([older, object(NAMES[1], SECOND, of)], NAMESPACE)?.host.metadata.name;
  for (const state of ["", "unmanaged", "registering", "inspecting", "preparing", "available"])
    assert.equal(merged({ state }), NAMES[1], state);
  for (const state of ["provisioning", "provisioned", "externally provisioned", "deprovisioning", "deleting"])
    assert.equal(merged({ state }), NAMES[0], `${state}: it is used, and the other goes`);
  for (const spec of [
    { consumerRef: { name: "x" } },
    { image: { url: "http://a" } },
    { customDeploy: { method: "ipxe" } },
    { bmc: { address: "redfish://b" } },
    { externallyProvisioned: true },
  ])
    assert.equal(merged({ spec }), NAMES[0], JSON.stringify(spec));
  assert.equal(merged({ metadata: { deletionTimestamp: "2026-01-02T00:00:00Z" } }), undefined);
  assert.equal(merged({ spec: { bootMACAddress: MAC } }), undefined, "it is of the very card");
  assert.equal(twinsOf([older], NAMESPACE), undefined);
  assert.equal(twinsOf([], NAMESPACE), undefined);
  const elsewhere = object("node-1", SECOND, { metadata: { namespace: "other", labels: {} } });
  assert.equal(twinsOf([older, elsewhere], NAMESPACE)?.into.metadata.name, "node-1", "who declares it has it");
});
