import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { sealedTo } from "../../src/netboot/agent/testing.ts";
import { bytesOf, firstTrace, partitionedImage, sha256, sha512 } from "./agent/disk.ts";
import { agentOf, DirectMachine, MAC } from "./agent/machine.ts";
import { AgentServer, CAPABILITY } from "./agent/server.ts";

const MIB = 1 << 20;
const needs = { "qemu-system-arm": "/usr/bin/qemu-system-aarch64", gdisk: "/sbin/sgdisk" };
const { assets, skip } = agentOf("aarch64", needs);

test("the agent on ARM64 reports, writes, wipes and switches the machine off", { skip }, async () => {
  const server = await AgentServer.start();
  const words = [
    `slipway.url=${server.url()}`,
    server.rest(assets),
    `slipway.boot=${CAPABILITY}`,
    `slipway.mac=${MAC}`,
  ];
  const machine = new DirectMachine("aarch64", assets, words);
  try {
    await server.until("a registration", 900, () => server.inventories.length > 0);
    const [found] = server.inventories;
    assert.equal(found!.architecture, "aarch64");
    assert.equal(found!.bootMac, MAC);
    assert.equal(found!.cpu.count, 2);
    assert.deepEqual(
      found!.disks.map(({ byId }) => byId[0]),
      ["nvme-QEMU_NVMe_Ctrl_NV01", "ata-QEMU_HARDDISK_SA01", "virtio-VD01"],
    );

    const image = partitionedImage(16);
    const packed = gzipSync(image);
    server.files.set("image.gz", await sealedTo(await server.key(), packed));
    const written = await server.give({
      order: "write",
      disk: "virtio-VD01",
      url: server.url("image.gz"),
      sealed: true,
      format: "gz",
      checksum: { type: "sha512", value: sha512(packed) },
    });
    assert.equal(written.message, `wrote ${image.length} bytes to /dev/vda, sha512 as ordered`);
    assert.equal(sha256(bytesOf(machine.disk("virtio"), 0, 16 * MIB)), sha256(image));

    const wiped = await server.give({ order: "wipe", how: "full", disks: ["virtio-VD01"] }, 300);
    assert.equal(wiped.ok, true);
    assert.equal(firstTrace(machine.disk("virtio")), undefined);

    assert.equal((await server.give({ order: "poweroff" })).ok, true);
    await machine.off(300);
  } finally {
    await machine.close();
    server.close();
  }
});
