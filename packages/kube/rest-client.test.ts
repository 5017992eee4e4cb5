import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { Node, Pod, Secret } from "./core.ts";
import { FakeApi, failure } from "./fake-api.ts";
import { metadataOf } from "./object.ts";
import { TokenBucket } from "./rate-limit.ts";
import { createClient } from "./rest-client.ts";
import type { ApiAnswer, Transport } from "./transport.ts";

const NODES = "/api/v1/nodes";

function world(limits?: { qps: number; burst: number }) {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const client = createClient(api, {
    clock,
    random: seededRandom(1),
    log: quietLog,
    fieldManager: "t",
    ...(limits === undefined ? {} : { limits }),
  });
  return { api, clock, client };
}

/** The outcome of a call, once it is settled; virtual time moves meanwhile. */
async function settled(clock: VirtualClock, work: Promise<unknown>): Promise<unknown> {
  let outcome: unknown = "pending";
  const watched = work.then(
    (value) => {
      outcome = value;
    },
    (error: unknown) => {
      outcome = error;
    },
  );
  await clock.run(120_000, () => outcome !== "pending");
  await watched;
  return outcome;
}

test("how unknown fields are looked for is said with each write", async () => {
  const api = new FakeApi();
  const ports = { clock: new VirtualClock(), random: seededRandom(1), log: quietLog };
  const client = createClient(api, { ...ports, fieldValidation: "Ignore" });
  await client.create(Pod, { metadata: { name: "p", namespace: "n" } });
  await client.get(Pod, { name: "p", namespace: "n" });
  assert.deepEqual(
    api.requests.map(({ query }) => query),
    [{ fieldValidation: "Ignore" }, undefined],
  );
});

test("paths, methods and options are those of the Kubernetes API", async () => {
  const { api, client } = world();
  const pod = await client.create(Pod, { metadata: { name: "p", namespace: "n" } }, { dryRun: true });
  await client.patch(
    Pod,
    { name: "p", namespace: "n" },
    { type: "merge", body: { status: { phase: "Running" } } },
    { subresource: "status" },
  );
  await client.update(Pod, { ...pod, metadata: { name: "p", namespace: "n" } as Pod["metadata"] });
  await client.evict({ name: "p", namespace: "n" });
  await client.delete(Pod, { name: "p", namespace: "n" }, { uid: "u", propagation: "Foreground" });
  assert.deepEqual(
    api.requests.map((r) => [r.method, r.path, r.query, r.contentType]),
    [
      ["POST", "/api/v1/namespaces/n/pods", { fieldManager: "t", dryRun: "All" }, undefined],
      ["PATCH", "/api/v1/namespaces/n/pods/p/status", { fieldManager: "t" }, "application/merge-patch+json"],
      ["PUT", "/api/v1/namespaces/n/pods/p", { fieldManager: "t" }, undefined],
      ["POST", "/api/v1/namespaces/n/pods/p/eviction", { fieldManager: "t" }, undefined],
      ["DELETE", "/api/v1/namespaces/n/pods/p", undefined, undefined],
    ],
  );
  assert.deepEqual(api.requests[4]?.body, {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid: "u" },
    propagationPolicy: "Foreground",
  });
});

test("a deletion that is only tried says so in its body, which is what counts where there is one", async () => {
  const { api, client } = world();
  api.put(`${NODES}/a`, { metadata: { name: "a" } });
  await client.delete(Node, { name: "a" }, { dryRun: true });
  assert.deepEqual(api.requests[0]?.body, { apiVersion: "v1", kind: "DeleteOptions", dryRun: ["All"] });
});

test("a namespaced object without a namespace is refused before anything is sent", async () => {
  const { api, client } = world();
  await assert.rejects(client.get(Pod, { name: "p" }), { code: "BadRequest" });
  assert.equal(api.requests.length, 0);
});

