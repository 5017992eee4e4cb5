import assert from "node:assert/strict";
import { test } from "node:test";
import { netbootSettings } from "../../netboot/settings.ts";
import { changed, configOf } from "./server-view.ts";

const settings = (more: object, name = "eth1") => netbootSettings({ interface: name, ...more }, "test");
const subnet = {
  ...{ network: "192.168.1.0/24", gateway: "192.168.1.1", nameServers: ["192.168.1.2", "192.168.1.3"] },
  pools: [{ first: "192.168.1.100", last: "192.168.1.109" }],
};

test("N2 netboot's first network is shown as the original's only one", () => {
  const all = configOf(settings({ dhcp: { mode: "pool", subnets: [subnet] } }), "192.168.1.9", []);
  assert.deepEqual(all.dhcpConfig, {
    ...{ addressDHCP: "192.168.1.9", startDHCP: "192.168.1.100", leasePoolDHCP: 10 },
    ...{ subnetDHCP: "255.255.255.0", gatewayDHCP: "192.168.1.1", nameserverDHCP: "192.168.1.2" },
  });
  assert.deepEqual(
    [all.adapter, all.enableDHCP, all.addressTFTP, all.enableHTTP, all.addressHTTP],
    ["eth1", true, "192.168.1.9", true, "192.168.1.9"],
  );
  const one = { ...subnet, pools: [{ first: "192.168.1.100", last: "192.168.1.100" }] };
  assert.equal(
    configOf(settings({ dhcp: { mode: "pool", subnets: [one] } }), "192.168.1.9", []).dhcpConfig?.leasePoolDHCP,
    1,
  );
});

test("N2 what is not served is shown so", () => {
  const off = configOf(settings({ dhcp: { mode: "off" } }), "192.168.1.9", []);
  assert.deepEqual([off.enableDHCP, "dhcpConfig" in off], [false, false]);
});

test("N2 of a configuration that is written, the fields are named that are given and differ", () => {
  const is = configOf(settings({ dhcp: { mode: "pool", subnets: [subnet] } }), "192.168.1.9", []);
  assert.deepEqual(changed(is, is), []);
  assert.deepEqual(changed({ bootConfigs: [{ configName: "x" }] } as never, is), []);
  assert.deepEqual(changed({ adapter: "", addressTFTP: undefined, bootConfigs: [] } as never, is), []);
  const wanted = { ...is, adapter: "eth9", enableDHCP: false, dhcpConfig: { ...is.dhcpConfig, leasePoolDHCP: 11 } };
  assert.deepEqual(changed(wanted as never, is).toSorted(), ["adapter", "dhcpConfig", "enableDHCP"]);
});
