import assert from "node:assert/strict";
import { test } from "node:test";
import { unknownDeployment } from "./deployment-types.ts";

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
