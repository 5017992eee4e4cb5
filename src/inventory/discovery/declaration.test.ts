import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomResourceDefinition, Event, Namespace } from "@slipway/kube/core";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { standingUnder } from "../../netboot/hosts/standing-under.ts";
import { inventoryOf } from "../../netboot/hosts/testing.ts";
import { fingerprint } from "../../netboot/protocol/key.ts";
import { MAC, MINUTE, NAMESPACE, rack } from "./testing.ts";

const NAME = "host-52-54-00-12-34-56";
const HERE = { namespace: NAMESPACE, name: NAME };

const declared = (name: string, mac: string, more: object = {}) => ({
  metadata: { name, namespace: "default", ...more },
  spec: { online: true, automatedCleaningMode: "metadata" as const, bootMACAddress: mac },
});

test("N1 a host is declared by the one BareMetalHost that an administrator made with its card", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  seen.hear(MAC, clock.now());
  await settle();
  assert.deepEqual(seen.declared.get(NAME), { is: "none" });
  await client.create(BareMetalHost, declared("node-7", MAC.toUpperCase()));
  await settle(1_000);
  assert.deepEqual(seen.declared.get(NAME), { is: "declared" });

  const object = await client.get(BareMetalHost, { namespace: "default", name: "node-7" });
  const elsewhere = { ...object, spec: { ...object.spec, bootMACAddress: "52:54:00:00:00:99" } };
  await client.update(BareMetalHost, elsewhere);
  await settle(1_000);
  assert.deepEqual(seen.declared.get(NAME), { is: "none" }, "it was moved to another card");
  await client.update(BareMetalHost, {
    ...(await client.get(BareMetalHost, { namespace: "default", name: "node-7" })),
    spec: object.spec,
  });
  await settle(1_000);
  await client.delete(BareMetalHost, { namespace: "default", name: "node-7" });
  await settle(1_000);
  assert.deepEqual(seen.declared.get(NAME), { is: "none" }, "it was deleted");
});

test("N1 two declarations of one card count as none, and both have an event", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  seen.hear(MAC, clock.now());
  for (const name of ["node-7", "node-8"]) await client.create(BareMetalHost, declared(name, MAC));
  await settle();
  assert.deepEqual(seen.declared.get(NAME), { is: "twice" });
  const events = (await client.list(Event)).items.filter(({ reason }) => reason === "DeclaredTwice");
  assert.deepEqual(events.map((event) => event.involvedObject?.name).sort(), ["node-7", "node-8"]);
});

test("N1 what discovery made is never declared, whatever becomes of its label", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  seen.hear(MAC, clock.now());
  await settle();
  const made = await client.get(BareMetalHost, HERE);
  await client.update(BareMetalHost, { ...made, metadata: { ...made.metadata, labels: {} } });
  await settle();
  assert.deepEqual(seen.declared.get(NAME), { is: "none" });
});

test("N1 a card that a machine merely names is neither declared for it nor joins it to another's object", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  const other = "52:54:00:00:00:77";
  await client.create(BareMetalHost, declared("victim", other));
  await settle(1_000);
  seen.hear(MAC, clock.now(), { inventory: inventoryOf(MAC, other), inventoryAt: clock.now() });
  await settle();
  assert.deepEqual(seen.declared.get(NAME), { is: "none" });
  const own = await client.get(BareMetalHost, HERE);
  assert.equal(own.status?.hardware?.nics?.length, 2);

  // A machine that boots by the named card later has an object of its own.
  await client.delete(BareMetalHost, { namespace: "default", name: "victim" });
  seen.hear(other, clock.now());
  await settle();
  assert.equal((await client.list(BareMetalHost, { namespace: NAMESPACE })).items.length, 2);
  // Proven, the card counts.
  await client.create(BareMetalHost, declared("mine", "52:54:00:00:00:78"));
  seen.hear(MAC, clock.now(), { macs: [MAC, "52:54:00:00:00:78"] });
  await settle();
  assert.deepEqual(seen.declared.get(NAME), { is: "declared" });
});

