/** The node image as a disk: the agent writes it with the machine's bootstrap data, and the machine that starts from it joins a tenant. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { Node, Secret } from "@slipway/kube/core";
import { findAssets, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { nodeImageFolder } from "../../src/kubernetes/node-image-folder.ts";
import { plain } from "../../src/lab/console.ts";
import { LAB } from "../../src/lab/rack.ts";
import { joinSeed } from "../../src/lab/vino/join-seed.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "../system/tenants-world.ts";
import { approved } from "./approved.ts";
import { joined, joinToken } from "./node/joining.ts";
import { ordered } from "./ordered.ts";
import { setStage } from "./stage.ts";
import { until } from "./until.ts";

const assets = await findAssets(process.env, ["etcd", ...TENANT_BINARIES]).catch((error: Error) => error);
const folder = nodeImageFolder(process.env, "1.36", "amd64");
const DISKS = [
  { firmware: "bios", name: "disk.img.zst", form: "disk" },
  { firmware: "uefi", name: "disk.img.zst", form: "disk" },
  { firmware: "bios", name: "disk-cloud-init.img.zst", form: "cloud-init" },
] as const;

for (const { firmware, name, form } of DISKS) {
  const image = join(folder, name);
  const skip =
    assets instanceof Error
      ? `${assets.message}; run \`make kube-assets\``
      : !existsSync(image) && `no ${name} of the node image: run \`make node-image FORM=${form}\``;
  test(`${firmware}: ${name} of the node image, written by the agent, makes a node of the machine`, {
    skip,
  }, async (t) => {
    const stage = await setStage([{ name: "lab-1", firmware, memoryMiB: 3072, diskBytes: 1024 ** 3 }]);
    t.after(() => stage.close());
    const { rack, netboot } = stage;
    const machine = rack.machines[0]!;
    await machine.powerOn();
    await until(netboot.hosts, machine, {
      is: ({ inventoryAt, agentKey }) => inventoryAt !== undefined && agentKey !== undefined,
      ...{ seconds: 600, missing: "report with a key" },
    });
    await approved(stage, machine);

    const world = await tenantsWorld(t, String(assets), { host: LAB.address });
    await world.apply("a", { addons: { kubeProxy: {} } });
    await world.until("a", (one) => stateOf(one) === "Ready");
    const admin = await world.client.get(Secret, { namespace: NAMESPACE, name: "a-admin-kubeconfig" });
    const kubeconfig = Buffer.from(admin.data!["admin.conf"]!, "base64").toString();
    await world.inTenant("a", async (tenant) => {
      const { userData, metaData } = joinSeed("lab-1", { kubeconfig, token: await joinToken(tenant) });
      const data = { "user-data": userData, "meta-data": metaData };
      const checksum = `sha256:${await checksumOf(image)}` as const;
      const began = clock.now();
      const written = await ordered(netboot, machine, { order: "write", image, checksum, data }, 900);
      assert.ok(written.ok, written.message);
      console.log(`${firmware}: written after ${((clock.now() - began) / 1000).toFixed(1)} s`);
      netboot.hosts.setBoot(machine.spec.mac, "disk");
      assert.ok((await ordered(netboot, machine, { order: "reboot" }, 120)).ok);
      await joined(tenant, [machine]);
      const [node] = (await tenant.list(Node)).items;
      assert.equal(node?.metadata.name, "lab-1");
      const isByCloudInit = /Cloud-init v\. \S+ finished .*DataSourceNoCloud/.test(
        plain(machine.console.lastLines(400)),
      );
      assert.equal(isByCloudInit, form === "cloud-init");
    });
  });
}

async function checksumOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
