import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { readModuleInfo } from "./modinfo.ts";
import { type Drivers, driversOf } from "./modules.ts";

/** The least that is an ELF object with a section `.modinfo`: header, the section's content, names of sections, table of sections. */
function kernelModule(...info: string[]): Buffer {
  const content = Buffer.from(info.map((entry) => `${entry}\0`).join(""));
  const names = Buffer.from("\0.modinfo\0.shstrtab\0");
  const header = Buffer.alloc(64);
  header.write("7f454c460201", 0, "hex");
  header.writeBigUInt64LE(BigInt(64 + content.length + names.length), 40);
  header.writeUInt16LE(64, 58);
  header.writeUInt16LE(3, 60);
  header.writeUInt16LE(2, 62);
  const section = (name: number, at: number, length: number): Buffer => {
    const bytes = Buffer.alloc(64);
    bytes.writeUInt32LE(name, 0);
    bytes.writeBigUInt64LE(BigInt(at), 24);
    bytes.writeBigUInt64LE(BigInt(length), 32);
    return bytes;
  };
  const table = [section(0, 0, 0), section(1, 64, content.length), section(10, 64 + content.length, names.length)];
  return Buffer.concat([header, content, names, ...table]);
}

test("a module says what it drives and what it needs", () => {
  const bytes = kernelModule(
    "alias=pci:v*",
    "alias=virtio:d1",
    "depends=a-b,c",
    "softdep=pre: crc32c d post: e",
    "license=GPL",
  );
  assert.deepEqual(readModuleInfo(bytes, "my-card"), {
    name: "my_card",
    depends: ["a_b", "c"],
    softDepends: ["crc32c", "d"],
    aliases: ["pci:v*", "virtio:d1"],
    firmware: [],
  });
  assert.throws(() => readModuleInfo(Buffer.from("text"), "text"), /text: no .modinfo/);
});

function kernel(modules: Record<string, Buffer>, builtin: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "slipway-kernel-"));
  const release = join(folder, "usr/lib/modules/6.1-test");
  for (const [name, content] of Object.entries(modules)) {
    mkdirSync(dirname(join(release, name)), { recursive: true });
    writeFileSync(join(release, name), content);
  }
  writeFileSync(join(release, "modules.builtin"), builtin.map((path) => `${path}\n`).join(""));
  writeFileSync(join(release, "modules.order"), "");
  return folder;
}

test("the agent takes drivers, all that they need, first things last in the list, and nothing else", () => {
  const folder = kernel(
    {
      "kernel/drivers/net/ethernet/card.ko": kernelModule("alias=pci:card", "depends=bus,core", "firmware=card/a.fw"),
      "kernel/lib/bus.ko": kernelModule("depends=core"),
      "kernel/lib/core.ko": kernelModule("depends=builtin-one"),
      "kernel/drivers/net/wireless/wifi.ko": kernelModule("depends="),
      "kernel/drivers/scsi/scsi_debug.ko": kernelModule("depends="),
    },
    ["kernel/lib/builtin-one.ko"],
  );
  try {
    const { entries, firmware } = driversOf("amd64", folder).first;
    const text = (name: string): string => {
      const entry = entries.get(`lib/modules/6.1-test/${name}`);
      return entry?.is === "file" ? entry.content.toString() : "";
    };
    assert.deepEqual(text("modules.dep").split("\n"), [
      "kernel/drivers/net/ethernet/card.ko: kernel/lib/bus.ko kernel/lib/core.ko",
      "kernel/lib/bus.ko: kernel/lib/core.ko",
      "kernel/lib/core.ko: ",
      "",
    ]);
    assert.deepEqual(firmware, ["card/a.fw"]);
    assert.equal(text("modules.alias"), "alias pci:card card\n");
    assert.equal(
      [...entries.keys()].some((name) => /wifi|scsi_debug/.test(name)),
      false,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("what reaches the network goes first, and the rest has the others with the lists of all", () => {
  const folder = kernel(
    {
      "kernel/drivers/net/ethernet/card.ko": kernelModule("alias=pci:card", "depends=core"),
      "kernel/drivers/net/ethernet/3com/old.ko": kernelModule("alias=pci:old", "depends=core"),
      "kernel/drivers/nvme/host/disk.ko": kernelModule("alias=pci:disk", "depends=core", "firmware=disk.fw"),
      "kernel/lib/core.ko": kernelModule("depends="),
    },
    [],
  );
  try {
    const { first, rest } = driversOf("amd64", folder);
    const modules = ({ entries }: Drivers): string[] =>
      [...entries.keys()].filter((name) => name.endsWith(".ko")).map((name) => name.replace(/.*\//, ""));
    const aliases = ({ entries }: Drivers): string => {
      const entry = entries.get("lib/modules/6.1-test/modules.alias");
      return entry?.is === "file" ? entry.content.toString() : "";
    };
    assert.deepEqual(modules(first).sort(), ["card.ko", "core.ko"]);
    assert.deepEqual(modules(rest).sort(), ["disk.ko", "old.ko"]);
    assert.equal(aliases(first), "alias pci:card card\n");
    assert.equal(aliases(rest), "alias pci:old old\nalias pci:card card\nalias pci:disk disk\n");
    assert.deepEqual([first.firmware, rest.firmware], [[], ["disk.fw"]]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a module that needs one that is nowhere stops the build and names it", () => {
  const folder = kernel({ "kernel/drivers/net/ethernet/card.ko": kernelModule("depends=lost") }, []);
  try {
    assert.throws(() => driversOf("amd64", folder), /lost: a kernel module needs it/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
