import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { type Log, quietLog, rfc3339Micro, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient } from "@slipway/kube";
import { CustomResourceDefinition, Deployment, Lease } from "@slipway/kube/core";
import { crdOf } from "../../kinds/crd.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HostClaim } from "../../kinds/metal3/host-claim.ts";
import { claimedElsewhere, METAL3_OPERATOR_ACCESS, metal3Operator } from "./metal3-operator.ts";

async function cluster(t: TestContext) {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log: quietLog });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log: quietLog });
  const logged: string[] = [];
  const note = (_: unknown, message?: string) => void logged.push(message ?? "");
  const log = { ...quietLog, warn: note, info: note } as Log;
  const metadata = { name: "baremetal-operator", namespace: "default" };
  const lead = (renewTime = rfc3339Micro(clock.now())) =>
    client.create(Lease, { metadata, spec: { holderIdentity: "pod-1", leaseDurationSeconds: 15, renewTime } });
  const deploy = (replicas?: number) => {
    const labels = { webhook: "metal3-io-v1alpha1-baremetalhost" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "manager", image: "manager" }] } };
    const spec = { selector: { matchLabels: labels }, template, ...(replicas !== undefined && { replicas }) };
    const meta = { name: "controller-manager", namespace: "default", labels };
    return client.create(Deployment, { metadata: meta, spec });
  };
  const define = (kind: Parameters<typeof crdOf>[0], marks: object = {}, fieldManager = "kubectl") => {
    const crd = crdOf(kind);
    const body = { ...crd, metadata: { ...crd.metadata, ...marks } };
    return client.patch(CustomResourceDefinition, crd.metadata, { type: "apply", body, fieldManager });
  };
  return { clock, client, logged, metadata, lead, deploy, define, at: { client, clock, log } };
}

const CERTIFIED = { annotations: { "cert-manager.io/inject-ca-from": "bmo-system/serving-cert" } };

test("Metal3's operator is there while its Lease is renewed, in whatever namespace; each look is good for a minute", async (t) => {
  const { clock, client, metadata, at, lead, logged } = await cluster(t);
  const found = metal3Operator();
  assert.equal(await found(at), undefined);

  await lead();
  assert.equal(await found(at), undefined, "the look of before");
  await clock.run(59_000);
  assert.equal(await found(at), undefined);
  await client.patch(Lease, metadata, { type: "merge", body: { spec: { renewTime: rfc3339Micro(clock.now()) } } });
  await clock.run(2_000);
  assert.equal(await found(at), "Lease default/baremetal-operator, which pod-1 renews");
  assert.deepEqual(logged, ["Metal3's operator drives the BareMetalHosts; they are left alone"]);

  await clock.run(61_000);
  assert.equal(await found(at), undefined, "nobody renews it");
  assert.equal(logged[1], "Metal3's operator is gone; the BareMetalHosts are driven here");
  await clock.run(61_000);
  assert.equal(await found(at), undefined);
  assert.equal(logged.length, 2);
});

test("a Lease that nobody holds, or never renewed, says nothing of an operator", async (t) => {
  const { clock, client, at } = await cluster(t);
  const renewTime = rfc3339Micro(clock.now());
  for (const [namespace, spec] of [
    ["default", { renewTime }],
    ["kube-system", { holderIdentity: "pod-1" }],
  ] as const)
    await client.create(Lease, { metadata: { name: "baremetal-operator", namespace }, spec });
  assert.equal(await metal3Operator()(at), undefined);
});

test("Metal3's operator without leader election is found by its Deployment, until that is scaled to nothing", async (t) => {
  const { client, at, deploy } = await cluster(t);
  const { metadata } = await deploy();
  assert.equal(await metal3Operator()(at), "Deployment default/controller-manager");
  const ref = { name: metadata.name, namespace: "default" };
  await client.patch(Deployment, ref, { type: "merge", body: { spec: { replicas: 0 } } });
  assert.equal(await metal3Operator()(at), undefined);
});

test("a definition of BareMetalHosts that something keeps means an operator, where nothing shows that it has ended", async (t) => {
  const marks = [
    [CERTIFIED, /inject-ca-from: bmo-system\/serving-cert/],
    [{ annotations: { "meta.helm.sh/release-name": "metal3" } }, /release-name: metal3/],
    [{ annotations: { "capability.openshift.io/name": "baremetal" } }, /openshift\.io\/name: baremetal/],
    [{ labels: { "app.kubernetes.io/managed-by": "flux" } }, /managed-by: flux/],
    [{ labels: { "olm.managed": "true" } }, /olm\.managed: true/],
  ] as const;
  for (const [mark, words] of marks) {
    const { at, define } = await cluster(t);
    await define([BareMetalHost], mark);
    assert.match((await metal3Operator()(at)) ?? "", words);
  }
});

test("a definition is no sign where it has no mark, where it is ours, and where the operator is seen to have ended", async (t) => {
  const plain = await cluster(t);
  await plain.define([BareMetalHost], {
    labels: { "clusterctl.cluster.x-k8s.io": "", "cluster.x-k8s.io/provider": "metal3" },
  });
  assert.equal(await metal3Operator()(plain.at), undefined);

  const ours = await cluster(t);
  await ours.define([BareMetalHost], CERTIFIED, "slipway");
  assert.equal(await metal3Operator()(ours.at), undefined);

  const stopped = await cluster(t);
  await stopped.define([BareMetalHost], CERTIFIED);
  await stopped.lead(rfc3339Micro(stopped.clock.now() - 3_600_000));
  assert.equal(await metal3Operator()(stopped.at), undefined);

  const scaled = await cluster(t);
  await scaled.define([BareMetalHost], CERTIFIED);
  await scaled.deploy(0);
  assert.equal(await metal3Operator()(scaled.at), undefined);
});

test("HostClaims are left to Metal3's operator where it leads and their definition is its own", async (t) => {
  const without = await cluster(t);
  assert.equal(await claimedElsewhere(metal3Operator())(without.at), undefined);
  await without.define([HostClaim]);
  assert.equal(await claimedElsewhere(metal3Operator())(without.at), undefined, "nobody leads");

  const theirs = await cluster(t);
  await theirs.define([HostClaim]);
  await theirs.lead();
  assert.match((await claimedElsewhere(metal3Operator())(theirs.at)) ?? "", /pod-1 renews/);

  const ours = await cluster(t);
  await ours.define([HostClaim], {}, "slipway");
  await ours.lead();
  assert.equal(await claimedElsewhere(metal3Operator())(ours.at), undefined);
});

test("finding Metal3's operator takes a look at two definitions by their names, and at no others", () => {
  const names = METAL3_OPERATOR_ACCESS.flatMap((access) => ("names" in access ? access.names : []));
  assert.deepEqual(names, ["baremetalhosts.metal3.io", "hostclaims.metal3.io"]);
});

test("a Lease counts as renewed for four of its durations", async (t) => {
  for (const [age, found] of [
    [59_999, true],
    [60_000, false],
  ] as const) {
    const { clock, at, lead } = await cluster(t);
    await lead(rfc3339Micro(clock.now() - age));
    assert.equal((await metal3Operator()(at)) !== undefined, found, `${age}`);
  }
});

test("a Lease that names no duration has one of 15 s", async (t) => {
  const { clock, client, at, metadata } = await cluster(t);
  const renewTime = rfc3339Micro(clock.now() - 59_000);
  await client.create(Lease, { metadata, spec: { holderIdentity: "pod-1", renewTime } });
  assert.match((await metal3Operator()(at)) ?? "", /^Lease default/);
});
