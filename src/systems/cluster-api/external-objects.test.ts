import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog as log, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient, Definitions, type KubeObject, type Resource, type Transport } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { ExternalObjects } from "./external-objects.ts";

const GROUP = "infrastructure.cluster.x-k8s.io";
const REFERENCE = { apiGroup: GROUP, kind: "SimMachine", name: "m" };
const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
const NAME = { name: `simmachines.${GROUP}` };

/** An API with a provider's kind in two versions, both served, and a provider's objects as the core reads them. */
async function scene(
  t: TestContext,
  labels: Record<string, string> = { "cluster.x-k8s.io/v1beta1": "v1" },
  { follows = false }: { follows?: boolean } = {},
) {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const asked: string[] = [];
  const direct = api.transport();
  const noted: Transport = {
    request: (request) => {
      asked.push(request.path);
      return direct.request(request);
    },
    watch: (request) => {
      asked.push(request.path);
      return direct.watch(request);
    },
    close: () => direct.close(),
  };
  const client = createClient(noted, { clock, random, log });
  const ports = { client, clock, random, log };
  const end = new AbortController();
  t.after(() => end.abort());
  const definitions = new Definitions(ports, end.signal);
  const external = new ExternalObjects({ ...ports, ...(follows && { definitions }) });
  const define = async (): Promise<void> => {
    const versions = ["v1", "v2"].map((name, at) => ({ name, served: true, storage: at === 0, schema }));
    const names = { plural: "simmachines", singular: "simmachine", kind: "SimMachine", listKind: "SimMachineList" };
    const spec = { group: GROUP, names, scope: "Namespaced", versions };
    await client.create(CustomResourceDefinition, { metadata: { ...NAME, labels }, spec } as never);
    await clock.run(1000);
  };
  const resource: Resource = {
    group: GROUP,
    version: "v1",
    kind: "SimMachine",
    plural: "simmachines",
    namespaced: true,
  };
  const create = (name: string): Promise<KubeObject> =>
    client.create(resource, { metadata: { name, namespace: "default" } } as never);
  const woken: string[] = [];
  const read = (who = "me", name = "m") =>
    external.read({ ...REFERENCE, name }, "default", { who, wake: () => woken.push(`${who} for ${name}`) });
  /** What a promise gives once time may pass. */
  const settled = async <T>(work: Promise<T>): Promise<T> => {
    const done = work.then(
      () => {},
      () => {},
    );
    await clock.run(2000);
    await done;
    return work;
  };
  return { clock, client, external, define, create, read, settled, woken, resource, asked };
}

test("a kind without a definition, and one whose definition names no contract, are refused with what to do", async (t) => {
  const without = await scene(t);
  await assert.rejects(without.settled(without.read()), { code: "NotFound", message: /no kind SimMachine of/ });
  assert.equal(await without.settled(without.external.known(REFERENCE, "default")), undefined);
  await without.define();
  assert.equal((await without.settled(without.read())).object, undefined, "it is looked for again");
  const unlabelled = await scene(t, {});
  await unlabelled.define();
  await assert.rejects(unlabelled.settled(unlabelled.read()), { code: "Invalid" });
});

test("an object is read by the version that the definition's label names; who asked is woken by each change, once", async (t) => {
  const { clock, client, define, create, read, settled, woken, external, resource } = await scene(t);
  await define();
  const first = await settled(read());
  assert.deepEqual([first.object, first.kind.contract, first.kind.resource.version], [undefined, "v1beta1", "v1"]);
  await settled(read());
  await settled(read("you", "other"));
  await create("m");
  await clock.run(1000);
  assert.deepEqual(woken, ["me for m"]);
  assert.equal((await settled(read())).object?.metadata.name, "m");
  assert.equal((await external.known(REFERENCE, "default"))?.object?.metadata.name, "m");
  await client.patch(resource, { name: "m", namespace: "default" }, { type: "merge", body: { spec: { a: 1 } } });
  await clock.run(1000);
  assert.deepEqual(woken, ["me for m", "me for m"]);
  await create("n");
  assert.deepEqual(
    (await settled(external.list(REFERENCE, "default"))).map(({ metadata }) => metadata.name),
    ["m", "n"],
  );
  assert.deepEqual(await settled(external.list(REFERENCE, "elsewhere")), []);
});

test("a provider that was upgraded is read by its new version within ten minutes", async (t) => {
  const { clock, client, define, create, read, settled, woken } = await scene(t);
  await define();
  await create("m");
  assert.equal((await settled(read())).kind.resource.version, "v1");
  const labels = { "cluster.x-k8s.io/v1beta2": "v2" };
  await client.patch(CustomResourceDefinition, NAME, { type: "merge", body: { metadata: { labels } } });
  await clock.run(590_000);
  assert.equal((await settled(read())).kind.resource.version, "v1");
  await clock.run(10_000);
  const { kind, object } = await settled(read());
  assert.deepEqual([kind.resource.version, kind.contract, object?.apiVersion], ["v2", "v1beta2", `${GROUP}/v2`]);
  woken.length = 0;
  await client.patch(kind.resource, { name: "m", namespace: "default" }, { type: "merge", body: { spec: { a: 1 } } });
  await clock.run(1000);
  assert.deepEqual(woken, ["me for m"], "by the new watch alone");
});

test("a kind that only an object names is waited for by its definition: whoever asked is woken, and nothing polls", async (t) => {
  const { clock, define, create, read, settled, woken, asked, external } = await scene(t, undefined, { follows: true });
  await assert.rejects(settled(read()), { code: "NotFound" });
  await clock.run(30_000);
  assert.equal(external.missingMs, 600_000);
  asked.length = 0;
  await clock.run(290_000);
  assert.deepEqual(asked, []);
  await define();
  assert.deepEqual([...new Set(woken)], ["me for m"]);
  woken.length = 0;
  assert.equal((await settled(read())).object, undefined);
  await create("m");
  await clock.run(1000);
  assert.deepEqual(woken, ["me for m"]);
});

test("a definition that names no contract wakes whoever asked when it gets its label; who is forgotten is not woken", async (t) => {
  const { clock, client, define, read, settled, woken, external } = await scene(t, {}, { follows: true });
  await define();
  await assert.rejects(settled(read()), { code: "Invalid" });
  await assert.rejects(settled(read("you")), { code: "Invalid" });
  await clock.run(5_000);
  external.forget("you");
  woken.length = 0;
  const labels = { "cluster.x-k8s.io/v1beta1": "v1" };
  await client.patch(CustomResourceDefinition, NAME, { type: "merge", body: { metadata: { labels } } });
  await clock.run(1000);
  assert.deepEqual(woken, ["me for m"]);
  assert.equal((await settled(read())).kind.contract, "v1beta1");
});

test("without a look at definitions a missing kind is to be asked for every 30 s", async (t) => {
  assert.equal((await scene(t)).external.missingMs, 30_000);
});
