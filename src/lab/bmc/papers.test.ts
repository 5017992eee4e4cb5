import assert from "node:assert/strict";
import { test } from "node:test";
import { parseBmcAddress } from "../../inventory/bmc/address.ts";
import { FIRMWARES } from "../machine.ts";
import { planMachines, specOf } from "../rack.ts";
import { hostOf } from "./papers.ts";

test("a machine is declared by its card and its BMC, whose address says how its firmware boots from the network", () => {
  const plans = planMachines(FIRMWARES.length, FIRMWARES, { memoryMiB: 1024, diskBytes: 1 });
  for (const [at, plan] of plans.entries()) {
    const spec = specOf(plan, at + 1, "/lab");
    const url = `https://10.77.1.${at + 1}/redfish/v1/Systems/${spec.uuid}`;
    const { secret, host } = hostOf({ machine: { spec }, url, username: "admin", password: "right" }, "PEM");
    const address = parseBmcAddress(host.spec.bmc!.address);
    assert.ok(address.protocol === "redfish");
    assert.deepEqual([address.origin, address.system], [new URL(url).origin, new URL(url).pathname]);
    assert.equal(address.bootsBy, plan.firmware === "uefi-http" ? "uefi-http" : "pxe");
    assert.equal(host.spec.bootMACAddress, spec.mac);
    assert.equal(host.spec.bmc!.credentialsName, secret.metadata.name);
    assert.deepEqual(secret.stringData, { username: "admin", password: "right", "ca.crt": "PEM" });
  }
});
