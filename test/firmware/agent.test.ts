import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { sealedTo } from "../../src/netboot/agent/testing.ts";
import { fingerprint } from "../../src/netboot/protocol/key.ts";
import { bytesOf, fatFile, firstTrace, partitionedImage, sha256 } from "./agent/disk.ts";
import { agentOf, DISK_BYTES, DirectMachine, type Disk, MAC } from "./agent/machine.ts";
import { AgentServer, CAPABILITY } from "./agent/server.ts";

const MIB = 1 << 20;
/** Where first-boot data lie: 64 MiB, and one free, at the end. */
const DATA_AT = DISK_BYTES - 65 * MIB;

const needs = { "qemu-system-x86": "/usr/bin/qemu-system-x86_64", gdisk: "/sbin/sgdisk", mtools: "/usr/bin/mcopy" };
const { assets, skip } = agentOf("x86_64", needs);

suite("the agent, from its kernel's start", { skip }, () => {
  let server: AgentServer;
  let machine: DirectMachine;
  let words: string[];

  before(async () => {
    server = await AgentServer.start();
    server.refusals = 2;
    const boot = `BOOTIF=01-${MAC.replaceAll(":", "-")}`;
    words = [`slipway.url=${server.url()}`, server.rest(assets), `slipway.boot=${CAPABILITY}`, boot];
    machine = new DirectMachine("x86_64", assets, words);
  });

  after(async () => {
    await machine.close();
    server.close();
  });

  const fill = (disk: Disk): void => writeFileSync(machine.disk(disk), Buffer.alloc(DISK_BYTES, 0xa5));

  test("it reports the hardware, also when the server refuses at first", async () => {
    await server.until("a registration", 600, () => server.inventories.length > 0);
    const [found] = server.inventories;
    assert.equal(found!.bootMac, MAC);
    assert.equal(found!.architecture, "x86_64");
    assert.deepEqual(found!.firmware.kind, "bios");
    assert.equal(found!.cpu.count, 2);
    assert.equal(found!.memoryBytes, 1024 * MIB);
    assert.deepEqual(
      found!.cards.map(({ mac, link, driver, model }) => ({ mac, link, driver, model })),
      [{ mac: MAC, link: true, driver: "virtio_net", model: "0x1af4 0x1000" }],
    );
    assert.deepEqual(
      found!.disks.map(({ byId, bytes, serial, transport }) => [byId[0], bytes, serial, transport]),
      [
        ["nvme-QEMU_NVMe_Ctrl_NV01", DISK_BYTES, "NV01", "nvme"],
        ["ata-QEMU_HARDDISK_SA01", DISK_BYTES, "SA01", "sata"],
        ["virtio-VD01", DISK_BYTES, "VD01", "virtio"],
      ],
    );
    assert.ok(found!.agent.uptimeSeconds > 0);
  });

  test("its first report waits for no key; the second has it", async () => {
    const key = await server.key();
    assert.deepEqual(
      server.inventories.map(({ agent }) => agent.key),
      [undefined, key],
    );
  });

  test("an image is written as it streams, checked, and first-boot data laid at the disk's end", async () => {
    const image = partitionedImage(64);
    const packed = zstdCompressSync(image);
    server.files.set("image.zst", packed);
    server.files.set("user-data", await sealedTo(await server.key(), Buffer.from("#cloud-config\nhostname: a\n")));
    server.files.set("meta-data", Buffer.from("instance-id: a\n"));
    const result = await server.give({
      order: "write",
      disk: "virtio-VD01",
      url: server.url("image.zst"),
      format: "zst",
      checksum: { type: "sha256", value: sha256(packed) },
      data: {
        label: "cidata",
        files: [
          { path: "user-data", url: server.url("user-data"), sealed: true },
          { path: "openstack/latest/meta-data", url: server.url("meta-data") },
        ],
      },
    });
    assert.equal(result.message, `wrote ${image.length} bytes to /dev/vda, sha256 as ordered`);
    const disk = machine.disk("virtio");
    // The table's first copy has grown by the new partition; the rest is the image to the byte.
    assert.equal(sha256(bytesOf(disk, MIB, 62 * MIB)), sha256(image.subarray(MIB, 63 * MIB)));
    assert.equal(fatFile(disk, DATA_AT, "user-data"), "#cloud-config\nhostname: a\n");
    assert.equal(fatFile(disk, DATA_AT, "openstack/latest/meta-data"), "instance-id: a\n");
    assert.match(execFileSync("/sbin/blkid", ["-p", "-O", String(DATA_AT), disk]).toString(), /LABEL="cidata"/);
    assert.match(execFileSync("/sbin/sgdisk", ["--verify", disk]).toString(), /No problems found/);
  });

  test("an image that is sealed to its key is opened as it streams, begins anew when the connection breaks, and is not started once changed", async () => {
    const image = partitionedImage(16);
    const sealed = await sealedTo(await server.key(), zstdCompressSync(image));
    server.files.set("sealed", sealed);
    const order = {
      order: "write",
      disk: "ata-QEMU_HARDDISK_SA01",
      url: server.url("sealed"),
      format: "zst",
      sealed: true,
    } as const;
    server.breaks = 1;
    const whole = await server.give(order);
    assert.deepEqual(whole, { ok: true, message: `wrote ${image.length} bytes to /dev/sda` });
    assert.equal(sha256(bytesOf(machine.disk("sata"), 0, image.length)), sha256(image));
    sealed[sealed.length - 1]! ^= 1;
    const changed = await server.give(order);
    assert.match(changed.message, /^the sealed image could not be opened: it was changed/);
    assert.equal(firstTrace(machine.disk("sata"))! >= 4 * MIB, true);
  });

  test("gz and raw images are written to disks of every kind, and a device file names a disk, too", async () => {
    const image = partitionedImage(16);
    const packed = gzipSync(image);
    server.files.set("image.gz", packed).set("image.raw", image);
    const sata = { order: "write", disk: "ata-QEMU_HARDDISK_SA01", url: server.url("image.gz"), format: "gz" } as const;
    assert.deepEqual(await server.give(sata), { ok: true, message: `wrote ${image.length} bytes to /dev/sda` });
    assert.equal(sha256(bytesOf(machine.disk("sata"), 0, image.length)), sha256(image));
    const nvme = { order: "write", disk: "/dev/nvme0n1", url: server.url("image.raw"), format: "raw" } as const;
    assert.deepEqual(await server.give(nvme), { ok: true, message: `wrote ${image.length} bytes to /dev/nvme0n1` });
    assert.equal(sha256(bytesOf(machine.disk("nvme"), 0, image.length)), sha256(image));
  });

  test("an image that is not what was ordered is not left on the disk to start", async () => {
    server.files.set("broken.gz", gzipSync(partitionedImage(16)).subarray(0, 5 * MIB));
    const order = {
      order: "write",
      disk: "ata-QEMU_HARDDISK_SA01",
      url: server.url("image.gz"),
      format: "gz",
    } as const;
    const wrong = await server.give({ ...order, checksum: { type: "sha512", value: "0".repeat(128) } });
    assert.deepEqual(wrong, { ok: false, message: "the image has another sha512 than ordered" });
    assert.equal(firstTrace(machine.disk("sata"))! >= 4 * MIB, true);
    const broken = await server.give({ ...order, url: server.url("broken.gz") });
    assert.deepEqual(broken, { ok: false, message: "the image could not be unpacked as gz" });
    const missing = await server.give({ ...order, url: server.url("missing.gz") });
    assert.match(missing.message, /^the image could not be fetched: .*404/);
    const unknown = await server.give({ ...order, disk: "ata-other" });
    assert.deepEqual(unknown, { ok: false, message: "there is no disk ata-other" });
  });

  test("a download that breaks is taken up where it broke when a checksum shows whether the parts belong together", async () => {
    const image = partitionedImage(16);
    server.files.set("image.raw", image);
    const order = {
      order: "write",
      disk: "ata-QEMU_HARDDISK_SA01",
      url: server.url("image.raw"),
      format: "raw",
    } as const;
    server.breaks = 2;
    const result = await server.give({ ...order, checksum: { type: "sha256", value: sha256(image) } });
    assert.deepEqual(result, { ok: true, message: `wrote ${image.length} bytes to /dev/sda, sha256 as ordered` });
    assert.equal(sha256(bytesOf(machine.disk("sata"), 0, image.length)), sha256(image));
    const packed = zstdCompressSync(image);
    server.files.set("image.zst", packed);
    server.breaks = 2;
    const unpacked = await server.give({
      ...order,
      url: server.url("image.zst"),
      format: "zst",
      checksum: { type: "sha256", value: sha256(packed) },
    });
    assert.deepEqual(unpacked, { ok: true, message: `wrote ${image.length} bytes to /dev/sda, sha256 as ordered` });
    assert.equal(sha256(bytesOf(machine.disk("sata"), 0, image.length)), sha256(image));
    server.breaks = 1;
    const unchecked = await server.give(order);
    assert.match(unchecked.message, /^the image could not be fetched: curl: \(18\)/);
  });

  test("an image that is larger than the disk is refused, and says so", async () => {
    server.files.set("large.zst", zstdCompressSync(Buffer.alloc(DISK_BYTES + MIB, 1)));
    const url = server.url("large.zst");
    const result = await server.give({ order: "write", disk: "ata-QEMU_HARDDISK_SA01", url, format: "zst" });
    assert.deepEqual(result, { ok: false, message: `the image is larger than /dev/sda with its ${DISK_BYTES} bytes` });
  });

  test("a wipe of metadata leaves no table, signature or file system, and says what it read back", async () => {
    const result = await server.give({ order: "wipe", how: "metadata", disks: ["virtio-VD01"] });
    assert.deepEqual(result.disks, [
      {
        disk: "/dev/vda",
        how: "metadata",
        proven: true,
        detail: "6 places cleared and read back as zeroes; no signature and no partition is left",
      },
    ]);
    for (const [from, length] of [
      [0, 5],
      [60, 3],
      [DISK_BYTES / MIB - 65, 4],
      [DISK_BYTES / MIB - 4, 4],
    ] as const)
      assert.ok(
        bytesOf(machine.disk("virtio"), from * MIB, length * MIB).every((byte) => byte === 0),
        `at ${from} MiB`,
      );
  });

  test("a full wipe leaves nothing on any disk, and a result whose answer got lost is sent again, not carried out again", async () => {
    for (const disk of ["virtio", "nvme", "sata"] as const) fill(disk);
    server.lostAnswers = 1;
    const result = await server.give({ order: "wipe", how: "full", disks: "all" }, 300);
    assert.equal(result.message, "wiped and read back: nvme0n1 sda vda");
    for (const disk of ["virtio", "nvme", "sata"] as const)
      assert.equal(firstTrace(machine.disk(disk)), undefined, disk);
    assert.equal(server.progress.findLast(({ phase }) => phase === "wipe full")?.total, 6 * DISK_BYTES);
    const begun = [...machine.console().matchAll(/order (order-\d+): wipe\r/g)].map(([, id]) => id);
    assert.equal(new Set(begun).size, begun.length);
    assert.equal(begun.length, 2);
  });

  test("what discards is read back, and the device's own erase is proven by marks that are gone", async () => {
    fill("virtio");
    fill("nvme");
    const discard = await server.give({ order: "wipe", how: "discard", disks: ["virtio-VD01"] });
    assert.equal(discard.disks![0]!.detail, "discarded; all of it read back as zeroes");
    assert.equal(firstTrace(machine.disk("virtio")), undefined);
    const secure = await server.give({ order: "wipe", how: "secure", disks: ["/dev/nvme0n1", "virtio-VD01"] });
    assert.deepEqual(
      secure.disks!.map(({ disk, proven, detail }) => [disk, proven, detail]),
      [
        ["/dev/nvme0n1", true, "erased by the device; 17 marks that were written before are gone"],
        ["/dev/vda", false, "the device offers no erase of its own"],
      ],
    );
    assert.equal(secure.ok, false);
    assert.equal(firstTrace(machine.disk("nvme")), undefined);
  });

  test("it inspects again when reported to, and refuses what it does not know", async () => {
    const before = server.inventories.length;
    assert.equal((await server.give({ order: "inspect" })).ok, true);
    assert.equal(server.inventories.length, before + 1);
    const unknown = await server.give({ order: "dance" } as never);
    assert.deepEqual(unknown, { ok: false, message: "this agent does not know the order" });
  });

  test("it sends its lines, and no secret is among them or on the console", async () => {
    await server.until("its lines", 120, () => server.lines.includes("order order-1: done"));
    const shown = `this boot's key: ${fingerprint(await server.key())}`;
    assert.ok(server.lines.includes(shown) && machine.console().includes(`slipway: ${shown}`), server.lines);
    for (const secret of ["token-of-the-test", "#cloud-config", "AGE-SECRET-KEY"]) {
      assert.equal(server.lines.includes(secret), false);
      assert.equal(machine.console().includes(secret), false);
    }
  });

  test("it starts another kernel without the firmware, and says so before", async () => {
    for (const name of ["vmlinuz", "initrd"]) server.files.set(name, readFileSync(join(assets, name)));
    const before = server.inventories.length;
    const result = await server.give({
      order: "kexec",
      kernel: server.url("vmlinuz"),
      initrd: server.url("initrd"),
      commandLine: ["console=ttyS0", ...words].join(" "),
    });
    assert.deepEqual(result, { ok: true, message: "the kernel is loaded; it starts now" });
    await server.until("a registration from the new kernel", 600, () => server.inventories.length > before);
    assert.deepEqual(await server.give({ order: "kexec", kernel: server.url("user-data"), commandLine: "" }), {
      ok: false,
      message: "the kernel can't be started: Cannot determine the file type of /run/slipway/work/kernel",
    });
  });

  test("it switches the machine off when reported to, after it has said so", async () => {
    assert.deepEqual(await server.give({ order: "poweroff" }), { ok: true, message: "poweroff follows" });
    await machine.off(300);
  });
});