test("N1 the annotation approves a host, or the boot whose key it names; the one that demands a key goes first", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  seen.hear(MAC, clock.now());
  await settle();
  const annotate = async (ref: { namespace: string; name: string }, value: string) => {
    const object = await client.get(BareMetalHost, ref);
    const metadata = { ...object.metadata, annotations: { "slipway.dev/approved": value } };
    await client.update(BareMetalHost, { ...object, metadata });
    await settle(1_000);
    return seen.declared.get(NAME);
  };
  assert.deepEqual(await annotate(HERE, "true"), { is: "none", approved: "true" });
  await client.create(BareMetalHost, declared("node-7", MAC));
  await settle(1_000);
  const key = fingerprint(`age1${"q".repeat(58)}`);
  assert.deepEqual(await annotate({ namespace: "default", name: "node-7" }, key), { is: "declared", approved: key });
});

test("N1 the status of a discovered host has its agent's key, address and trust, and what it waits for", async (t) => {
  const { seen, clock, client, writes, settle } = await rack(t);
  const agentKey = `age1${"q".repeat(58)}`;
  const session = {
    ...{ card: MAC, address: "10.0.0.9", proof: "lease" as const, registeredAt: clock.now(), spokeAt: clock.now() },
  };
  seen.hear(MAC, clock.now(), { session, agentKey });
  await settle();
  const agentOf = async () => (await client.get(BareMetalHost, HERE)).status?.agent;
  assert.deepEqual(await agentOf(), {
    address: "10.0.0.9",
    keyFingerprint: fingerprint(agentKey),
    registeredAt: new Date(session.registeredAt).toISOString(),
    trust: "discovered",
    waitsFor: "to be declared or approved: the test says so",
  });
  seen.trust = "approved";
  seen.hear(MAC, clock.now());
  await settle();
  assert.deepEqual([(await agentOf())?.trust, (await agentOf())?.waitsFor], ["approved", "an order"]);
  const certificate = {
    issuer: "CN=Maker",
    serial: "0a",
    until: "2030-01-01T00:00:00.000Z",
    authority: "c".repeat(64),
  };
  const tpm = { endorsementKey: "a".repeat(64), pcrs: { 7: "b".repeat(64) }, certificate };
  seen.hear(MAC, clock.now(), { tpm });
  await settle();
  assert.deepEqual((await agentOf())?.tpm, tpm);
  writes.length = 0;
  seen.hear(MAC, clock.now(), { session: { ...session, spokeAt: clock.now() } });
  await settle();
  assert.deepEqual(writes, []);
  const [event] = (await client.list(Event)).items.filter(({ reason }) => reason === "AgentRegistered");
  assert.match(event?.message ?? "", new RegExp(`^from 10\\.0\\.0\\.9 with the key ${fingerprint(agentKey)}; `));
});

test("one event shows of an agent that registers, and again with its key; without a key it is reported a minute later", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  const messages = async (): Promise<string[]> =>
    (await client.list(Event)).items
      .filter(({ reason }) => reason === "AgentRegistered")
      .map(({ message }) => message!);
  const session = { card: MAC, address: "10.0.0.9", proof: "lease" as const, registeredAt: clock.now(), spokeAt: 1 };
  seen.hear(MAC, clock.now(), { session });
  await settle(2_000);
  assert.deepEqual(await messages(), []);
  const agentKey = `age1${"q".repeat(58)}`;
  seen.hear(MAC, clock.now(), { session: { ...session, registeredAt: clock.now() }, agentKey });
  await settle(2 * MINUTE);
  assert.equal((await messages()).length, 1);
  assert.match((await messages())[0]!, /with the key/);

  const other = "52:54:00:00:00:66";
  seen.hear(other, clock.now(), { session: { ...session, card: other, registeredAt: clock.now() } });
  await settle(2 * MINUTE);
  const all = await messages();
  assert.deepEqual([all.length, all.some((each) => /without a key/.test(each))], [2, true]);
});

test("where Metal3's own definition has no place for the agent, nothing is written again and again", async (t) => {
  const { seen, clock, client, writes, settle } = await rack(t);
  const crd = (await client.get(CustomResourceDefinition, { name: "baremetalhosts.metal3.io" })) as unknown as {
    metadata: object;
    spec: {
      versions: { schema: { openAPIV3Schema: { properties: { status: { properties: Record<string, unknown> } } } } }[];
    };
  };
  delete crd.spec.versions[0]!.schema.openAPIV3Schema.properties.status.properties.agent;
  await client.update(CustomResourceDefinition, crd as never);
  await settle(1_000);
  const session = { card: MAC, address: "10.0.0.9", proof: "lease" as const, registeredAt: 1, spokeAt: 1 };
  seen.hear(MAC, clock.now(), { session });
  await settle(10 * MINUTE);
  assert.ok(writes.filter((write) => write.endsWith("/status")).length <= 2, writes.join("\n"));
  writes.length = 0;
  seen.hear(MAC, clock.now(), { session });
  await settle();
  assert.deepEqual(writes, []);
});

