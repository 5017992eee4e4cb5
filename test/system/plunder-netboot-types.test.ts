/** PlunderMachines on a netboot outside of the cluster, by each type of boot configuration: each ends in Nodes, and in wiped machines. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf } from "@slipway/kube";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { sampled } from "./api.ts";
import { OLD_MANIFESTS, type PlunderWorld } from "./plunder-world.ts";
import { inRemoteWorld, type NetbootSetting, type RemoteNetboot } from "./remote-netboot.ts";
import { MINUTE } from "./world.ts";

const IMAGES = "http://images.example";

interface Played extends NetbootSetting {
  /** What lies on a machine's disk; undefined: it runs in memory. */
  disk?: string;
}

const TYPES: Readonly<Record<string, Played>> = {
  kickstart: {
    boot: { configType: "kickstart" },
    globalConfig: { repoaddress: "images.example", mirrordir: "/rocky" },
    disk: "kickstart",
  },
  autoinstall: { boot: { configType: "autoinstall", isoPath: `${IMAGES}/noble.iso` }, disk: "autoinstall" },
  booty: {
    boot: { configType: "booty", kernelPath: "", initrdPath: "" },
    globalConfig: { sourceImage: `${IMAGES}/debian.raw` },
    disk: `${IMAGES}/debian.raw`,
  },
  "a kernel that runs in memory": { boot: { configType: "node-image" } },
  "a kernel inside an ISO": {
    boot: {
      ...{ configType: "default", isoPath: "/srv/live.iso", isoPrefix: "live" },
      ...{ kernelPath: "/live/casper/vmlinuz", initrdPath: "/live/casper/initrd" },
    },
    images: ["live"],
  },
};

const holdsData = (text: string): boolean => /kubeadm (init|join)|abcdef\.|BEGIN .*KEY/.test(text);

const used = ({ rack }: RemoteNetboot) =>
  [...rack.servers.values()].flatMap((server) =>
    server.running?.is === "system" ? [{ server, ...server.running }] : [],
  );

/** What two machines run, and what lies on their disks. */
function assertGiven(netboot: RemoteNetboot, disk: string | undefined): void {
  assert.equal(used(netboot).length, 2);
  for (const { server, image } of used(netboot)) {
    const { content } = server.disks[0]!;
    assert.equal(content?.image, disk);
    assert.ok(!holdsData(JSON.stringify(content?.data ?? "")), "the disk holds bootstrap data");
    if (disk === undefined) assert.match(image, /(images\.example\/linux|\/iso\/live\/casper\/vmlinuz)$/);
  }
}

for (const [type, { disk, ...setting }] of sampled(Object.entries(TYPES)))
  test(`N44 N3 N34 ${type} on a netboot outside of the cluster ends in Nodes and in wiped machines; what the machines are given holds no bootstrap data`, () =>
    inRemoteWorld(
      async (world, netboot) => {
        await world.operator();
        await world.createTodays(OLD_MANIFESTS);
        await world.untilRunning(2);
        netboot.check();
        const ids = (await world.machines()).map(({ spec }) => String(spec.providerID)).toSorted();
        for (const id of ids) assert.match(id, /^plunder:\/\/([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
        assert.deepEqual((await world.nodes()).map(({ spec }) => spec?.providerID).toSorted(), ids);
        assertGiven(netboot, disk);
        // A system on a disk is the same Node when it starts again, and asks for nothing.
        const worker = (await world.plunderMachine("worker"))!.status!.macAddress;
        if (disk !== undefined)
          used(netboot)
            .find(({ server }) => server.mac === worker)!
            .server.restart();
        await world.clock.run(5 * MINUTE);
        assert.equal((await world.nodes()).length, 2);
        for (const name of ["controlplane", "worker"]) await world.remove(Machine, name);
        await netboot.untilAllGone();
        for (const { disks } of netboot.rack.servers.values()) assert.equal(disks[0]!.content, undefined);
        for (const name of ["controlplane", "worker"])
          assert.match((await world.told(name)).join("\n"), /Wiped: host .* read back: \/dev\/nvme0n1/);
      },
      { setting },
    ));

const stalled = async (world: PlunderWorld, name: string): Promise<string> =>
  conditionOf((await world.plunderMachine(name))?.status?.conditions, "Stalled")?.message ?? "";

const REFUSED: readonly (readonly [boot: NonNullable<NetbootSetting["boot"]>, why: RegExp])[] = [
  [{ configType: "vsphere" }, /boot configuration preseed: configType: ESXi is not installed/],
  [{ configType: "harvester" }, /configType: Harvester is installed by BareMetalHosts and InstancePools of a cluster/],
  [{ configType: "ipxe" }, /configType: a script is started by a BareMetalHost of a cluster/],
  [{ configType: "grub" }, /configType: GRUB starts machines by a configuration of Slipway's own/],
  [{ configType: "autoinstall" }, /isoPath: must be the URL of the ISO/],
  [{ configType: "default", kernelPath: "" }, /kernelPath, initrdPath: both are needed/],
];

for (const [boot, why] of sampled(REFUSED))
  test(`N36 a boot configuration ${JSON.stringify(boot)} that can't be a cluster's machine is the condition of the PlunderMachine, and takes no machine`, () =>
    inRemoteWorld(
      async (world, netboot) => {
        await world.operator();
        await world.createTodays(OLD_MANIFESTS, ["cluster-plunder", "controlplane"]);
        await world.until("it is reported", async () => why.test(await stalled(world, "controlplane")));
        assert.deepEqual(netboot.book.deployments, []);
      },
      { setting: { boot } },
    ));

test("N36 a deployment type that the netboot has no boot configuration of is reported, and a machine is taken once there is one", () =>
  inRemoteWorld(async (world, netboot) => {
    await world.operator();
    await world.createTodays(OLD_MANIFESTS, ["cluster-plunder", "controlplane"], { deploymentType: "noble" });
    const why = /there is no boot configuration noble/;
    await world.until("it is reported", async () => why.test(await stalled(world, "controlplane")));
    await netboot.book.addBootConfig({ ...netboot.book.bootConfig("preseed")!, configName: "noble" });
    await world.untilRunning(1);
  }));

test("N36 an address of a pool is refused with a netboot outside of the cluster, whatever it boots", () =>
  inRemoteWorld(
    async (world, netboot) => {
      await world.operator();
      await world.createTodays(OLD_MANIFESTS, ["cluster-plunder", "controlplane"]);
      await world.untilRunning(1);
      const addressesFromPool = await world.addressPool("berths");
      await world.createTodays(OLD_MANIFESTS, ["worker"], { ipAddress: "", addressesFromPool });
      const why =
        /10\.9\.0\.10 can't be set: the netboot of Secret plunder gives machines no addresses of pools; remove the field/;
      await world.until("it is refused", async () => why.test(await stalled(world, "worker")));
      assert.equal(netboot.book.deployments.length, 1);
    },
    { setting: TYPES["a kernel that runs in memory"]! },
  ));
