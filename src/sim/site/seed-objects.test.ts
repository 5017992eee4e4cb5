import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient } from "@slipway/kube";
import { ConfigMap, Namespace, Service } from "@slipway/kube/core";
import { seedSite } from "./seed.ts";

test("a seeded site is whole: namespaces, the VIP's ConfigMap, and its Service by the release", async () => {
  const api = await createApiServer({ clock: new VirtualClock(0), random: seededRandom(1), log: quietLog });
  const client = createClient(api.transport(), {
    clock: new VirtualClock(0),
    random: seededRandom(1),
    log: quietLog,
  });
  try {
    await seedSite(client, { vip: "10.0.0.9", version: "v1.8.1", vipMode: "static" });
    await seedSite(client, { vip: "10.0.0.9", version: "v1.9.1", vipMode: "dhcp" });
    for (const name of ["kube-system", "harvester-system", "fleet-local"]) await client.get(Namespace, { name });
    const map = async () => (await client.get(ConfigMap, { namespace: "harvester-system", name: "vip" })).data;
    const common = { enabled: "true", serviceType: "LoadBalancer", ip: "10.0.0.9" };
    assert.deepEqual(await map(), { ...common, mode: "static", hwAddress: "", loadBalancerIP: "10.0.0.9" });
    await client.delete(ConfigMap, { namespace: "harvester-system", name: "vip" });
    await seedSite(client, { vip: "10.0.0.9", version: "v1.9.1", vipMode: "dhcp" });
    assert.deepEqual(await map(), {
      ...{ ...common, mode: "dhcp", hwAddress: "02:00:00:00:00:0f", loadBalancerIP: "0.0.0.0" },
    });
    for (const [name, app, annotations] of [
      ["ingress-expose", "rke2-ingress-nginx", undefined],
      ...([
        [
          ...(["rke2-traefik", "rke2-traefik"] as const),
          { "kube-vip.io/loadbalancerIPs": "0.0.0.0", "kube-vip.io/requestedIP": "10.0.0.9" },
        ],
      ] as const),
    ] as const) {
      const { metadata, spec, status } = await client.get(Service, { namespace: "kube-system", name });
      assert.deepEqual(metadata.annotations, annotations, name);
      const { type, selector, ports } = spec as unknown as {
        type: string;
        selector: object;
        ports: { name: string }[];
      };
      assert.deepEqual([type, selector], ["LoadBalancer", { "app.kubernetes.io/name": app }]);
      assert.deepEqual(
        ports.map(({ name: of, port, targetPort, protocol }: Record<string, unknown>) => [
          of,
          port,
          targetPort,
          protocol,
        ]),
        [
          ["https", 443, 443, "TCP"],
          ["http", 80, 80, "TCP"],
        ],
      );
      assert.deepEqual(status?.loadBalancer?.ingress, [{ ip: "10.0.0.9" }]);
    }
  } finally {
    await api.close();
  }
});