test("N1 what was refused in a host's name is an event on its object", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  const host = seen.hear(MAC, clock.now());
  await settle();
  seen.notify({ is: "refused", host, because: "a registration from 10.0.0.66 was refused" });
  await settle();
  const [event] = (await client.list(Event)).items.filter(({ reason }) => reason === "Refused");
  assert.deepEqual(
    [event?.type, event?.message, event?.involvedObject?.name],
    ["Warning", "a registration from 10.0.0.66 was refused", NAME],
  );
});

test("N1 of a flood of refusals in one host's name, the first 16 are reported", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  const host = seen.hear(MAC, clock.now());
  await settle();
  for (let i = 0; i < 40; i++) seen.notify({ is: "refused", host, because: `refusal ${i}` });
  await settle();
  const told = (await client.list(Event)).items.filter(({ reason }) => reason === "Refused");
  const numbers = told.map(({ message }) => Number(/refusal (\d+)$/.exec(message ?? "")?.[1]));
  assert.equal(Math.max(...numbers), 15);
});

test("N1 what was refused in the name of a host that is gone is not reported of the one that comes after it", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  await client.create(BareMetalHost, declared("node-7", MAC));
  await settle();
  const host = seen.hear(MAC, clock.now());
  seen.notify({ is: "refused", host, because: "a registration was refused" });
  seen.hosts.delete(NAME);
  seen.notify({ is: "gone", name: NAME });
  await settle();
  seen.hear(MAC, clock.now());
  await settle();
  assert.deepEqual(
    (await client.list(Event)).items.filter(({ reason }) => reason === "Refused"),
    [],
  );
});

test("N1 what the namespaces of a host's objects demand is part of its declaration, at once when it changes", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  const demand = async (name: string, value: string | null) => {
    const body = { metadata: { annotations: { "slipway.dev/trust": value } } };
    await client.patch(Namespace, { name }, { type: "merge", body });
    await settle(1_000);
    return seen.declared.get(NAME);
  };
  await client.create(BareMetalHost, declared("node-7", MAC));
  await settle();
  seen.hear(MAC, clock.now());
  await settle();
  assert.deepEqual(await demand("default", "tpm"), {
    is: "declared",
    policies: [{ namespace: "default", demands: "tpm" }],
  });
  assert.deepEqual(await demand("default", null), { is: "declared" });
  assert.deepEqual(await demand("default", "Tpm"), {
    is: "declared",
    policies: [{ namespace: "default", demands: "unknown", value: "Tpm" }],
  });
  const events = (await client.list(Event)).items.filter(({ reason }) => reason === "UnknownTrust");
  assert.deepEqual(
    events.map(({ involvedObject, message }) => [involvedObject?.name, message]),
    [["node-7", "slipway.dev/trust: Tpm on namespace default is none of first-seen, approved, bmc, tpm"]],
  );
});

test("N1 whoever declares a machine in a namespace of their own takes nothing from what its other namespace demands", async (t) => {
  const { seen, clock, client, settle } = await rack(t);
  for (const [name, value] of [
    ["strict", "tpm"],
    ["attacker", "first-seen"],
  ] as const)
    await client.create(Namespace, { metadata: { name, annotations: { "slipway.dev/trust": value } } });
  for (const namespace of ["strict", "attacker"])
    await client.create(BareMetalHost, { ...declared("node-7", MAC), metadata: { name: "node-7", namespace } });
  await settle();
  seen.hear(MAC, clock.now());
  await settle();
  const declaration = seen.declared.get(NAME)!;
  assert.deepEqual(declaration.policies, [
    { namespace: "attacker", demands: "first-seen" },
    { namespace: "strict", demands: "tpm" },
  ]);
  const session = { card: MAC, address: "10.0.0.9", proof: "lease" as const, registeredAt: 1, spokeAt: 1 };
  const { trust, because } = standingUnder({ session, approval: { at: 1 } }, declaration, "by-namespace");
  assert.deepEqual([trust, /tpm on namespace strict/.test(because)], ["discovered", true]);
});
