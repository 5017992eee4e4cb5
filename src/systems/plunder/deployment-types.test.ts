import assert from "node:assert/strict";
import { test } from "node:test";
import { unknownDeployment, unsetAddress } from "./deployment-types.ts";

const said = (name: string): string => unknownDeployment("PlunderMachine/a", name, "plunder").advice;

test("N32 N36 a type that can't be a cluster's machine is refused with the reason and what is there instead", () => {
  for (const [name, why] of [
    ["vsphere", /vsphere is not served: ESXi can't be a Node/],
    ["harvester/join", /Harvester brings a Kubernetes of its own, and takes no bootstrap data/],
    ["grub", /GRUB starts machines by a configuration of Slipway's own.*installer: ipxe\/NAME/],
  ] as const) {
    assert.match(said(name), why);
    assert.match(said(name), /operatingSystems of MachineProvider plunder that takes bootstrap data/);
  }
});

test("N36 any other name is one that the MachineProvider may get, with what it has to be there", () => {
  for (const [name, entry] of [
    ["default", ""],
    ["node-image", ""],
    ["preseed", ", with installer: preseed/NAME, a profile beside the hosts"],
    ["autoinstall/noble", ", with installer: autoinstall/NAME, a profile beside the hosts"],
    ["iso", ", with kernel and initrd inside the ISO, which netboot serves (boot.images)"],
    ["booty", ", with image: what BOOTy would write"],
  ] as const)
    assert.ok(
      said(name).endsWith(
        `nothing says what is installed as ${name}; add ${name} to spec.inventory.operatingSystems of MachineProvider plunder${entry}`,
      ),
      said(name),
    );
});

test("N26 N36 an address of a pool that can't be set is refused: where, which, why, and what to do", () => {
  const said = (provider: string, address: string, isOnDisk: boolean): string | undefined =>
    unsetAddress("PlunderMachine/a/b", "preseed", { provider, address, isOnDisk })?.advice;
  const remove =
    "; remove the field from this object and from its PlunderMachineTemplate, and reserve an address for the machine's MAC address in DHCP";
  const onHost = `${remove}, or name networkData in its BareMetalHost`;
  const where = "PlunderMachine/a/b: spec.addressesFromPool: ";
  for (const [provider, address, isOnDisk, words] of [
    [
      "plunder",
      "10.0.0.9",
      true,
      `10.0.0.9 can't be set: what is installed on a disk as preseed configures its network by itself${onHost}`,
    ],
    [
      "Secret/plunder",
      "10.0.0.9",
      true,
      `10.0.0.9 can't be set: the netboot of Secret plunder gives machines no addresses of pools${remove}`,
    ],
    ["plunder", "2001:db8::9", false, `2001:db8::9 can't be set: a kernel is given IPv4 addresses alone${onHost}`],
  ] as const)
    assert.equal(said(provider, address, isOnDisk), where + words);
  assert.equal(said("plunder", "10.0.0.9", false), undefined);
});
