/**
 * What a user of Harvester pools is promised, where it depends on the driver and is not in every-provider.test.ts: on hosts of the cluster's own.
 * Not here, since no driver has a part in it: H19 (rights and passwords: src/operator/rbac.test.ts), H25 (Harvester's configuration: src/bootstrap/harvester),
 * H31 (the plans' steps: statements.test.ts). Without a counterpart on own hosts: H23 and H24's metro of a facility; what becomes of the fields is H21 and H24 here.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plain } from "@slipway/base";
import { ConfigMap, Secret, Service } from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import type { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import type { HarvesterWorld, HarvesterWorldOptions } from "./harvester-world.ts";
import { condition, using } from "./using.ts";
import { HOUR, JOIN_TOKEN, MINUTE, SECOND } from "./world.ts";

const onOwn = (options: HarvesterWorldOptions, work: (world: HarvesterWorld) => Promise<void>): Promise<void> =>
  using({ provider: "inventory", servers: { sg: 2, ny: 0 }, ...options }, work);

/** Every version of every Instance from now on, with the moment it was written. */
async function history(world: HarvesterWorld): Promise<{ at: number; instance: Instance }[]> {
  const seen: { at: number; instance: Instance }[] = [];
  const { resourceVersion } = await world.whileTimePasses(world.client.list(Instance));
  const stream = await world.client.watch(Instance, { resourceVersion });
  void (async () => {
    for await (const { type, object } of stream)
      if (type === "ADDED" || type === "MODIFIED") seen.push({ at: world.clock.now(), instance: object as Instance });
  })();
  return seen;
}

const usedHost = async (world: HarvesterWorld): Promise<BareMetalHost | undefined> =>
  (await world.own.hosts()).find(({ spec }) => spec.consumerRef !== undefined);

test("H11 a host that is provisioned is not taken for installed, until the installer or its Node says so", () =>
  onOwn({ firmware: { hangs: (_, stage) => stage === "joining" } }, async (world) => {
    const seen = await history(world);
    await world.pool("rack", { remediation: "Report", joinTimeout: "3h" });
    await world.until(
      "it is provisioned",
      async () => (await usedHost(world))?.status?.provisioning?.state === "provisioned",
    );
    for (const { instance } of seen) {
      const { status, install, node } = instance.status ?? {};
      if (status === "ready" || status === "managed")
        assert.ok(install?.succeeded ?? node?.uid, `${status} without a sign of the machine itself`);
    }
    await world.clock.run(HOUR);
    assert.notEqual((await world.instances())[0]!.status?.status, "managed");
    assert.deepEqual(await world.nodes(), []);
  }));

test("H14 a missing token, a VIP without an address and a BMC's missing Secret are reported and mended without a restart", () =>
  onOwn({ joinToken: false }, async (world) => {
    await world.client.delete(ConfigMap, { namespace: "harvester-system", name: "vip" });
    const service = { namespace: "kube-system", name: "ingress-expose" };
    const setVip = (loadBalancer: object | null) =>
      world.client.patch(
        Service,
        service,
        { type: "merge", body: { status: { loadBalancer } } },
        { subresource: "status" },
      );
    await setVip(null);
    await world.pool("rack", {});
    const shown = (what: RegExp) =>
      world.until(
        String(what),
        async () => what.test(condition(await world.client.get(InstancePool, { name: "rack" }))?.message ?? ""),
        5 * MINUTE,
      );
    await shown(/no join token/);
    const secretRef = { namespace: "harvester-system", name: "equinix-addon" };
    await world.client.patch(Secret, secretRef, { type: "merge", body: { stringData: { JOIN_TOKEN } } });
    await shown(/virtual IP is not known/);
    const bmc = { namespace: DISCOVERY_NAMESPACE, name: "bmc" };
    const held = await world.client.get(Secret, bmc);
    await world.client.delete(Secret, bmc);
    await world.until("the hosts say so", async () =>
      (await world.own.hosts()).every(({ status }) => /Secret\/.*\/bmc: .* not there/.test(status?.errorMessage ?? "")),
    );
    await setVip({ ingress: [{ ip: "10.20.30.40" }] });
    await world.until("it is said why no host can be had", async () =>
      (await world.events()).some(({ reason, message = "" }) => reason === "NoCapacity" && /2 in error/.test(message)),
    );
    await world.client.create(Secret, { metadata: bmc, data: held.data! });
    await world.until("ready", () => world.converged());
  }));

test("H15 ports are set at the switches: another network than the plain one is refused by its field, and no host is taken for it", () =>
  onOwn({}, async (world) => {
    await world.pool("rack", { networkingConfiguration: { type: "hybrid-bonded" }, remediation: "Report" });
    await world.until("it is refused", async () =>
      (await world.events()).some(({ message = "" }) =>
        /networkingConfiguration: the ports of own hosts are set at their switches/.test(message),
      ),
    );
    assert.ok((await world.instances()).every(({ status }) => status?.status !== "managed"));
    await world.pool("plain", { networkingConfiguration: { type: "layer3" } });
    await world.until("the plain one is ready", async () =>
      (await world.instances()).some(
        ({ metadata, status }) => metadata.name.startsWith("plain") && status?.status === "managed",
      ),
    );
  }));

