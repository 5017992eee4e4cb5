import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { isFault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient } from "@slipway/kube";
import { ConfigMap, Namespace, Service } from "@slipway/kube/core";
import { seedSite } from "./seed.ts";

const VIP = "10.20.30.40";
const service = (name: string) => ({ namespace: "kube-system", name });

async function using(work: (client: Client) => Promise<void>): Promise<void> {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const api = await createApiServer({ clock, random, log: quietLog });
  try {
    await work(createClient(api.transport(), { clock, random, log: quietLog }));
  } finally {
    await api.close();
  }
}

for (const [version, present, absent] of [
  ["v1.8.1", "ingress-expose", "rke2-traefik"],
  ["v1.9.0", "rke2-traefik", "ingress-expose"],
  ["v1.9.0-rc6", "rke2-traefik", "ingress-expose"],
] as const) {
  test(`Harvester ${version} has its VIP in the ConfigMap and in the Service ${present}, and no ${absent}`, () =>
    using(async (client) => {
      await seedSite(client, { vip: VIP, version, vipMode: "static" });
      const map = await client.get(ConfigMap, { namespace: "harvester-system", name: "vip" });
      assert.deepEqual([map.data!.ip, map.data!.enabled, map.data!.mode], [VIP, "true", "static"]);
      const found = await client.get(Service, service(present));
      assert.equal(found.status!.loadBalancer!.ingress![0]!.ip, VIP);
      assert.equal(await client.find(Service, service(absent)), undefined);
      assert.equal(
        found.metadata.annotations?.["kube-vip.io/loadbalancerIPs"],
        present === "rke2-traefik" ? VIP : undefined,
      );
      assert.ok(await client.find(Namespace, { name: "fleet-local" }));
    }));
}

test("with a VIP by DHCP 1.9 has 0.0.0.0 where the address would be, and the address where it is asked for", () =>
  using(async (client) => {
    await seedSite(client, { vip: VIP, version: "v1.9.0", vipMode: "dhcp" });
    const { annotations } = (await client.get(Service, service("rke2-traefik"))).metadata;
    assert.equal(annotations!["kube-vip.io/loadbalancerIPs"], "0.0.0.0");
    assert.equal(annotations!["kube-vip.io/requestedIP"], VIP);
    const map = await client.get(ConfigMap, { namespace: "harvester-system", name: "vip" });
    assert.deepEqual([map.data!.ip, map.data!.mode, map.data!.loadBalancerIP], [VIP, "dhcp", "0.0.0.0"]);
  }));

test("seeding twice changes nothing that is there", () =>
  using(async (client) => {
    await seedSite(client, { vip: VIP, version: "v1.8.1", vipMode: "static" });
    await seedSite(client, { vip: "10.0.0.9", version: "v1.8.1", vipMode: "static" });
    assert.equal((await client.get(ConfigMap, { namespace: "harvester-system", name: "vip" })).data!.ip, VIP);
    assert.deepEqual((await client.get(Service, service("ingress-expose"))).status!.loadBalancer!.ingress, [
      { ip: VIP },
    ]);
  }));

test("what is no release of Harvester is refused, and named", () =>
  using(async (client) => {
    await assert.rejects(
      seedSite(client, { vip: VIP, version: "newest", vipMode: "static" }),
      (error) => isFault(error, "Invalid") && /newest is not a Harvester release/.test(error.message),
    );
  }));
