import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import fc from "fast-check";
import { installCrds } from "../../kinds/install.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { type Consumer, claimHost, groupLabel, installOn, isConsumedBy, releaseHost } from "./claim.ts";

const NAMESPACE = "rack";
const MINUTE = 60_000;

async function stage(t?: TestContext) {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log: quietLog });
  t?.after(() => api.close());
  const clientOn = (transport: Transport): Client => createClient(transport, { clock, random, log: quietLog });
  const client = clientOn(api.transport());
  const installed = installCrds(client, clock, new AbortController().signal, [[BareMetalHost]]);
  await clock.run(MINUTE);
  await installed;
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  const offer = async (name: string, more: { labels?: Record<string, string>; status?: object } = {}) => {
    const metadata = { name, namespace: NAMESPACE, ...(more.labels && { labels: more.labels }) };
    const spec = { online: true, automatedCleaningMode: "metadata" as const };
    const host = await client.create(BareMetalHost, { metadata, spec });
    const provisioning = { state: "available", ID: "" };
    const status = {
      operationalStatus: "OK" as const,
      errorMessage: "",
      poweredOn: true,
      provisioning,
      ...more.status,
    };
    return client.updateStatus(BareMetalHost, { ...host, status: status as never });
  };
  const all = async () => (await client.list(BareMetalHost)).items;
  return { api, clock, client, clientOn, offer, all };
}

const consumer = (n: number): Consumer => ({
  ...{ apiVersion: "equinix.harvesterhci.io/v1", kind: "Instance", name: `instance-${n}`, uid: `uid-${n}` },
});

test("no host is ever given twice, and nobody gets two, however many claim at once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 1, max: 20 }), async (count, claimers) => {
      const { api, client, clock, offer, all } = await stage();
      for (let i = 0; i < count; i++) await offer(`node-${i}`);
      const cache = await all();
      const claims = Array.from({ length: claimers }, (_, i) =>
        // Twice each, as after a lost answer.
        claimHost(client, cache, consumer(i))
          .then(() => claimHost(client, cache, consumer(i)))
          .then(
            ({ metadata }) => metadata.name,
            (error: unknown) => (error as Fault).code,
          ),
      );
      await clock.run(MINUTE);
      const got = await Promise.all(claims);
      const hosts = got.filter((name) => name !== "NoCapacity");
      assert.equal(hosts.length, Math.min(count, claimers));
      assert.equal(new Set(hosts).size, hosts.length);
      assert.equal((await all()).filter(({ spec }) => spec.consumerRef !== undefined).length, hosts.length);
      await api.close();
    }),
    { numRuns: 8 },
  );
});

test("a claim whose answer was lost is found, though no cache shows it", async (t) => {
  const { api, client, clientOn, offer, all } = await stage(t);
  for (const name of ["node-1", "node-2", "node-3"]) await offer(name);
  const cache = await all();
  const inner = api.transport();
  let isLost = true;
  const lossy = clientOn({
    ...inner,
    watch: (request) => inner.watch(request),
    async request(request) {
      const answer = await inner.request(request);
      if (request.method === "PATCH" && isLost) {
        isLost = false;
        throw new Fault("LostAnswer", "kubernetes API", "the connection broke");
      }
      return answer;
    },
  });
  await assert.rejects(claimHost(lossy, cache, consumer(1)), /the connection broke/);
  const [taken] = (await all()).filter(({ spec }) => spec.consumerRef !== undefined);
  assert.equal((await claimHost(client, cache, consumer(1))).metadata.name, taken?.metadata.name);
});

test("only hosts that are offered are taken; why there is none is counted", async (t) => {
  const { client, offer, all } = await stage(t);
  await offer("error", { status: { errorMessage: "broken" } });
  await offer("inspecting", { status: { provisioning: { state: "inspecting", ID: "" } } });
  await offer("paused");
  await offer("detached");
  await offer("installed");
  await offer("other", { labels: { rack: "b" } });
  const change = (name: string, body: object) =>
    client.patch(BareMetalHost, { name, namespace: NAMESPACE }, { type: "merge", body });
  await change("paused", { metadata: { annotations: { "baremetalhost.metal3.io/paused": "" } } });
  await change("detached", { metadata: { annotations: { "baremetalhost.metal3.io/detached": "" } } });
  await change("installed", { spec: { image: { url: "http://a", checksum: "0".repeat(32) } } });
  const wish = { labels: { matchExpressions: [{ key: "rack", operator: "NotIn", values: ["b"] }] } };
  await assert.rejects(
    claimHost(client, await all(), consumer(1), { wish }),
    /no host can be had: of 6 hosts: .*1 in error.*; add hosts|of 6 hosts: /,
  );
  const refusal = await claimHost(client, await all(), consumer(1), { wish }).catch((error: Fault) => error.message);
  for (const why of ["in error", "not available", "paused", "detached", "in use", "other labels"])
    assert.match(refusal as string, new RegExp(`1 ${why}`));
  await assert.rejects(claimHost(client, [], consumer(1)), /there are no hosts/);
  assert.equal((await claimHost(client, await all(), consumer(1))).metadata.name, "other");
});

