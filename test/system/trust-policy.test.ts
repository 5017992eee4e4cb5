/** What a namespace demands of its hosts before they are trusted, on simulated servers with the real agent protocol, in virtual time. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Namespace } from "@slipway/kube/core";
import { hostName } from "../../src/netboot/hosts/host.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { InventoryWorld, MINUTE, RACK } from "./inventory-world.ts";

const TPM = { endorsementKey: "a".repeat(64), pcrs: { 7: "b".repeat(64) } };

/** A rack whose namespace has this policy, and one server in it with something on its disk. */
async function policed(t: TestContext, trust: string) {
  const world = await InventoryWorld.create();
  t.after(() => world.close());
  const demand = async (value: string | null): Promise<void> => {
    const body = { metadata: { annotations: { "slipway.dev/trust": value } } };
    await world.whileTimePasses(world.client.patch(Namespace, { name: RACK }, { type: "merge", body }));
  };
  await demand(trust);
  await world.start();
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  const waitsFor = (what: RegExp): Promise<void> =>
    world.until(`it waits for ${what}`, async () => what.test((await world.host("node-1"))?.status?.waitingFor ?? ""));
  return { world, server, demand, waitsFor, name: hostName(server.mac) };
}

test("N1 where an approval is demanded a declared host is not touched before it has one, and says what it waits for", async (t) => {
  const { world, server, waitsFor } = await policed(t, "approved");
  await world.declare("node-1");
  await waitsFor(/slipway.dev\/trust: approved on namespace slipway-hosts demands an approval: it is only declared/);
  await world.clock.run(30 * MINUTE);
  assert.equal(server.disks[0]?.content, LEFT_OVER);
  await world.change("node-1", { metadata: { annotations: { "slipway.dev/approved": "true" } } });
  await world.reaches("node-1", "available");
  assert.equal(server.disks[0]?.content, undefined);
});

test("N1 where a TPM is demanded only a host whose approved TPM is proven is touched; its machine is started to prove it", async (t) => {
  const { world, server, waitsFor, name } = await policed(t, "tpm");
  // The machine was seen before, and is off.
  await world.declare("node-1", {}, { "baremetalhost.metal3.io/paused": "" });
  world.provisioning.hosts.seen({ mac: server.mac, address: server.address });
  await world.change("node-1", { metadata: { annotations: { "baremetalhost.metal3.io/paused": null } } });
  await world.until("the agent registers", () => world.provisioning.hosts.get(name)?.session !== undefined);
  await world.change("node-1", { metadata: { annotations: { "slipway.dev/approved": "true" } } });
  await waitsFor(/demands an approved TPM: its agent has proven none/);
  await world.clock.run(30 * MINUTE);
  assert.deepEqual([server.starts, server.disks[0]?.content], [1, LEFT_OVER]);

  world.provisioning.hosts.proved(name, TPM);
  await waitsFor(/approve it again, since its approval is for no TPM/);
  await world.change("node-1", { metadata: { annotations: { "slipway.dev/approved": `tpm:${TPM.endorsementKey}` } } });
  await world.reaches("node-1", "available");
  assert.equal(server.disks[0]?.content, undefined);
});

test("N1 a demand that comes later holds for what is done next, through a restart of the operator; taken off, it holds no more", async (t) => {
  const { world, demand, waitsFor } = await policed(t, "approved");
  await world.declare("node-1", {}, { "slipway.dev/approved": "true" });
  await world.reaches("node-1", "available");
  await demand("nonsense");
  world.kill();
  await world.start();
  await world.change("node-1", { metadata: { annotations: { "slipway.dev/wipe": "" } } });
  await waitsFor(/slipway.dev\/trust: nonsense on namespace slipway-hosts is none of first-seen, approved, tpm/);
  assert.ok((await world.events("node-1")).some((event) => / UnknownTrust: /.test(event)));
  await demand(null);
  await world.reaches("node-1", "available");
});
