/** Whose a SIPCluster's hosts are: policies of their namespaces, machines that ask for them, Secrets that go, deaths between two writes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transport } from "@slipway/kube";
import { Deployment, Secret } from "@slipway/kube/core";
import { z } from "zod";
import { installCrds } from "../../src/kinds/install.ts";
import { defineKind } from "../../src/kinds/kind.ts";
import { HostDeployPolicy } from "../../src/kinds/metal3/host-deploy-policy.ts";
import { MINUTE, NAMESPACE, networkData, nodes, SERVICES, SipWorld } from "./sip-world.ts";

const CONTRACT = ["sip.airshipit.org/cluster-namespace", "sip.airshipit.org/cluster-name"];

test("hosts of a namespace with HostDeployPolicies go only to namespaces that these name, by name or by label", async (t) => {
  const world = await SipWorld.running(t);
  await world.host("a", { namespace: "other" });
  const policy = async (hostClaimNamespaces: object): Promise<void> => {
    const metadata = { name: "tenants", namespace: "other" };
    const body = {
      apiVersion: "metal3.io/v1alpha1",
      kind: "HostDeployPolicy",
      metadata,
      spec: { hostClaimNamespaces },
    };
    const patch = { type: "apply", body, fieldManager: "t", force: true } as const;
    await world.passing(world.client.patch(HostDeployPolicy, metadata, patch));
  };
  await policy({ names: ["elsewhere"] });
  await world.apply("one", { nodes: nodes(0, 1, ""), services: {} });
  await world.until("it is told", async () => (await world.ready("one"))?.reason === "Unschedulable");
  assert.match(
    (await world.ready("one"))!.message,
    /no HostDeployPolicy of namespace other lets this one have its hosts/,
  );
  await policy({ hasLabels: [{ name: "kubernetes.io/metadata.name", value: NAMESPACE }] });
  await world.untilReady("one");
  assert.deepEqual(await world.members("one"), ["other/a Worker"]);
});

test("SIP-6 a host goes to the Metal3Machine that asks for it by the contract's labels, stays the cluster's, and comes back", async (t) => {
  const world = await SipWorld.running(t);
  const kind = defineKind({
    ...{
      group: "infrastructure.cluster.x-k8s.io",
      version: "v1beta1",
      kind: "Metal3Machine",
      plural: "metal3machines",
    },
    ...{ namespaced: true, description: "As much of it as asks for a host.", columns: [] },
    spec: z.object({ hostSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }) }),
  });
  await world.passing(installCrds(world.client, world.clock, new AbortController().signal, [[kind]]));
  await world.host("a", { label: "control-plane" });
  await world.host("b");
  await world.apply("one", { nodes: nodes(1, 1, ""), services: {} });
  await world.untilReady("one");
  const matchLabels = {
    [CONTRACT[0]!]: NAMESPACE,
    [CONTRACT[1]!]: "one",
    "sip.airshipit.org/node-type": "ControlPlane",
  };
  const metadata = { name: "machine", namespace: NAMESPACE };
  await world.passing(world.client.create(kind, { metadata, spec: { hostSelector: { matchLabels } } }));
  const a = async () => (await world.hosts()).find(({ metadata: { name } }) => name === "a")!;
  await world.until("it is handed over", async () => (await a()).spec.consumerRef?.kind === "Metal3Machine");
  assert.equal((await a()).spec.consumerRef?.name, "machine");
  assert.deepEqual(await world.members("one"), ["default/a ControlPlane", "default/b Worker"]);
  await world.until("the status says so", async () =>
    (await world.cluster("one"))!.status!.hosts!.some(({ usedBy }) => usedBy === "Metal3Machine default/machine"),
  );
  await world.passing(world.client.delete(kind, metadata));
  await world.change("a", { spec: { consumerRef: null } });
  await world.until("it is the cluster's again", async () => (await a()).spec.consumerRef?.name === "one");
  await world.untilReady("one");
});

test("SIP-4 M5 M11 network data in YAML is read, and hosts that the cluster has keep their addresses when their Secrets are gone", async (t) => {
  const world = await SipWorld.running(t);
  const yaml = "networks:\n- {id: oam-ipv4, type: ipv4, ip_address: 32.68.51.139/25}\n";
  await world.host("a", { label: "control-plane", networkData: yaml });
  const services = { loadBalancerControlPlane: SERVICES.loadBalancerControlPlane };
  await world.apply("m5", { nodes: nodes(1, 0, ""), services });
  const { status } = await world.untilReady("m5");
  assert.deepEqual(status?.hosts?.[0]?.addresses, { "oam-ipv4": "32.68.51.139" });
  for (const name of ["a-network-data", "a-bmc-credentials"])
    await world.passing(world.client.delete(Secret, { name, namespace: NAMESPACE }));
  await world.clock.run(30 * MINUTE);
  assert.equal((await world.ready("m5"))?.status, "True");
  assert.match(await world.secretText("loadbalancer-controlplane-m5", "haproxy.cfg"), /server a 32\.68\.51\.139:6443/);
});

for (const isShort of [false, true])
  test(`SIP-6 what a process has reserved when it dies ${isShort ? "is given back where a role is short by then" : "is labelled by the next one"}`, async (t) => {
    const world = await SipWorld.create();
    t.after(() => world.close());
    // Eight are reserved at a time.
    for (let at = 0; at < 9; at++) await world.host(`n${at}`);
    // The first effect is the finalizer, the second the reservation of one host; others are under way by then.
    const mortal = await world.start({ atEffect: 2, when: "after" });
    await world.apply("one", { nodes: nodes(0, 9, ""), services: {} });
    await world.until("it is dead", async () => mortal.dead);
    const unused = (await world.hosts()).filter(({ spec }) => spec.consumerRef === undefined);
    assert.ok(unused.length > 0 && unused.length < 9, `${unused.length} are not reserved`);
    assert.deepEqual(await world.members("one"), []);
    if (isShort) await world.state(unused[0]!, "preparing");
    world.kill();
    await world.start();
    if (isShort) await world.until("it is told", async () => (await world.ready("one"))?.reason === "Unschedulable");
    else await world.untilReady("one");
    const used = (await world.hosts()).filter(({ spec }) => spec.consumerRef !== undefined).length;
    assert.deepEqual([used, (await world.members("one")).length], isShort ? [0, 0] : [9, 9]);
  });

test("SIP-11 a changed Secret of a host, and one of a service, are followed at once; at rest nothing is asked of the API", async (t) => {
  const asked: string[] = [];
  const counted = (inner: Transport): Transport => ({
    ...inner,
    watch: (request) => inner.watch(request),
    request(request) {
      asked.push(`${request.method} ${request.path}`);
      return inner.request(request);
    },
  });
  const world = await SipWorld.create({ between: counted });
  t.after(() => world.close());
  await world.start();
  await world.secret("ssh-private-keys", { id: "KEY" });
  for (const at of [1, 2, 3]) await world.host(`n${at}`, { host: `h${at}`, address: `10.0.0.${at}` });
  await world.apply("a", { nodes: nodes(0, 3), services: SERVICES });
  await world.untilReady("a");
  await world.clock.run(15 * MINUTE);
  asked.length = 0;
  await world.clock.run(60 * MINUTE);
  assert.deepEqual(asked, []);

  await world.secret("n2-network-data", { networkData: networkData("10.0.0.22") });
  await world.until(
    "the new address is served",
    async () => (await world.secretText("loadbalancer-worker-a", "haproxy.cfg")).includes(" 10.0.0.22:"),
    { longest: MINUTE },
  );
  await world.secret("n3-bmc-credentials", { username: "root", password: "another" });
  await world.until(
    "the jump host has the new password",
    async () =>
      (await world.passing(world.client.list(Secret))).items.some(
        ({ metadata, data }) =>
          metadata.name.startsWith("jumphostbmc-") &&
          JSON.stringify(data).includes(Buffer.from("another").toString("base64").replace(/=+$/, "")),
      ),
    { longest: MINUTE },
  );
  const template = async () =>
    JSON.stringify(
      (await world.passing(world.client.get(Deployment, { namespace: NAMESPACE, name: "jumphost-a" }))).spec?.template,
    );
  const before = await template();
  await world.secret("ssh-private-keys", { id: "ANOTHER" });
  await world.until("the jump host's Pods are rolled", async () => (await template()) !== before, { longest: MINUTE });
});

test("SIP-16 a selector that is none is the cluster's reason, which keeps its hosts and is Ready when it is mended", async (t) => {
  const world = await SipWorld.running(t);
  await world.host("a", { label: "worker", host: "s1" });
  await world.apply("one", { nodes: nodes(0, 1), services: {} });
  await world.untilReady("one");
  const { Worker } = nodes(0, 1);
  const labelSelector = { matchExpressions: [{ key: "a", operator: "Near", values: ["b"] }] };
  await world.apply("one", { nodes: { Worker: { ...Worker, labelSelector } }, services: {} });
  await world.until("it is told", async () => (await world.ready("one"))?.reason === "Unschedulable");
  assert.match(
    (await world.ready("one"))!.message,
    /role Worker: matchExpressions: there is no operator "Near"; use In/,
  );
  assert.deepEqual(await world.members("one"), ["default/a Worker"]);
  await world.apply("one", { nodes: nodes(0, 1), services: {} });
  await world.untilReady("one");
});
