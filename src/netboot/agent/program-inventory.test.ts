import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { Inventory } from "../protocol/messages.ts";
import { FakeMachine } from "./testing.ts";

const skip = !existsSync("/usr/bin/jq") && "not installed: jq";
const GIB = 1 << 30;

/** Page 89h of a SATA disk: words of IDENTIFY DEVICE from byte 60, two letters swapped in each. */
function identify(words: { serial: string; model: string }): Uint8Array {
  const page = Buffer.alloc(572);
  const put = (word: number, text: string, length: number): void => {
    Buffer.from(text.padEnd(length))
      .swap16()
      .copy(page, 60 + word * 2);
  };
  put(10, words.serial, 20);
  put(27, words.model, 40);
  return page;
}

function machine(): FakeMachine {
  const one = new FakeMachine();
  const ata = "pci0000:00/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0";
  one.disk("sda", ata, {
    bytes: 4 * GIB,
    device: {
      vendor: "ATA     \n",
      model: "Samsung SSD 870 \n",
      wwid: "naa.5002538f00000001\n",
      vpd_pg89: identify({ serial: "S5Y1NG0N", model: "Samsung SSD 870 EVO 500GB" }),
    },
  });
  one.file("sys/class/ata_port/ata3/port_no", "3\n");
  one.disk("sdb", "pci0000:00/0000:03:00.0/host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0", {
    bytes: 8 * GIB,
    device: {
      vendor: "SEAGATE \n",
      model: "ST8000NM0075    \n",
      wwid: "naa.5000c500a1b2c3d4\n",
      vpd_pg80: Buffer.concat([Buffer.of(0, 0x80, 0, 8), Buffer.from("ZA1A2B3C")]),
    },
  });
  one.disk("nvme0n1", "pci0000:00/0000:04:00.0/nvme/nvme0", {
    bytes: 2 * GIB,
    device: { model: "INTEL SSDPE2KX010T8                     \n", serial: "PHLJ0001            \n" },
  });
  one.file("sys/devices/pci0000:00/0000:04:00.0/nvme/nvme0/block/nvme0n1/wwid", "eui.0025385b91b0a001\n");
  one.disk("sr0", "pci0000:00/0000:00:1f.2/ata4/host3", { bytes: GIB });
  one.disk("sdz", "pci0000:00/0000:00:14.0/usb1/1-1/host4/4:0:0:0", { bytes: GIB });
  one.file("sys/devices/pci0000:00/0000:00:14.0/usb1/1-1/host4/4:0:0:0/block/sdz/removable", "1\n");
  one.card("lan7", "0c:c4:7a:00:00:01");
  return one;
}

test("disks have the names that udev gives them, and what can be taken out is no disk", { skip }, async () => {
  const one = machine();
  try {
    const inventory = Inventory.parse(JSON.parse(await one.sh("BOOT_MAC=0c:c4:7a:00:00:01; inventory")));
    assert.deepEqual(
      inventory.disks.map(({ name, byId, byPath, transport }) => ({ name, byId, byPath, transport })),
      [
        {
          name: "/dev/nvme0n1",
          byId: ["nvme-INTEL_SSDPE2KX010T8_PHLJ0001", "nvme-eui.0025385b91b0a001"],
          byPath: "pci-0000:04:00.0-nvme-1",
          transport: "nvme",
        },
        {
          name: "/dev/sda",
          byId: ["ata-Samsung_SSD_870_EVO_500GB_S5Y1NG0N", "wwn-0x5002538f00000001"],
          byPath: "pci-0000:00:1f.2-ata-3",
          transport: "sata",
        },
        {
          name: "/dev/sdb",
          byId: ["scsi-35000c500a1b2c3d4", "wwn-0x5000c500a1b2c3d4"],
          byPath: undefined,
          transport: "sas",
        },
      ],
    );
    assert.deepEqual(
      inventory.disks.map(({ model, serial, hctl, bytes }) => [model, serial, hctl, bytes]),
      [
        ["INTEL SSDPE2KX010T8", "PHLJ0001", undefined, 2 * GIB],
        ["Samsung SSD 870 EVO 500GB", "S5Y1NG0N", "2:0:0:0", 4 * GIB],
        ["ST8000NM0075", "ZA1A2B3C", "0:0:0:0", 8 * GIB],
      ],
    );
  } finally {
    one.close();
  }
});

