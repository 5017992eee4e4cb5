/** What a user of Harvester pools is promised (H1–H32), seen from outside: manifests in, objects, events and clouds out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plain } from "@slipway/base";
import { isTrue, type Transport } from "@slipway/kube";
import { ConfigMap, Secret, Service } from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { condition, using } from "./using.ts";
import { HOUR, JOIN_TOKEN, MINUTE, SECOND } from "./world.ts";

const secretRef = { namespace: "harvester-system", name: "equinix-addon" };

test("H14 a missing Secret, a missing key, a missing token and a VIP without an address are reported and mended without a restart", () =>
  using({ joinToken: false }, async (world) => {
    const held = await world.client.get(Secret, secretRef);
    await world.client.delete(Secret, secretRef);
    await world.client.delete(ConfigMap, { namespace: "harvester-system", name: "vip" });
    const service = { namespace: "kube-system", name: "ingress-expose" };
    await world.client.patch(
      Service,
      service,
      { type: "merge", body: { status: { loadBalancer: null } } },
      { subresource: "status" },
    );
    await world.pool("rack", {});
    const shown = (what: RegExp) =>
      world.until(
        String(what),
        async () => what.test(condition(await world.client.get(InstancePool, { name: "rack" }))?.message ?? ""),
        5 * MINUTE,
      );

    await shown(/Secret\/harvester-system\/equinix-addon: the Secret does not exist; create it/);
    const { METAL_AUTH_TOKEN: key, PROJECT_ID: project } = held.data!;
    await world.client.create(Secret, { metadata: secretRef, data: { PROJECT_ID: project! } });
    await shown(/has no key METAL_AUTH_TOKEN/);
    await world.client.patch(Secret, secretRef, { type: "merge", body: { data: { METAL_AUTH_TOKEN: key } } });
    await shown(/no join token/);
    await world.client.patch(Secret, secretRef, { type: "merge", body: { stringData: { JOIN_TOKEN } } });
    await shown(/virtual IP is not known/);
    await world.client.patch(
      Service,
      service,
      { type: "merge", body: { status: { loadBalancer: { ingress: [{ ip: "10.20.30.40" }] } } } },
      { subresource: "status" },
    );
    await world.until("ready", () => world.converged());
  }));

test("H15 a network mode is set with the missing calls only, and a second pass is made where it must change first", () =>
  using({}, async (world) => {
    const network = (type: string) => ({
      networkingConfiguration: {
        type,
        createVLANs: true,
        interfaceConfiguration: [{ name: "bond0", vlanIDS: ["1000"] }],
      },
    });
    await world.pool("hybrid", network("hybrid-bonded"));
    await world.until("ready", () => world.converged());
    const calls = world.equinix.counters();
    await world.clock.run(HOUR);
    const later = world.equinix.counters();
    for (const name of Object.keys(later).filter((name) => /[Pp]ort|[Vv]lan/.test(name)))
      assert.equal(later[name], calls[name], name);
  }));

test("H17 no object but a Secret holds the API key, the join token or a password, nor does any event or log line", () =>
  using({}, async (world) => {
    await world.apply("examples/harvester/instancepool.yaml");
    await world.until("ready", () => world.converged());
    const secrets = (await world.client.list(Secret)).items;
    const key = Buffer.from(
      secrets.find((s) => s.metadata.name === "equinix-addon")!.data!.METAL_AUTH_TOKEN!,
      "base64",
    ).toString();
    const password = Buffer.from(
      secrets.find((s) => s.metadata.name.endsWith("-os"))!.data!.password!,
      "base64",
    ).toString();
    const objects = [
      ...(await world.pools()),
      ...(await world.instances()),
      ...(await world.nodes()),
      ...(await world.events()),
      ...(await world.client.list(ConfigMap)).items,
    ];
    const said = [JSON.stringify(objects), ...world.logged].join("\n");
    for (const secret of [key, JOIN_TOKEN, password]) assert.ok(!said.includes(secret));
    assert.ok(
      !secrets.some((s) => s.metadata.name.startsWith("boot-")),
      "the boot's Secret is gone once the machine has joined",
    );
  }));

test("H21 every field of the pool reaches the order", () =>
  using({}, async (world) => {
    await world.pool("rack", {
      customData: '{"rack":7}',
      features: { tpm: "preferred" },
      nosshKeys: true,
      tags: ["blue"],
      description: "workers",
      alwaysPxe: true,
    });
    await world.until("bought", () => world.cloud.machines().length === 1);
    const device = JSON.stringify(world.equinix.devices()[0]!.order);
    for (const trace of ["rack", "blue", "workers", "tpm", "no_ssh_keys", "always_pxe"])
      assert.ok(device.includes(trace), `${trace} in ${device}`);
  }));

test("H23 a revoked spot machine is drained within its notice and replaced", () =>
  using({}, async (world) => {
    await world.pool("rack", { spotInstance: true, spotPriceMax: "0.5" });
    await world.until("ready", () => world.converged());
    const [old] = await world.instances();
    world.equinix.revokeSpot(old!.status!.instanceID!);
    await world.until("a successor is ordered", () => world.cloud.bought() === 2, 2 * MINUTE);
    await world.until("ready", () => world.converged());
    assert.equal(world.cloud.machines().length, 1);
  }));

test("H24 facility is not sent, and the metro is taken from it", () =>
  using({}, async (world) => {
    await world.pool("rack", { metro: null, facility: ["sg1"] });
    await world.until("ready", () => world.converged());
    assert.equal(world.cloud.bought(), 1);
    assert.ok((await world.events()).some((event) => /facility/.test(event.message ?? "")));
  }));

test("H25 machines install and join on every release from 1.0 to 1.9, with the VIP found on 1.8 and on 1.9", async () => {
  for (const version of ["v1.8.1", "v1.9.0"]) {
    await using({ site: { version } }, async (world) => {
      for (const release of [
        "v1.0.3",
        "v1.1.2",
        "v1.2.1",
        "v1.3.1",
        "v1.4.0",
        "v1.5.0",
        "v1.6.0",
        "v1.7.0",
        "v1.8.1",
      ]) {
        const isoUrl = `https://releases.rancher.com/harvester/${release}/harvester-${release}-amd64.iso`;
        await world.pool(`r${release.replaceAll(".", "")}`, { isoUrl });
      }
      await world.until("ready", () => world.converged());
      assert.equal(world.cloud.bought(), 9);
    });
  }
});

test("H30 one boot by default, two on request", () =>
  using({}, async (world) => {
    await world.pool("once", {});
    await world.pool("twice", { installMode: "TwoPass" });
    await world.pool("layer2", { networkingConfiguration: { type: "layer2-bonded" }, remediation: "Report" });
    await world.until(
      "both are ready",
      async () => (await world.instances()).filter((i) => i.status?.status === "managed").length === 2,
    );
    await world.until("the layer 2 machine was reinstalled", () => (world.equinix.counters().performAction ?? 0) >= 2);
    assert.equal(world.equinix.counters().performAction, 2);
  }));

test("H32 the same pool works on another provider", () =>
  using({}, async (world) => {
    await world.apply("examples/harvester/instancepool-latitude.yaml");
    await world.until("ready", () => world.converged());
    assert.equal(world.latitude.boughtEver().length, 2);
    assert.ok(isTrue((await world.client.get(MachineProvider, { name: "latitude" })).status?.conditions, "Ready"));
    await world.client.delete(InstancePool, { name: "harvester-latitude-worker" });
    await world.until("gone", () => world.latitude.servers().length === 0);
  }));

test("a machine made by hand from the addon's shortest manifest works alone", () =>
  using({}, async (world) => {
    await world.client.create(Instance, {
      metadata: { name: "node2" },
      spec: { billingCycle: "hourly", plan: "c3.small.x86", metro: "SG" },
    });
    await world.until(
      "managed",
      async () => (await world.client.get(Instance, { name: "node2" })).status?.status === "managed",
    );
    await world.client.delete(Instance, { name: "node2" });
    await world.until("gone", () => world.cloud.machines().length === 0);
  }));

test("H20 a script of the user's own is chained to, shown as a risk, and its configuration leaves the provider once the machine has joined", () =>
  using({}, async (world) => {
    const script = [
      "#!ipxe",
      "dhcp",
      "kernel https://mirror.example/harvester-v1.5.0-vmlinuz-amd64 initrd=i ip=dhcp root=live:https://mirror.example/harvester-v1.5.0-rootfs-amd64.squashfs harvester.install.automatic=true harvester.install.config_url=https://metadata.platformequinix.com/userdata",
      "initrd --name i https://mirror.example/harvester-v1.5.0-initrd-amd64",
      "boot",
    ].join("\n");
    world.serve("https://scripts.example", async () => plain(200, script));
    const isoUrl = "https://releases.rancher.com/harvester/v1.5.0/harvester-v1.5.0-amd64.iso";
    await world.pool("rack", { ipxeScriptUrl: "https://scripts.example/mine.ipxe", isoUrl });
    await world.until("ready", () => world.converged());
    assert.ok((await world.events()).some((event) => event.reason === "SecretsInUserData"));
    await world.until("the user data is cleared", () => world.equinix.devices()[0]!.userData === "", MINUTE);
  }));

test("H8 a protected pool is not deleted, nor its machines, until it may be", () =>
  using({}, async (world) => {
    await world.pool("rack", {});
    await world.until("ready", () => world.converged());
    const protect = (value: string | null) =>
      world.client.patch(
        InstancePool,
        { name: "rack" },
        { type: "merge", body: { metadata: { annotations: { "slipway.dev/protect": value } } } },
      );
    await protect("true");
    await world.clock.run(SECOND);
    await world.client.delete(InstancePool, { name: "rack" });
    await world.clock.run(10 * MINUTE);
    assert.equal((await world.instances())[0]!.status!.status, "managed");
    assert.ok((await world.events()).some((event) => event.reason === "Protected"));
    await protect(null);
    await world.until(
      "pool and machine are gone",
      async () => (await world.pools()).length === 0 && world.equinix.devices().length === 0,
    );
  }));

test("H8 a pool that somebody else changes at the moment in which it is protected is protected all the same", () => {
  let interfere = async (): Promise<void> => {};
  const transport = (inner: Transport): Transport => ({
    ...inner,
    request: async (request) => {
      const { metadata } = (request.body ?? {}) as { metadata?: { finalizers?: string[] } };
      if (metadata?.finalizers !== undefined && request.path.endsWith("/instancepools/rack")) await interfere();
      return await inner.request(request);
    },
  });
  return using({ transport }, async (world) => {
    await world.pool("rack", {});
    await world.until("ready", () => world.converged());
    const annotate = (annotations: object) =>
      world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { metadata: { annotations } } });
    interfere = async () => {
      interfere = async () => {};
      await annotate({ note: "from somebody else" });
    };
    await annotate({ "slipway.dev/protect": "true" });
    await world.clock.run(10 * SECOND);
    const { annotations, finalizers } = (await world.pools())[0]!.metadata;
    assert.equal(annotations?.note, "from somebody else");
    assert.equal(finalizers?.length, 1);
  });
});

test("H21 where the spot market has nothing at this price, spotFallback buys at the fixed one", () =>
  using({}, async (world) => {
    world.equinix.setSpotPrice("sg", "c3.small.x86", 9);
    await world.pool("waits", { spotInstance: true, spotPriceMax: "0.1" });
    await world.pool("pays", { spotInstance: true, spotPriceMax: "0.1", spotFallback: "OnDemand" });
    await world.until("one is in service", async () =>
      (await world.instances()).some((i) => i.status?.status === "managed"),
    );
    assert.deepEqual(
      world.equinix.devices().map(({ hostname, spot }) => [hostname.replace(/-.*/, ""), spot]),
      [["pays", false]],
    );
  }));
