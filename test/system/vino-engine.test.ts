/** Vinos' machines driven by the engine of hosts, as simulated servers that run the agent's real protocol: from the Vino to a wiped, offered host, and back. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { plain, quietLog } from "@slipway/base";
import { createManager, refOf } from "@slipway/kube";
import { Event } from "@slipway/kube/core";
import { discoveryController } from "../../src/inventory/discovery/controller.ts";
import { hostController } from "../../src/inventory/hosts/controller.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { Provisioning, ProvisioningNetwork } from "../../src/sim/rack/provisioning.ts";
import { SimDomains } from "../../src/sim/vino/sim-domains.ts";
import { ensureNamespace } from "../../src/systems/netboot/led-netboot.ts";
import { MINUTE, NAMESPACE, sample, VinoWorld } from "./vino-world.ts";

const IMAGE = { url: "http://images.invalid/debian.raw", checksum: "a".repeat(64), checksumType: "sha256" };

test("a Vino's machines are registered by their own password, inspected, wiped, installed, taken back when the count is lowered, and gone from the node", async (t) => {
  const world = await VinoWorld.running(t);
  const { clock, random, client } = world;
  const folder = mkdtempSync(join(tmpdir(), "slipway-vino-"));
  const network = new ProvisioningNetwork();
  const provisioning = new Provisioning(
    { clock, random, log: quietLog, hostsFile: join(folder, "hosts.db"), imagesFolder: join(folder, "images") },
    network,
  );
  network.serving = provisioning;
  const domains = new SimDomains({ clock, random, network });
  world.domains = domains;
  world.drivesHosts = false;
  await world.passing(ensureNamespace(client, "slipway-hosts", new AbortController().signal));
  const manager = createManager({
    transport: world.api.transport("operator"),
    clock,
    random,
    log: quietLog,
    leaderElection: false,
  });
  manager.add(
    discoveryController({ hosts: provisioning.hosts, namespace: "slipway-hosts", most: 1_000, perSecond: 100 }),
  );
  manager.add(
    hostController({
      ...{ machines: { ...provisioning.machines, isServing: () => true }, openBmc: domains.openBmc },
      ...{ http: async () => plain(404, ""), drivenElsewhere: async () => undefined, namespace: "slipway-hosts" },
    }),
  );
  void manager.start().catch(() => {});
  t.after(async () => {
    void manager.stop();
    domains.close();
    await provisioning.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await world.join("a");
  await world.apply("test", sample({ masters: 1, workers: 1 }));
  await world.untilReady("test");
  const inState = async (state: string, count: number): Promise<boolean> =>
    (await world.hosts()).filter(({ status }) => status?.provisioning?.state === state).length === count;
  await world.until("both are available", () => inState("available", 2), 120 * MINUTE);
  const worker = (await world.hosts()).find(({ metadata }) => metadata.name.includes("worker"))!;
  assert.ok((worker.status?.hardware?.nics ?? []).some(({ mac }) => mac === worker.spec.bootMACAddress));
  const body = { spec: { image: IMAGE, online: true } };
  await world.passing(client.patch(BareMetalHost, refOf(worker), { type: "merge", body }));
  await world.until("it is installed", () => inState("provisioned", 1), 120 * MINUTE);

  await world.apply("test", sample({ masters: 1, workers: 0 }));
  await world.until("it is taken back", async () => (await world.hosts()).length === 1, 240 * MINUTE);
  await world.untilReady("test");
  assert.deepEqual(
    [...domains.servers.keys()].map((name) => name.slice(0, -7)),
    ["default-test-a-master-0"],
  );
  const reasons = (await world.list(Event))
    .filter(({ involvedObject }) => involvedObject?.name === worker.metadata.name)
    .map(({ reason }) => reason);
  assert.ok(reasons.includes("DeprovisioningStarted") && !reasons.includes("NotWiped"), reasons.join());

  await world.remove("test", NAMESPACE);
  await world.until("nothing is left", async () => (await world.left()).length === 0, 240 * MINUTE);
  assert.equal(domains.servers.size, 0);
});
