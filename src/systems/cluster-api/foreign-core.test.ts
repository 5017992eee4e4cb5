import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog as log, rfc3339 } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client, KubeObject, Resource } from "@slipway/kube";
import { ForeignCore } from "./foreign-core.ts";

const named = (name: string, of: object = {}) => ({ metadata: { name, namespace: "capi", ...of } }) as KubeObject;
const FOREIGN = named("clusters.cluster.x-k8s.io", { managedFields: [{ manager: "clusterctl" }] });
const OURS = named("clusters.cluster.x-k8s.io", { managedFields: [{ manager: "slipway" }] });

/** A cluster with these objects, and how often its Providers were listed. */
function world(objects: { [kind: string]: KubeObject[] | Error }, clock = new VirtualClock()) {
  let looks = 0;
  const of = (kind: string): KubeObject[] => {
    const held = objects[kind] ?? [];
    if (held instanceof Error) throw held;
    return held;
  };
  const client = {
    list: async ({ kind }: Resource) => {
      if (kind === "Provider") looks++;
      return { items: of(kind), resourceVersion: "1" };
    },
    find: async ({ kind }: Resource) => of(kind)[0],
  } as unknown as Client;
  return { core: new ForeignCore({ client, clock, log }), objects, clock, looks: () => looks };
}
const found = (objects: Parameters<typeof world>[0], clock?: VirtualClock) => world(objects, clock).core.found();

test("upstream's core is found by clusterctl's inventory, its Deployment, its lease or its definitions", async () => {
  const provider = { ...named("cluster-api"), type: "CoreProvider" };
  assert.match((await found({ Provider: [provider] }))!, /Provider capi\/cluster-api of clusterctl/);
  assert.equal(await found({ Provider: [{ ...provider, type: "BootstrapProvider" } as KubeObject] }), undefined);
  const deployment = named("manager", { labels: { "cluster.x-k8s.io/provider": "cluster-api" } });
  assert.equal(await found({ Deployment: [deployment] }), "Deployment capi/manager");
  assert.equal(await found({ Deployment: [named("manager")] }), undefined);
  assert.match((await found({ CustomResourceDefinition: [FOREIGN] }))!, /which others wrote/);
  assert.equal(await found({ CustomResourceDefinition: [OURS] }), undefined);
  assert.equal(await found({}), undefined);
});

test("a lease that was renewed within a minute is a core's, an older one nobody's", async () => {
  const clock = new VirtualClock();
  const lease = (ms: number) => ({
    Lease: [{ ...named("l"), spec: { renewTime: rfc3339(clock.now() - ms) } } as KubeObject],
  });
  assert.match((await found(lease(59_000), clock))!, /^Lease capi-system\/controller-leader-election-capi$/);
  assert.equal(await found(lease(60_000), clock), undefined);
});

test("a cluster without clusterctl has no Providers; another failure is one", async () => {
  assert.equal(await found({ Provider: new Fault("NotFound", "providers", "no such kind") }), undefined);
  await assert.rejects(found({ Provider: new Fault("Forbidden", "providers", "no right") }), /no right/);
});

test("it looks once a minute, answers meanwhile with what it knows, and finds that the other came and went", async () => {
  const { core, objects, clock, looks } = world({});
  assert.deepEqual(await Promise.all([core.found(), core.found()]), [undefined, undefined]);
  assert.equal(looks(), 1);
  objects.CustomResourceDefinition = [FOREIGN];
  await clock.run(59_999);
  assert.equal(await core.found(), undefined);
  assert.equal(looks(), 1);
  await clock.run(1);
  await core.found();
  await clock.run(1);
  assert.match((await core.found())!, /which others wrote/);
  assert.equal(looks(), 2);
  objects.Provider = new Fault("Forbidden", "providers", "no right");
  await clock.run(60_000);
  await core.found();
  await clock.run(1);
  assert.match((await core.found())!, /which others wrote/, "a look that fails changes nothing");
  objects.Provider = [];
  objects.CustomResourceDefinition = [OURS];
  await clock.run(60_000);
  await core.found();
  await clock.run(1);
  assert.equal(await core.found(), undefined);
});
