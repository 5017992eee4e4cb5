/** Upstream's own manifests, as its users have them. They are not part of the project. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { SIPCluster } from "../../src/kinds/sip/sip-cluster.ts";
import { ensureNamespace } from "../../src/systems/netboot/led-netboot.ts";
import { nodes, SERVICES, SipWorld } from "./sip-world.ts";

const DATA = `${process.env.SLIPWAY_REFERENCE ?? "../shared/reference"}/data/examples/sip`;
const skip = existsSync(DATA) ? false : `${DATA} is absent`;
const NAMESPACE = "sipcluster-system";

test("SIP-17 upstream's sample ends in two control planes of different racks and two workers, with every service", {
  skip,
}, async (t) => {
  const world = await SipWorld.running(t);
  await world.passing(ensureNamespace(world.client, NAMESPACE, new AbortController().signal));
  for (const file of ["ssh_private_keys_secret", "bmh_secrets", "bmh", "sipcluster"])
    for (const manifest of loadAll(readFileSync(`${DATA}/${file}.yaml`, "utf8")) as KubeObject[]) {
      if (!manifest) continue;
      const resource = { Secret, BareMetalHost, SIPCluster }[manifest.kind!] as typeof Secret;
      const body = { ...manifest, metadata: { ...manifest.metadata, namespace: NAMESPACE } };
      const ref = { name: manifest.metadata.name, namespace: NAMESPACE };
      await world.passing(
        world.client.patch(resource, ref, { type: "apply", body, fieldManager: "kubectl", force: true }),
      );
    }
  for (const host of await world.hosts()) await world.state(host, "available");
  const { status } = await world.untilReady("sipcluster-system", NAMESPACE);
  const racks = status!.hosts!.map(({ name, role }) => `${role} ${name.slice(0, 8)}`);
  assert.deepEqual(racks.slice(0, 2).toSorted(), ["ControlPlane rdm9r006", "ControlPlane rdm9r007"]);
  assert.deepEqual(
    status!.hosts!.map(({ standing }) => standing),
    ["active", "standby", "active", "standby"],
  );
  assert.equal(racks.filter((one) => one.startsWith("Worker")).length, 2);
  assert.deepEqual(
    status!.endpoints!.map(({ service, ports }) => [service, ports]),
    [
      ["loadbalancer-controlplane-sipcluster-system", [30_001]],
      ["loadbalancer-worker-sipcluster-system", Array.from({ length: 10 }, (_, at) => 30_002 + at)],
      ["jumphost-sipcluster-system", [30_000]],
    ],
  );
});

test("SIP-17 a manifest in treasuremap's style is taken: nodePort beside nodePortRange, and a Secret of type ssh-auth", async (t) => {
  const world = await SipWorld.running(t);
  await world.secret("ssh-keys", { "ssh-privatekey": "a private key" });
  await world.host("a", { label: "control-plane", host: "s1" });
  await world.host("b", { label: "worker", host: "s2" });
  const [balancer] = SERVICES.loadBalancerWorker;
  const [jump] = SERVICES.jumpHost;
  const services = {
    ...SERVICES,
    loadBalancerWorker: [{ ...balancer, nodePort: 30_040 }],
    jumpHost: [{ ...jump, nodeSSHPrivateKeys: "ssh-keys" }],
  };
  await world.apply("lma", { nodes: nodes(1, 1), services });
  await world.untilReady("lma");
  assert.match(await world.secretText("jumphost-lma", "ssh_config"), /IdentityFile .*\/ssh-privatekey\n/);
});

test("SIP-17 a manifest of before March 2021 selects by vmFlavor and spreads by spreadTopology; what is no such word is refused", async (t) => {
  const world = await SipWorld.running(t);
  for (const [name, flavor, rack] of [
    ["a", "large", "r1"],
    ["b", "large", "r1"],
    ["c", "small", "r2"],
    ["d", "large", "r3"],
  ] as const) {
    await world.host(name);
    const labels = { "vino.airshipit.org/flavor": flavor, "sip.airshipit.org/rack": rack };
    await world.change(name, { metadata: { labels } });
  }
  const of = (set: object) => ({
    nodes: { ControlPlane: { vmFlavor: "vino.airshipit.org/flavor=large", ...set, count: { active: 1, standby: 1 } } },
    services: {},
  });
  await assert.rejects(world.apply("old", of({ spreadTopology: "PerRow" })), /spreadTopology/);
  await assert.rejects(world.apply("old", of({ vmFlavor: "large" })), /vmFlavor/);
  await world.apply("old", of({ spreadTopology: "PerRack" }));
  await world.untilReady("old");
  const racks = (await world.members("old")).map((host) => host.replace(/\/[ab] /, "/a-or-b "));
  assert.deepEqual(racks, ["default/a-or-b ControlPlane", "default/d ControlPlane"]);
});
