import assert from "node:assert/strict";
import { test } from "node:test";
import type { BootDevice } from "./boot-order.ts";
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
    assert.match(line, /virtio-net-pci\S*,mac=52:54:00:77:00:01\S*,bootindex=10 /);
    assert.match(line, /virtio-blk-pci,drive=disk0,serial=S1,\S*bootindex=20 /);
  }
});

test("Secure Boot is enforced by firmware whose keys no guest can change", () => {
  const line = qemuArguments(machine("uefi-secure"), WIRING).args.join(" ");
  assert.match(line, /q35\S*,smm=on/);
  assert.match(line, /cfi\.pflash01,property=secure,value=on/);
  assert.match(line, /readonly=on,file=\/usr\/share\/OVMF\/OVMF_CODE_4M\.ms\.fd/);
});

test("every option has its value, and every value its option", () => {
  const alone = new Set(["-nodefaults", "-no-user-config"]);
  const loader = { kernel: "/lab/kernel", initrd: "/lab/initrd" };
  for (const spec of [...FIRMWARES.map((firmware) => machine(firmware)), machine("bios", { loader })]) {
    const { args } = qemuArguments(spec, WIRING);
    while (args.length > 0) {
      const option = args.shift()!;
      assert.match(option, /^-[a-z]/, spec.firmware);
      if (!alone.has(option)) assert.match(args.shift() ?? "", /^[^-]/, option);
    }
  }
});

test("what is run in place of the card's ROM is given to the firmware, and the ROM is left out", () => {
  const rom = /romfile=(\S*),id=/;
  const usual = qemuArguments(machine("bios"), WIRING).args.join(" ");
  const loader = { kernel: "/lab/kernel", initrd: "/lab/initrd" };
  const other = qemuArguments(machine("bios", { loader }), WIRING).args.join(" ");
  assert.match(other, /-kernel \/lab\/kernel -initrd \/lab\/initrd$/);
  assert.doesNotMatch(usual, /-kernel|-initrd/);
  assert.deepEqual([rom.exec(usual)![1] !== "", rom.exec(other)![1]], [true, ""]);
});

test("disks are plugged in by their bus, in their order, and booted from in that order", () => {
  const disks = (["virtio", "sata", "nvme"] as const).map((bus, at) => ({
    file: `/lab/${bus}`,
    bus,
    serial: `S${at}`,
  }));
  const { args } = qemuArguments(machine("uefi", { disks }), WIRING);
  assert.deepEqual(
    args.filter((arg) => arg.includes(",drive=disk")),
    [
      "virtio-blk-pci,drive=disk0,serial=S0,id=disk0-device,bootindex=20",
      "ide-hd,drive=disk1,bus=ide.1,serial=S1,id=disk1-device,bootindex=21",
      "nvme,drive=disk2,serial=S2,id=disk2-device,bootindex=22",
    ],
  );
  for (const [at, { file }] of disks.entries())
    assert.ok(args.some((arg) => arg.startsWith(`if=none,id=disk${at},format=raw,`) && arg.endsWith(`file=${file}`)));
});

test("a CD drive is always there, holds an image that is write-protected, and is booted from only when it is chosen", () => {
  const line = (firmware: Firmware, wiring: object): string =>
    qemuArguments(machine(firmware), { ...WIRING, ...wiring }).args.join(" ");
  assert.match(line("bios", {}), / if=none,id=cd,media=cdrom -device ide-cd,bus=ide\.5,drive=cd,id=cd0 /);
  assert.match(line("arm64", {}), / -device scsi-cd,bus=scsi0\.0,drive=cd,id=cd0 /);
  const chosen = line("uefi", { first: "cd", cd: "/lab/a,b.iso" });
  assert.match(chosen, /id=cd,media=cdrom,format=raw,readonly=on,file=\/lab\/a,,b\.iso /);
  assert.match(chosen, /drive=cd,id=cd0,bootindex=1 /);
});

test("a TPM is where there is a socket of one", () => {
  const line = (firmware: Firmware, wiring: object): string =>
    qemuArguments(machine(firmware), { ...WIRING, ...wiring }).args.join(" ");
  assert.doesNotMatch(line("uefi", {}), /tpm/);
  const tpm = "/lab/tpm,1/control";
  assert.match(line("uefi", { tpm }), /socket,id=tpm,path=\/lab\/tpm,,1\/control .* -device tpm-tis,tpmdev=tpm0 /);
  assert.match(line("arm64", { tpm }), / -device tpm-tis-device,tpmdev=tpm0 /);
});

test("what is chosen comes before the usual order, in whose place the rest stays", () => {
  const indexes = (first: BootDevice): string[] =>
    [
      ...qemuArguments(machine("uefi"), { ...WIRING, first })
        .args.join(" ")
        .matchAll(/id=(\S+),bootindex=(\d+)/g),
    ].map(([, id, index]) => `${id} ${index}`);
  assert.deepEqual(indexes("network"), ["card0 1", "disk0-device 20"]);
  assert.deepEqual(indexes("disk"), ["card0 10", "disk0-device 1"]);
});

test("firmware with variables gets its own copy of them, and waits for no network that nobody answers", () => {
  const of = (firmware: Firmware): string => qemuArguments(machine(firmware), WIRING).args.join(" ");
  assert.match(of("uefi"), /unit=1,format=raw,file=\/lab\/variables\.fd /);
  assert.doesNotMatch(of("bios"), /pflash|fw_cfg/);
  const off = (line: string): string[] =>
    [...line.matchAll(/-fw_cfg name=\S+\/(IPv\dPXESupport),string=no/g)].map(([, what]) => what!);
  assert.deepEqual([off(of("uefi")), off(of("uefi-http"))], [["IPv6PXESupport"], ["IPv6PXESupport", "IPv4PXESupport"]]);
});

test("a machine has its name, its id and its memory, and is ordered over the socket it is given", () => {
  const line = qemuArguments(machine("bios"), WIRING).args.join(" ");
  assert.match(line, new RegExp(`^-name lab-1 -uuid ${labUuid(1)} -m 512 `));
  assert.match(line, /-serial stdio -chardev socket,id=qmp,fd=3 -mon chardev=qmp,mode=control /);
  assert.match(line, /-netdev tap,id=net0,ifname=tap-lab-1,script=no,downscript=no /);
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