test("lists follow continue, and start over whole when the snapshot is gone", async () => {
  const { api, client } = world();
  for (let i = 0; i < 7; i++) api.put(`${NODES}/n${i}`, { metadata: { name: `n${i}` } });
  const { items } = await client.list(Node, { limit: 3 });
  assert.deepEqual(items.map((n) => n.metadata.name).join(), "n0,n1,n2,n3,n4,n5,n6");
  assert.equal(items[0]?.kind, "Node");
  assert.equal(api.requests.length, 3);
  api.intercept = (r) => (r.query?.continue === "6" ? failure(410, "Expired", "gone") : undefined);
  assert.equal((await client.list(Node, { limit: 3 })).items.length, 7);
});

test("reasons of the API become codes, causes are kept", async () => {
  const cases: [ApiAnswer, string][] = [
    [failure(404, "NotFound", "x"), "NotFound"],
    [failure(409, "AlreadyExists", "x"), "AlreadyExists"],
    [failure(409, "Conflict", "x"), "Conflict"],
    [failure(410, "Expired", "x"), "Gone"],
    [failure(422, "Invalid", "x", { details: { causes: [{ field: "spec.a" }] } }), "Invalid"],
    [failure(413, "RequestEntityTooLarge", "x"), "TooLarge"],
    [{ status: 403, headers: {}, body: "no" }, "Forbidden"],
    [{ status: 418, headers: {}, body: "" }, "BadRequest"],
  ];
  const { api, client } = world();
  for (const [answer, code] of cases) {
    api.intercept = () => answer;
    const error = await client.get(Node, { name: "a" }).catch((e: unknown) => e);
    assert.ok(error instanceof Fault);
    assert.equal(error.code, code);
    assert.equal(error.on, "Node/a");
  }
});

test("a refused Secret's text is not repeated", async () => {
  const { api, client } = world();
  const details = { causes: [{ field: "data[token]", message: 'Invalid value: "hunter22"' }] };
  api.intercept = () => failure(422, "Invalid", 'data[token]: Invalid value: "hunter22"', { details });
  const error = await client.create(Secret, { metadata: { name: "s", namespace: "n" } }).catch((e: unknown) => e);
  assert.ok(error instanceof Fault);
  assert.match(error.message, /Secret\/n\/s: the API answered 422 Invalid at data\[token\]/);
  assert.doesNotMatch(JSON.stringify({ ...error, message: error.message }), /hunter22/);
});

test("Retry-After is obeyed within the deadline", async () => {
  const { api, clock, client } = world();
  api.put(`${NODES}/a`, { metadata: { name: "a" } });
  const times: number[] = [];
  api.intercept = () => {
    times.push(clock.now());
    return times.length < 3
      ? failure(429, "TooManyRequests", "slow down", { headers: { "retry-after": "4" } })
      : undefined;
  };
  await settled(clock, client.patch(Node, { name: "a" }, { type: "merge", body: {} }));
  assert.deepEqual(
    times.map((t) => t - times[0]!),
    [0, 4000, 8000],
  );
});

test("when the deadline ends the retries, the last refusal is the error", async () => {
  const { api, clock, client } = world();
  api.intercept = () => failure(503, "ServiceUnavailable", "starting");
  const startedAt = clock.now();
  const error = await settled(clock, client.get(Node, { name: "a" }, { timeoutMs: 5_000 }));
  assert.ok(error instanceof Fault && error.code === "Unavailable");
  assert.equal(clock.now() - startedAt, 5_000);
  assert.equal(clock.pending, 0);
});

test("a lost answer is repeated for reads, never for writes", async () => {
  const { api, clock, client } = world();
  api.put(`${NODES}/a`, { metadata: { name: "a" } });
  let lost = 1;
  api.intercept = () => {
    if (lost-- > 0) throw new Fault("LostAnswer", "api", "reset");
    return undefined;
  };
  const node = (await settled(clock, client.get(Node, { name: "a" }))) as Node;
  assert.equal(node.metadata.name, "a");
  lost = 1;
  const error = await settled(clock, client.create(Node, { metadata: { name: "b" } }));
  assert.ok(error instanceof Fault && error.code === "LostAnswer");
  assert.equal(api.objects.has(`${NODES}/b`), false);
});

