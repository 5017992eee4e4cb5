import assert from "node:assert/strict";
import { test } from "node:test";
import { unknownDeployment } from "./deployment-types.ts";

const said = (name: string): string => unknownDeployment("PlunderMachine/a", name, "plunder").advice;

test("N32 N36 a type that can't be a cluster's machine is refused with the reason and what is there instead", () => {
  for (const [name, why] of [
    ["vsphere", /vsphere is not served: ESXi can't be a Node/],
    ["booty", /booty is not served: an image that BOOTy writes takes no bootstrap data.*spec\.image/],
    ["kickstart", /an installation by Anaconda takes no bootstrap data.*customDeploy\.method/],
    ["autoinstall/noble", /autoinstall\/noble is not served: an installation by subiquity/],
    ["harvester/join", /Harvester's installer takes no bootstrap data/],
    ["preseed/bookworm", /Debian's installer takes no bootstrap data/],
    ["ipxe", /a script for iPXE/],
    ["grub", /a configuration of GRUB/],
    ["iso", /what a medium starts/],
  ] as const) {
    assert.match(said(name), why);
    assert.match(said(name), /operatingSystems of MachineProvider plunder that takes bootstrap data/);
  }
});

test("N36 any other name is one that the MachineProvider may get, those of 2019 included", () => {
  for (const name of ["preseed", "default", "node-image"])
    assert.match(
      said(name),
      new RegExp(
        `nothing says what is installed as ${name}; add ${name} to spec\\.inventory\\.operatingSystems of MachineProvider plunder`,
      ),
    );
});