test("what is asked of the hardware must be there, and racks that peers are in come last", async (t) => {
  const { client, offer, all } = await stage(t);
  const hardware = { cpu: { count: 8, arch: "x86_64" }, ramMebibytes: 65_536, storage: [{ sizeBytes: 480e9 }] };
  await offer("small", { labels: { rack: "a" }, status: { hardware: { ...hardware, ramMebibytes: 1024 } } });
  await offer("near", { labels: { rack: "b" }, status: { hardware } });
  await offer("far", { labels: { rack: "c" }, status: { hardware } });
  await offer("unknown", { labels: { rack: "d" } });
  const wish = { hardware: { cpus: 8, memoryMebibytes: 32_768, diskGibibytes: 400, architecture: "x86_64" } };
  for (const taken of [["b"], ["b", "b", "c"], ["c", "c", "b"]]) {
    const spread = { label: "rack", taken };
    const host = await claimHost(client, await all(), consumer(taken.length), { wish: { ...wish, spread } });
    assert.equal(host.metadata.name, taken[0] === "b" ? "far" : "near", taken.join());
    await releaseHost(client, host, consumer(taken.length));
  }
  for (const [lacks, more] of [
    ["too few processors", { cpus: 9 }],
    ["too small disks", { diskGibibytes: 500 }],
    ["another architecture", { architecture: "aarch64" }],
  ] as const)
    await assert.rejects(claimHost(client, await all(), consumer(9), { wish: { hardware: more } }), new RegExp(lacks));
});

test("a host is given back once it is wiped, and by nobody but its consumer", async (t) => {
  const { client, offer, all } = await stage(t);
  await offer("node-1");
  const [mine, other] = [consumer(1), consumer(2)];
  const claimed = await claimHost(client, await all(), mine);
  const image = { url: "http://a", checksum: "0".repeat(32) };
  await assert.rejects(installOn(client, claimed, other, { image }), /it is not Instance\/instance-2's/);
  const installing = await installOn(client, claimed, mine, { image });
  assert.equal(await releaseHost(client, installing, other), undefined);
  const provisioned = await client.updateStatus(BareMetalHost, {
    ...installing,
    status: { ...installing.status!, provisioning: { state: "provisioned", ID: "", image } },
  });
  assert.equal(await releaseHost(client, provisioned, mine), "the host to be wiped");
  const [emptied] = await all();
  assert.equal(emptied?.spec.image, undefined);
  assert.equal(await releaseHost(client, emptied!, mine), "the host to be wiped");
  const available = await client.updateStatus(BareMetalHost, {
    ...emptied!,
    status: { ...emptied!.status!, provisioning: { state: "available", ID: "" } },
  });
  assert.equal(await releaseHost(client, available, mine), undefined);
  const [free] = await all();
  assert.deepEqual([free?.spec.consumerRef, free?.metadata.labels], [undefined, undefined]);
});

test("a reference of Metal3's consumers, without a uid, is matched by kind and name", () => {
  const host = (consumerRef: object) => ({ spec: { consumerRef } }) as unknown as BareMetalHost;
  const machine = { ...consumer(1), apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", kind: "Metal3Machine" };
  const named = { kind: "Metal3Machine", name: "instance-1", apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2" };
  assert.equal(isConsumedBy(host(named), machine), true);
  for (const wrong of [
    { name: "instance-2" },
    { kind: "HostClaim" },
    { apiVersion: "metal3.io/v1" },
    { namespace: "x" },
  ])
    assert.equal(isConsumedBy(host({ ...named, ...wrong }), machine), false, JSON.stringify(wrong));
  assert.equal(isConsumedBy(host({ ...named, uid: "another" }), machine), false);
});

test("hosts of the preferred failure domain come first, and others are had where there is none", async (t) => {
  const { client, offer, all } = await stage(t);
  const label = "infrastructure.cluster.x-k8s.io/failure-domain";
  for (const [name, domain] of [
    ["a-1", "a"],
    ["b-1", "b"],
    ["c-1", "c"],
  ] as const)
    await offer(name, { labels: { [label]: domain } });
  for (const value of ["b", "c", "a"]) {
    const host = await claimHost(client, await all(), consumer(1), { wish: { prefer: { label, value } } });
    assert.equal(host.metadata.name, `${value}-1`);
    await releaseHost(client, host, consumer(1));
  }
  const other = await claimHost(client, await all(), consumer(2), { wish: { prefer: { label, value: "d" } } });
  assert.ok(other.metadata.name);
});

test("a group may be called what it likes: what no label may be is a label all the same, and another group's is another", async (t) => {
  const { client, offer, all } = await stage(t);
  await offer("node-1");
  const group = `${"n".repeat(63)}.${"c".repeat(63)}`;
  const host = await claimHost(client, await all(), consumer(1), { group });
  assert.equal(host.metadata.labels?.["slipway.dev/group"], groupLabel(group));
  assert.equal(groupLabel("tenants.a-cluster"), "tenants.a-cluster");
  assert.equal(groupLabel("x".repeat(63)), "x".repeat(63));
  const strange = ["x".repeat(64), "x".repeat(65), group, `${group}d`, "a/b", "-a", "", "ä"];
  assert.equal(new Set(strange.map(groupLabel)).size, strange.length);
});
