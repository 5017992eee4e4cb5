/** PlunderMachines whose deployment type is an installer, an image or a script: each ends with a Node, by bootstrap data that are given once and to it alone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { IPAddress } from "../../src/kinds/ipam/ip-address.ts";
import { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { IMAGES, inPlunderWorld, NAMESPACE, OLD_MANIFESTS, PlunderWorld, PRESEED_PROFILE } from "./plunder-world.ts";
import { MINUTE } from "./world.ts";

const PROFILE = "debian-12";
const SCRIPTS = "http://scripts.example";
const PROFILES = {
  preseed: PRESEED_PROFILE,
  kickstart: `${PRESEED_PROFILE}release: 9\nmirror: ${IMAGES}/rocky\n`,
  autoinstall: `${PRESEED_PROFILE}iso: ${IMAGES}/noble.iso\n`,
  ipxe: `script: ${SCRIPTS}/own.ipxe\n`,
} as const;
const OWN_SCRIPT = `#!ipxe
kernel ${IMAGES}/vmlinuz initrd=initrd ds=nocloud;s=\${slipway-seed}
initrd --name initrd ${IMAGES}/initrd
boot
`;

/** Whether a text holds what only bootstrap data do. */
const holdsData = (text: string): boolean => /kubeadm (init|join)|abcdef\.|BEGIN .*KEY/.test(text);