test("a write that never came back in time is a lost answer, a read a time-out, an abort the caller's reason", async () => {
  const { api, clock, client } = world();
  api.intercept = () => new Promise(() => {});
  const write = await settled(clock, client.create(Node, { metadata: { name: "b" } }, { timeoutMs: 1_000 }));
  assert.ok(write instanceof Fault && write.code === "LostAnswer");
  const read = await settled(clock, client.get(Node, { name: "b" }, { timeoutMs: 1_000 }));
  assert.ok(read instanceof Fault && read.code === "Timeout");
  const stop = new AbortController();
  const aborted = client.get(Node, { name: "b" }, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(aborted, /enough/);
});

test("an eviction that a disruption budget forbids is reported at once", async () => {
  const { api, client } = world();
  const details = { causes: [{ reason: "DisruptionBudget" }] };
  api.intercept = () => failure(429, "TooManyRequests", "budget", { headers: { "retry-after": "10" }, details });
  await assert.rejects(client.evict({ name: "p", namespace: "n" }), { code: "Throttled" });
  assert.equal(api.requests.length, 1);
});

test("a watch whose version is too old fails with Gone, an ERROR event ends it with its fault", async () => {
  const { api, client } = world();
  api.put(`${NODES}/a`, { metadata: { name: "a" } });
  api.compact();
  await assert.rejects(client.watch(Node, { resourceVersion: "1" }), { code: "Gone" });
  const status = failure(410, "Expired", "too old").body;
  api.watch = async () =>
    (async function* () {
      yield { type: "BOOKMARK" as const, object: {} };
      yield { type: "ERROR" as const, object: status };
    })();
  const seen: string[] = [];
  const read = async (): Promise<void> => {
    for await (const event of await client.watch(Node, { resourceVersion: "200" })) seen.push(event.type);
  };
  await assert.rejects(read(), { code: "Gone" });
  assert.deepEqual(seen, ["BOOKMARK"]);
});

test("the rate limit lets a burst through, then so many per second, in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20 }), async (qps, burst) => {
      const clock = new VirtualClock();
      const bucket = new TokenBucket(clock, { qps, burst });
      const startedAt = clock.now();
      const passed: number[] = [];
      const calls = Array.from({ length: burst + 10 }, async (_, i) => {
        await bucket.take();
        passed.push(i);
        const earliest = i < burst ? 0 : ((i - burst + 1) / qps) * 1000;
        assert.ok(Math.abs(clock.now() - startedAt - earliest) < 1);
      });
      await clock.run(20_000);
      await Promise.all(calls);
      assert.deepEqual(
        passed,
        passed.toSorted((a, b) => a - b),
      );
    }),
    { numRuns: 30 },
  );
});

test("a limited client waits its turn", async () => {
  const { api, clock, client } = world({ qps: 1, burst: 1 });
  const all = Promise.all([1, 2, 3].map(() => client.find(Node, { name: "a" })));
  await clock.run(1_500);
  assert.equal(api.requests.length, 2);
  await clock.run(1_000);
  await all;
});

test("of a resource's metadata lists and watches ask for metadata alone, and everything else of it stays a request of the resource", async () => {
  const asked: (string | undefined)[] = [];
  const transport: Transport = {
    async request({ accept }) {
      asked.push(accept);
      return { status: 200, headers: {}, body: { metadata: { resourceVersion: "1" }, items: [] } };
    },
    async watch({ accept }) {
      asked.push(accept);
      return { status: 410, headers: {}, body: {} };
    },
    async close() {},
  };
  const client = createClient(transport, { clock: new VirtualClock(), random: seededRandom(1), log: quietLog });
  const thing = { group: "", version: "v1", kind: "Thing", plural: "things", namespaced: true };
  for (const resource of [thing, metadataOf(thing)]) {
    await client.list(resource);
    await client.watch(resource, { resourceVersion: "1" }).catch(() => {});
  }
  const metadata = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1`;
  assert.deepEqual(asked, [
    undefined,
    undefined,
    metadata("PartialObjectMetadataList"),
    metadata("PartialObjectMetadata"),
  ]);
});
