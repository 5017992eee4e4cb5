/** What a namespace demands of its hosts before they are trusted, on simulated servers with the real agent protocol, in virtual time. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Namespace } from "@slipway/kube/core";
import { hostName } from "../../src/netboot/hosts/host.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { IMAGE, type InventoryOptions, InventoryWorld, MINUTE, RACK } from "./inventory-world.ts";

const TPM = { endorsementKey: "a".repeat(64), pcrs: { 7: "b".repeat(64) } };

/** A rack whose namespace has this policy, and one server in it with something on its disk. */
async function policed(t: TestContext, trust: string, options: InventoryOptions = {}) {
  const world = await InventoryWorld.create(options);
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

test("N1 where makers of TPMs are named, an approved TPM that none of them vouches for in this boot is not enough, and why is said", async (t) => {
  const [maker, other] = ["c".repeat(64), "d".repeat(64)];
  const { world, server, waitsFor, name } = await policed(t, "tpm", { makers: new Set([maker]) });
  const approved = `tpm:${TPM.endorsementKey}`;
  await world.declare("node-1", {}, { "slipway.dev/approved": approved });
  server.on();
  const { hosts } = world.provisioning;
  await world.until("the agent registers", () => hosts.get(name)?.session !== undefined);
  const proves = (certificate: object) => hosts.proved(name, { ...TPM, certificate });
  proves({ because: "has no certificate of its maker" });
  await waitsFor(/demands an approved TPM: .* its TPM has no certificate of its maker/);
  proves({ issuer: "CN=Other", authority: other });
  await waitsFor(/the authority of its TPM's certificate \(d{64}\) is not in tpmAuthorities any more/);
  await world.clock.run(30 * MINUTE);
  assert.equal(server.disks[0]?.content, LEFT_OVER);
  proves({ issuer: "CN=Maker", authority: maker });
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
  await waitsFor(/slipway.dev\/trust: nonsense on namespace slipway-hosts is none of first-seen, approved, bmc, tpm/);
  assert.ok((await world.events("node-1")).some((event) => / UnknownTrust: /.test(event)));
  await demand(null);
  await world.reaches("node-1", "available");
});

test("N1 where a boot by the BMC is demanded a host's whole life goes by such boots, and nobody has to approve it", async (t) => {
  const { world, server, name } = await policed(t, "bmc", { redfish: true });
  await world.declare("node-1", { scheme: "redfish-uefihttp", image: IMAGE });
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
  assert.equal(world.provisioning.hosts.standing(name).trust, "bmc");
  const uris = () => world.redfish.machines.get("node-1")!.starts.flatMap(({ httpBootUri }) => httpBootUri ?? []);
  assert.match(uris()[0]!, /^http:\/\/netboot.invalid\/once\/slo_[\w-]{43}\/shimx64.efi$/);
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  assert.equal(server.disks[0]?.content, undefined);
  assert.equal(new Set(uris()).size, uris().length, "no value is given twice");
  const events = (await world.events("node-1")).join();
  assert.ok(!events.includes("slo_"), events);
});

test("N1 where a boot by the BMC is demanded a machine that is approved and came otherwise is not touched until it was started so", async (t) => {
  const { world, server, name, waitsFor } = await policed(t, "bmc");
  const approved = { "slipway.dev/approved": "true" };
  await world.declare("node-1", { scheme: "redfish-uefihttp" }, { ...approved, "baremetalhost.metal3.io/paused": "" });
  // Somebody started it, or another machine has its card and address.
  server.on();
  await world.until("its agent runs", () => world.provisioning.hosts.get(name)?.session !== undefined);
  assert.match(world.provisioning.hosts.standing(name).because, /demands a boot that its BMC was asked for/);
  await world.change("node-1", { metadata: { annotations: { "baremetalhost.metal3.io/paused": null } } });
  await waitsFor(/the agent on the host to register/);
  assert.equal(server.disks[0]?.content, LEFT_OVER);
  await world.reaches("node-1", "available");
  assert.deepEqual([server.starts, server.disks[0]?.content], [2, undefined]);
});

test("N1 an agent in the place of the one that its BMC started is an error and not trusted; the BMC is asked again", async (t) => {
  const { world, server } = await policed(t, "bmc");
  const { network } = world;
  const boot = network.boot.bind(network);
  // Who answers for the machine has not seen what its BMC was given.
  network.boot = (mac) => boot(mac);
  await world.declare("node-1", { scheme: "redfish-uefihttp" });
  const says = async (): Promise<boolean> =>
    /its agent came otherwise/.test((await world.host("node-1"))?.status?.errorMessage ?? "");
  await world.until("it says so", says);
  assert.equal(server.disks[0]?.content, LEFT_OVER);
  network.boot = boot;
  await world.reaches("node-1", "available");
});

test("N1 a host whose BMC can't start it so says what it needs, and a restart of the operator while it boots costs one more start", async (t) => {
  const { world, server, waitsFor } = await policed(t, "bmc");
  await world.declare("node-1");
  await waitsFor(/spec.bmc with an address of redfish-uefihttp/);
  await world.clock.run(10 * MINUTE);
  // Before it was seen nothing stood against a usual start.
  assert.deepEqual([server.starts, server.disks[0]?.content], [1, LEFT_OVER]);
  await world.change("node-1", { spec: { bmc: { address: "redfish-uefihttp://node-1" } } });
  await world.until("it is started", () => server.starts === 2);
  world.kill();
  await world.start();
  await world.reaches("node-1", "available");
  assert.equal(server.starts, 3);
});

test("a BMC that takes no URL starts the host as before; where a value is demanded the host says that it can't be given one", async (t) => {
  for (const [trust, isStarted] of [
    [null, true],
    ["bmc", false],
  ] as const) {
    const { world, server, demand } = await policed(t, "approved", { redfish: true });
    await demand(trust);
    Object.assign(world.redfish.machines.get("node-1")!, { takesBootUri: false });
    await world.declare("node-1", { scheme: "redfish-uefihttp" });
    if (isStarted) await world.reaches("node-1", "available");
    else {
      const events = async (): Promise<string> => (await world.events("node-1")).join("\n");
      await world.until("it says so", async () => (await events()).includes(" NoBootValue: "));
      assert.match(
        await events(),
        /NoBootValue: .*the BMC takes no address to boot from by HTTP: slipway.dev\/trust: bmc/,
      );
      assert.equal(server.disks[0]?.content, LEFT_OVER);
    }
  }
});
