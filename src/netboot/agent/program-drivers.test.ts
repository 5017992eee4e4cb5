import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeMachine } from "./testing.ts";

/** Loads drivers where `modprobe` says what it is asked for besides what no device names, and brings what `brings` says. */
async function loaded(machine: FakeMachine, brings = ""): Promise<string[]> {
  const said = await machine.sh(`
    mount() { :; }
    modprobe() {
      [ "$1" = -aqb ] || return 0
      shift 6
      echo "$*"
      ${brings}
    } 2>&1
    load_drivers`);
  return said.trim().split("\n");
}

test("a device's driver is asked for once; what it brings, in another turn", async () => {
  const machine = new FakeMachine();
  try {
    machine.file("sys/devices/pci0/0000:00:02.0/modalias", "pci:v00001AF4d00001041\n");
    machine.file("sys/devices/pci0/0000:00:03.0/modalias", "pci:v00001AF4d00001041\n");
    machine.file("sys/devices/LNXSYSTM:00/modalias", "acpi:*:[a-z]\n");
    const brings = `mkdir -p "$SYS/devices/pci0/virtio0"; echo virtio:d00000001v00001AF4 >"$SYS/devices/pci0/virtio0/modalias"`;
    const first = "acpi:*:[a-z] pci:v00001AF4d00001041";
    assert.deepEqual(await loaded(machine, brings), [first, "virtio:d00000001v00001AF4"]);
    // Later all are asked for again: there may be more drivers by then.
    assert.deepEqual(await loaded(machine), [`${first} virtio:d00000001v00001AF4`]);
  } finally {
    machine.close();
  }
});

test("a machine whose devices name no driver is asked for none", async () => {
  const machine = new FakeMachine();
  try {
    assert.deepEqual(await loaded(machine), [""]);
  } finally {
    machine.close();
  }
});