test("H16 what a host's installer says of itself, and its Node, are handled within a second", () =>
  onOwn({}, async (world) => {
    const seen = await history(world);
    await world.pool("rack", {});
    await world.until("ready", () => world.converged());
    const first = (what: string, holds: (instance: Instance) => boolean): number => {
      const found = seen.find(({ instance }) => holds(instance));
      assert.ok(found, what);
      return found.at;
    };
    const signals: [what: string, said: (i: Instance) => boolean, handled: (i: Instance) => boolean][] = [
      ["STARTED", (i) => i.status?.install?.started != null, (i) => condition(i, "Installed")?.reason === "Installing"],
      ["SUCCEEDED", (i) => i.status?.install?.succeeded != null, (i) => i.status?.status === "ready"],
      ["the Node", (i) => i.status?.node?.uid !== undefined, (i) => i.status?.status === "managed"],
    ];
    for (const [what, said, handled] of signals) {
      const took = first(`${what} handled`, handled) - first(`${what} said`, said);
      assert.ok(took >= 0 && took < SECOND, `${what} took ${took} ms`);
    }
  }));

test("H16 a failed installation of a host is acted upon at once, and another host is taken", () => {
  let failures = 0;
  return onOwn({ firmware: { installFails: () => (failures++ === 0 ? "no space" : undefined) } }, async (world) => {
    const seen = await history(world);
    await world.pool("rack", {});
    await world.until("ready", () => world.converged());
    const said = seen.find(({ instance }) => instance.status?.install?.failed != null)!;
    const handled = seen.find(({ instance }) => instance.status?.failure?.reason === "InstallFailed")!;
    assert.ok(handled.at - said.at < SECOND, `${handled.at - said.at} ms`);
    assert.equal(world.cloud.bought(), 2);
  });
});

test("H17 no object but a Secret holds a BMC's password, the join token, a password or what a host boots, nor does any event or log line", () =>
  onOwn({}, async (world) => {
    await world.pool("rack", {});
    const scripts = new Set<string>();
    await world.until("ready", async () => {
      for (const { metadata, data = {} } of (await world.client.list(Secret)).items)
        if (metadata.name.startsWith("script-")) scripts.add(Buffer.from(data.scriptURL!, "base64").toString());
      return await world.converged();
    });
    assert.ok(scripts.size > 0);
    const objects = [
      ...(await world.pools()),
      ...(await world.instances()),
      ...(await world.nodes()),
      ...(await world.events()),
      ...(await world.own.hosts()),
      ...(await world.client.list(ConfigMap)).items,
    ];
    const said = [JSON.stringify(objects), ...world.logged].join("\n");
    for (const secret of [world.own.rack.login.password, JOIN_TOKEN, ...scripts]) assert.ok(!said.includes(secret));
  }));

test("H20 a host's script is the operator's, over HTTPS; a script of the user's own that reads user data is refused by its field", () =>
  onOwn({}, async (world) => {
    await world.pool("rack", {});
    await world.until("it is said what it boots", async () => (await usedHost(world))?.spec.userData !== undefined);
    const { name } = (await usedHost(world))!.spec.userData!;
    const { data } = await world.client.get(Secret, { namespace: DISCOVERY_NAMESPACE, name: name! });
    const url = new URL(Buffer.from(data!.scriptURL!, "base64").toString());
    assert.equal(url.origin, "https://slipway.example");
    const kernel = "kernel https://mirror.example/vmlinuz harvester.install.automatic=true";
    const script = `#!ipxe\n${kernel} harvester.install.config_url=https://metadata.platformequinix.com/userdata\nboot`;
    world.serve("https://scripts.example", async () => plain(200, script));
    await world.pool("mine", { ipxeScriptUrl: "https://scripts.example/mine.ipxe", remediation: "Report" });
    await world.until("it is refused", async () =>
      /spec\.ipxeScriptUrl: such a script reads .* from user data/.test(
        condition(await world.client.get(InstancePool, { name: "mine" }))?.message ?? "",
      ),
    );
    assert.equal(world.cloud.machines().length, 1);
  }));

test("H21 H23 H24 fields that own hosts have no use for are named in a warning, and the pool is made all the same", () =>
  onOwn({}, async (world) => {
    await world.pool("rack", {
      ...{ customData: '{"rack":7}', features: { tpm: "preferred" }, tags: ["blue"], description: "workers" },
      ...{ alwaysPxe: true, spotInstance: true, spotPriceMax: "0.5", facility: ["sg1"] },
    });
    await world.until("ready", () => world.converged());
    const said = (await world.events()).map(({ message = "" }) => message).join("\n");
    for (const field of ["customData", "features", "tags", "description", "alwaysPxe", "spotInstance", "facility"])
      assert.match(said, new RegExp(`spec\\.${field}`), field);
  }));
