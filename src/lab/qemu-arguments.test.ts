import assert from "node:assert/strict";
import { test } from "node:test";
import { FIRMWARES, type Firmware, labMac, labUuid, type MachineSpec } from "./machine.ts";
import { qemuArguments } from "./qemu-arguments.ts";

const WIRING = { tap: "tap-lab-1", variables: "/lab/variables.fd", qmpDescriptor: 3 };

function machine(firmware: Firmware, change: Partial<MachineSpec> = {}): MachineSpec {
  return {
    ...{ name: "lab-1", firmware, memoryMiB: 512, mac: labMac(1), uuid: labUuid(1) },
    disks: [{ file: "/lab/disk.img", bus: "virtio", serial: "S1" }],
    ...change,
  };
}

test("every machine is emulated, boots from the network first and from its disk next", () => {
  for (const firmware of FIRMWARES) {
    const line = qemuArguments(machine(firmware), WIRING).args.join(" ");
    assert.match(line, /-accel tcg/);
    assert.doesNotMatch(line, /kvm/);
    assert.match(line, /virtio-net-pci\S*,mac=52:54:00:77:00:01\S*,bootindex=1/);
    assert.match(line, /virtio-blk-pci,drive=disk0,serial=S1,bootindex=2/);
  }
});

test("Secure Boot is enforced by firmware whose keys no guest can change", () => {
  const line = qemuArguments(machine("uefi-secure"), WIRING).args.join(" ");
  assert.match(line, /q35\S*,smm=on/);
  assert.match(line, /cfi\.pflash01,property=secure,value=on/);
  assert.match(line, /readonly=on,file=\/usr\/share\/OVMF\/OVMF_CODE_4M\.ms\.fd/);
});

test("a comma in a file's name ends no value", () => {
  const disks = [{ file: "/lab/a,readonly=on", bus: "nvme" as const, serial: "S" }];
  const { args } = qemuArguments(machine("uefi", { disks }), WIRING);
  assert.ok(args.some((arg) => arg.endsWith("file=/lab/a,,readonly=on")));
});

test("machines are numbered in their addresses", () => {
  assert.equal(labMac(258), "52:54:00:77:01:02");
  assert.throws(() => labMac(0x1_0000), RangeError);
});