async function endsInNodes(world: PlunderWorld): Promise<void> {
  await world.createTodays(OLD_MANIFESTS);
  await world.untilRunning(2);
  const ids = (await world.machines()).map(({ spec }) => String(spec.providerID)).toSorted();
  for (const id of ids) assert.match(id, /^plunder:\/\/([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
  assert.deepEqual((await world.nodes()).map(({ spec }) => spec?.providerID).toSorted(), ids);
}

for (const [installer, text] of Object.entries(PROFILES))
  test(`N44 N3 ${installer} as a deployment type ends in Nodes; what installs the machine holds no bootstrap data`, () =>
    inPlunderWorld(async (world) => {
      world.serve(SCRIPTS, async () => ({ status: 200, headers: {}, body: OWN_SCRIPT }));
      await world.profile(PROFILE, text);
      await world.offer({ installer: `${installer}/${PROFILE}` });
      await endsInNodes(world);
      const isOnDisk = installer !== "ipxe";
      const used = [...world.own.rack.servers.values()].filter(({ running }) => running?.is === "system");
      assert.equal(used.length, isOnDisk ? 2 : 0);
      for (const { disks } of used) {
        assert.equal(disks[0]!.content?.image, installer);
        const given = disks[0]!.content!.data.text!;
        assert.match(given, /seedfrom/);
        assert.ok(!holdsData(given), "the installer's file holds bootstrap data");
      }
      // A machine that starts again is the same Node, and asks for nothing.
      if (isOnDisk) {
        const [, host = ""] = (await world.plunderMachine("worker"))!.status!.host!.split("/");
        world.own.rack.servers.get(host)!.restart();
      }
      await world.clock.run(5 * MINUTE);
      assert.equal((await world.nodes()).length, 2);
      for (const { metadata } of await world.plunderMachines()) await world.remove(Machine, metadata.name);
      await world.untilGone();
      await world.own.checkAllFree();
    }));

test("N44 what booty would write is an image of the MachineProvider, and ends in Nodes", () =>
  inPlunderWorld(async (world) => {
    await world.offer({
      image: { url: `${IMAGES}/debian.raw`, checksum: "0".repeat(64), checksumType: "sha256", format: "raw" },
    });
    await endsInNodes(world);
    const used = [...world.own.rack.servers.values()].filter(({ running }) => running?.is === "system");
    assert.equal(used.length, 2);
    for (const { disks } of used) {
      const given = Object.values(disks[0]!.content!.data).join("\n");
      assert.match(given, /^#include$/m);
      assert.ok(!holdsData(given), "the config drive holds bootstrap data");
    }
  }));

test("N3 the bootstrap data of an installed machine are served once, and to no second address", async () => {
  const world = await PlunderWorld.create({});
  try {
    const { boot } = await world.operator();
    await world.profile(PROFILE, PROFILES.preseed);
    await world.offer({ installer: `preseed/${PROFILE}` });
    await world.createTodays(OLD_MANIFESTS, ["cluster-plunder", "controlplane"]);
    let seed = "";
    await world.until("the host has a seed", async () => {
      const { items } = await world.whileTimePasses(world.client.list(Secret, { namespace: DISCOVERY_NAMESPACE }));
      const text = items.find(({ data }) => data?.seedURL !== undefined)?.data?.seedURL ?? "";
      seed = Buffer.from(text, "base64").toString();
      return seed !== "";
    });
    const fetch = async (remote: string) =>
      await world.whileTimePasses(boot({ method: "GET", url: `${seed}user-data`, headers: {}, remote }));
    const first = await fetch("10.9.9.9");
    assert.equal(first.status, 200);
    assert.ok(holdsData(String(first.body)), "what is served is the bootstrap data");
    assert.equal((await fetch("10.9.9.10")).status, 410, "another address");
    await world.clock.run(3 * MINUTE);
    assert.equal((await fetch("10.9.9.9")).status, 410, "two minutes later");
  } finally {
    await world.close();
  }
});

test("N36 N42 an address of a pool is refused with what is installed on a disk, before a host is taken; without the field the machine is installed, and the address goes back with it", () =>
  inPlunderWorld(async (world) => {
    await world.profile(PROFILE, PROFILES.preseed);
    await world.offer({ installer: `preseed/${PROFILE}` });
    await world.createTodays(OLD_MANIFESTS, ["cluster-plunder", "controlplane"]);
    await world.untilRunning(1);
    const addressesFromPool = await world.addressPool("berths");
    await world.createTodays(OLD_MANIFESTS, ["worker"], { ipAddress: "", addressesFromPool });
    const said = async (): Promise<string> =>
      conditionOf((await world.plunderMachine("worker"))?.status?.conditions, "Stalled")?.message ?? "";
    await world.until("it is refused", async () => (await said()).includes("spec.addressesFromPool"));
    assert.equal(
      await said(),
      "PlunderMachine/default/worker: spec.addressesFromPool: 10.9.0.10 can't be set: what is installed on a disk as preseed configures its network by itself; remove the field from this object and from its PlunderMachineTemplate, and reserve an address for the machine's MAC address in DHCP, or name networkData in its BareMetalHost",
    );
    assert.equal(world.own.cloud.bought(), 1, "a host was taken");
    const ref = { namespace: NAMESPACE, name: "worker" };
    const body = { spec: { addressesFromPool: null } };
    await world.whileTimePasses(world.client.patch(PlunderMachine, ref, { type: "merge", body }));
    await world.untilRunning(2);
    for (const name of ["worker", "controlplane"]) await world.remove(Machine, name);
    await world.untilGone();
    const left = async () => (await world.whileTimePasses(world.client.list(IPAddress))).items.length;
    await world.until("the address is free", async () => (await left()) === 0);
    await world.own.checkAllFree();
  }));

test("N36 an entry that can't be a cluster's machine is refused with its reason until it is corrected", () =>
  inPlunderWorld(async (world) => {
    await world.profile(PROFILE, "x");
    const cases: [object, RegExp][] = [
      [{ installer: "harvester/join" }, /Harvester brings a Kubernetes of its own/],
      [{ installer: "ipxe" }, /must be ipxe\/NAME/],
      [{ installer: "anaconda/x" }, /is none of preseed, kickstart/],
      [{ kernel: `${IMAGES}/k` }, /kernel and initrd go together/],
      [{}, /it needs one of: kernel with initrd, installer, image/],
    ];
    for (const [at, [entry, why]] of cases.entries()) {
      await world.offer({ installer: null, ...entry });
      if (at === 0) await world.createTodays(OLD_MANIFESTS, ["cluster-plunder", "controlplane"]);
      await world.until(`it says ${why}`, async () =>
        why.test(JSON.stringify((await world.plunderMachine("controlplane"))?.status?.conditions ?? [])),
      );
    }
    await world.clock.run(10 * MINUTE);
    assert.deepEqual(world.own.cloud.machines(), [], "no host was taken");
    await world.offer({ kernel: `${IMAGES}/vmlinuz`, initrd: `${IMAGES}/initrd`, installer: null });
    await world.untilRunning(1);
  }));