test("cards, board, firmware and memory are read; what is not there is absent", { skip }, async () => {
  const one = machine();
  try {
    const dmi = { bios_vendor: "AMI", sys_vendor: "Supermicro", product_name: "X11", product_uuid: "534c4950" };
    for (const [name, value] of Object.entries(dmi)) one.file(`sys/class/dmi/id/${name}`, `${value}\n`);
    // SMBIOS type 17: 16 GiB in MiB, and one of 64 GiB, which needs the longer field.
    const short = Buffer.alloc(40);
    short.writeUInt16LE(16 * 1024, 12);
    const long = Buffer.alloc(40);
    long.writeUInt16LE(0x7fff, 12);
    long.writeUInt32LE(64 * 1024, 28);
    const empty = Buffer.alloc(40);
    one.file("sys/firmware/dmi/entries/17-0/raw", short);
    one.file("sys/firmware/dmi/entries/17-1/raw", long);
    one.file("sys/firmware/dmi/entries/17-2/raw", empty);
    one.file("sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", Buffer.of(6, 0, 0, 0, 1));
    one.file("run/bmc", "10.0.9.1\n");

    const inventory = Inventory.parse(JSON.parse(await one.sh("BOOT_MAC=0c:c4:7a:00:00:01; inventory")));

    assert.deepEqual(inventory.firmware, { kind: "uefi", secureBoot: true, vendor: "AMI" });
    assert.deepEqual(inventory.system, { manufacturer: "Supermicro", product: "X11", uuid: "534c4950" });
    assert.equal(inventory.memoryBytes, 80 * GIB);
    assert.deepEqual(inventory.bmc, { address: "10.0.9.1" });
    assert.deepEqual(inventory.cards, [
      { name: "lan7", mac: "0c:c4:7a:00:00:01", link: true, speedMbps: 1000, addresses: [], model: "0x8086 0x10d3" },
    ]);
  } finally {
    one.close();
  }
});

test("whatever a disk calls itself, the report is what the protocol says", { skip }, async () => {
  const one = machine();
  try {
    const names = [
      'a "quoted\\ name',
      "tab\there\u0007",
      `${"x".repeat(1000)}`,
      "$(touch hacked)`touch hacked`",
      "ünïcödé",
      "\xff\xfe",
    ];
    for (const [i, model] of names.entries())
      one.disk(`nvme${i + 1}n1`, `pci0000:00/0000:05:0${i}.0/nvme/nvme${i + 1}`, {
        bytes: GIB,
        device: { model: Buffer.from(`${model}\n`, i === 5 ? "latin1" : "utf8"), serial: `N${i}\n` },
      });
    const inventory = Inventory.parse(
      JSON.parse(await one.sh(`cd ${one.folder}; BOOT_MAC=0c:c4:7a:00:00:01; inventory`)),
    );
    assert.deepEqual(
      inventory.disks.slice(1, 4).map(({ model, byId }) => [model, byId[0]]),
      [
        ['a "quoted\\ name', "nvme-a__quoted__name_N0"],
        ["tab here", "nvme-tab_here__N1"],
        ["x".repeat(256), `nvme-${"x".repeat(251)}`],
      ],
    );
    assert.equal(existsSync(`${one.folder}/hacked`), false);
  } finally {
    one.close();
  }
});

test("the command line shows the server and the card in either spelling", { skip }, async () => {
  const one = machine();
  try {
    const read = async (line: string): Promise<string> => {
      one.file("cmdline", `${line}\n`);
      return one.sh(`read_command_line ${one.folder}/cmdline; echo "$SERVER|$REST|$CAPABILITY|$PIN|$BOOT_MAC"`);
    };
    assert.equal(
      await read(
        "console=ttyS0 slipway.url=https://10.0.0.1:8443/ slipway.rest=http://10.0.0.1/r slipway.boot=a.b-c= slipway.pin=sha256//x+y= BOOTIF=01-0C-C4-7A-00-00-01",
      ),
      "https://10.0.0.1:8443|http://10.0.0.1/r|a.b-c=|sha256//x+y=|0c:c4:7a:00:00:01\n",
    );
    assert.equal(await read("quiet slipway.mac=0C:C4:7A:00:00:02"), "||||0c:c4:7a:00:00:02\n");
  } finally {
    one.close();
  }
});

test("a BMC's address that is found after the report makes another one", async () => {
  const machine = new FakeMachine();
  try {
    const said = await machine.sh(`
      report_inventory() { echo again; }
      request() { echo 204; }
      devices=$(devices_now)
      next_order
      echo 10.0.9.1 >"$RUN/bmc"
      next_order`);
    assert.equal(said, "again\n");
  } finally {
    machine.close();
  }
});
