import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient, type KubeObject } from "@slipway/kube";
import { FakeApi, failure } from "@slipway/kube/testing";
import fc from "fast-check";
import { MemoryStore } from "../testing.ts";
import { parseIpv4 } from "../wire/ipv4.ts";
import type { Lease } from "./lease.ts";
import { readLines, writeLine, writeSealedLine } from "./lease-lines.ts";
import { type MirroredLeases, openMirrored } from "./mirror.ts";

const END = 1_800_000_000_000;

function lease(address: string, client: string, more: Partial<Lease> = {}): Lease {
  return { address: parseIpv4(address), client: `1/${client}`, state: "bound", expiresAt: END, ...more };
}

/** Replicas around one API, in virtual time. */
class Replicas {
  readonly api = new FakeApi();
  readonly clock = new VirtualClock();
  readonly lost: string[] = [];
  warnings = 0;

  async open(replica: string, file: MemoryStore): Promise<MirroredLeases> {
    const { clock } = this;
    const client = createClient(this.api, { clock, random: seededRandom(1), log: quietLog, fieldManager: "t" });
    const opening = openMirrored(file, {
      ...{ client, namespace: "slipway", name: "rack", replica, clock },
      log: { ...quietLog, warn: () => void this.warnings++ },
      onLost: () => this.lost.push(replica),
    });
    await clock.run(1000);
    return opening;
  }

  writes(): number {
    return this.api.requests.filter(({ method }) => method === "PUT" || method === "POST").length;
  }
}

const sorted = (leases: readonly Lease[]): Lease[] => [...leases].sort((a, b) => a.address - b.address);

test("leases as lines: what is written is read back; a line that makes no sense is left out", () => {
  const hex = fc.uint8Array({ minLength: 1, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("hex"));
  const any: fc.Arbitrary<Lease> = fc.record(
    {
      address: fc.integer({ min: 0, max: 0xffff_ffff }),
      client: fc.uint8Array({ maxLength: 255 }).map((bytes) => `id/${Buffer.from(bytes).toString("hex")}`),
      state: fc.constantFrom("bound", "released", "declined"),
      expiresAt: fc.integer({ min: 0, max: 2 ** 52 }),
      via: fc.record(
        { giaddr: fc.integer({ min: 1, max: 0xffff_ffff }), circuit: hex, remote: hex },
        { noNullPrototype: true, requiredKeys: ["giaddr"] },
      ),
    },
    { noNullPrototype: true, requiredKeys: ["address", "client", "state", "expiresAt"] },
  );
  fc.assert(
    fc.property(fc.uniqueArray(any, { selector: ({ address }) => address, maxLength: 20 }), (leases) => {
      assert.deepEqual(sorted([...readLines(leases.map(writeSealedLine).join("")).leases.values()]), sorted(leases));
      assert.deepEqual(sorted([...readLines(leases.map(writeLine).join("")).leases.values()]), sorted(leases));
    }),
  );
  assert.equal(writeLine(lease("10.0.0.7", "aa")), `10.0.0.7 1/aa bound ${END}\n`);
  const via = { giaddr: 0x0a080001, circuit: "0a", remote: "ff" };
  assert.equal(writeLine(lease("10.0.0.7", "aa", { via })), `10.0.0.7 1/aa bound ${END} via 10.8.0.1/0a/ff\n`);
  const { leases, damaged } = readLines("10.0.0.7 1/aa bound soon\n10.0.0.8 root bound 1\n10.0.0.9 1/aa bound 18");
  assert.deepEqual([leases.size, damaged], [0, [1, 2]]);
});

test("N10 another replica goes on with the leases of the one before, released and declined ones too", async () => {
  const replicas = new Replicas();
  const first = await replicas.open("a", new MemoryStore());
  const leases = [
    lease("10.0.0.100", "aa"),
    lease("10.0.0.101", "bb", { state: "released" }),
    // Of another ConfigMap.
    lease("10.0.8.7", "cc", { state: "declined" }),
  ];
  for (const each of leases) await first.put(each);
  await replicas.clock.run(2_000);
  // It dies here. What the other one had in its file, of times when it served, is old.
  const file = new MemoryStore();
  await file.put(lease("10.0.0.100", "dd", { expiresAt: END + 1 }));
  const second = await replicas.open("b", file);
  assert.deepEqual(sorted(second.load()), leases);
  assert.deepEqual(sorted(file.load()), leases);
});

test("N10 a replica that comes back to its own leases trusts its file, which may know more", async () => {
  const replicas = new Replicas();
  const file = new MemoryStore();
  const first = await replicas.open("a", file);
  await first.put(lease("10.0.0.100", "aa"));
  await replicas.clock.run(2_000);
  await first.put(lease("10.0.0.100", "bb"));
  first.close();
  const again = await replicas.open("a", file);
  assert.deepEqual(again.load(), [lease("10.0.0.100", "bb")]);
});

test("a replica that thinks it still serves learns from its next write that another one does, and overwrites nothing", async () => {
  const replicas = new Replicas();
  const first = await replicas.open("a", new MemoryStore());
  await first.put(lease("10.0.0.100", "aa"));
  await replicas.clock.run(2_000);
  const second = await replicas.open("b", new MemoryStore());
  await first.put(lease("10.0.0.100", "stale"));
  await replicas.clock.run(10_000);
  assert.deepEqual(replicas.lost, ["a"]);
  await second.put(lease("10.0.0.101", "bb"));
  await replicas.clock.run(2_000);
  const third = await replicas.open("c", new MemoryStore());
  assert.deepEqual(sorted(third.load()), [lease("10.0.0.100", "aa"), lease("10.0.0.101", "bb")]);
});

test("N10 a copy that somebody emptied is taken over: the leases of the file stay, and it is written anew", async () => {
  for (const emptied of [{ leases: "" }, {}, undefined]) {
    const replicas = new Replicas();
    const file = new MemoryStore();
    const first = await replicas.open("a", file);
    await first.put(lease("10.0.0.100", "aa"));
    await replicas.clock.run(2_000);
    first.close();
    const path = [...replicas.api.objects.keys()].find((each) => each.endsWith("/rack-10-0-0-0"))!;
    const { data: _, ...object } = replicas.api.objects.get(path)! as KubeObject & { data: unknown };
    replicas.api.put(path, { ...object, ...(emptied !== undefined && { data: emptied }) });

    const again = await replicas.open("a", file);
    assert.deepEqual(again.load(), [lease("10.0.0.100", "aa")]);
    await again.put(lease("10.0.0.101", "bb"));
    await replicas.clock.run(2_000);
    const other = await replicas.open("b", new MemoryStore());
    assert.deepEqual(sorted(other.load()), [lease("10.0.0.100", "aa"), lease("10.0.0.101", "bb")]);
    assert.deepEqual(replicas.lost, []);
  }
});

test("who serves is clear also after somebody deleted the count of terms", async () => {
  const replicas = new Replicas();
  const first = await replicas.open("a", new MemoryStore());
  await first.put(lease("10.0.0.100", "aa"));
  await replicas.clock.run(2_000);
  const path = [...replicas.api.objects.keys()].find((each) => each.endsWith("/rack-term"));
  replicas.api.objects.delete(path!);
  await replicas.open("b", new MemoryStore());
  await first.put(lease("10.0.0.100", "stale"));
  await replicas.clock.run(10_000);
  assert.deepEqual(replicas.lost, ["a"]);
});

test("the last writes of a replica that was replaced, late as they are, do not stop its successor", async () => {
  const replicas = new Replicas();
  const first = await replicas.open("a", new MemoryStore());
  // Nobody has written of these addresses; it does so only now, and is reported.
  await first.put(lease("10.0.0.100", "aa"));
  const second = await replicas.open("b", new MemoryStore());
  await replicas.clock.run(2_000);
  await second.put(lease("10.0.0.100", "bb"));
  await first.put(lease("10.0.0.101", "late"));
  await replicas.clock.run(20_000);
  await first.put(lease("10.0.0.102", "late"));
  await replicas.clock.run(20_000);
  assert.deepEqual(replicas.lost, ["a"]);
  const third = await replicas.open("c", new MemoryStore());
  assert.deepEqual(third.load(), [lease("10.0.0.100", "bb")]);
});

test("a write whose answer was lost, and a copy that somebody deleted, are made good", async () => {
  const replicas = new Replicas();
  const store = await replicas.open("a", new MemoryStore());
  await store.put(lease("10.0.0.100", "aa"));
  await replicas.clock.run(2_000);
  // The write is done, and then nothing more is seen.
  replicas.api.intercept = (request) => {
    if (request.method !== "PUT") return undefined;
    replicas.api.intercept = () => undefined;
    return replicas.api.request(request).then(() => {
      throw new Fault("LostAnswer", "test", "connection reset");
    });
  };
  await store.put(lease("10.0.0.100", "bb"));
  await replicas.clock.run(10_000);
  await store.put(lease("10.0.0.100", "cc"));
  await replicas.clock.run(10_000);
  const path = [...replicas.api.objects.keys()].find((each) => each.endsWith("/rack-10-0-0-0"));
  replicas.api.objects.delete(path!);
  await store.put(lease("10.0.0.101", "dd"));
  await replicas.clock.run(10_000);
  assert.deepEqual(replicas.lost, []);
  const other = await replicas.open("b", new MemoryStore());
  assert.deepEqual(sorted(other.load()), [lease("10.0.0.100", "cc"), lease("10.0.0.101", "dd")]);
});

test("an API that is away holds up no lease, is complained of once, and is asked about all once it is back", async () => {
  const replicas = new Replicas();
  const file = new MemoryStore();
  const store = await replicas.open("a", file);
  replicas.api.intercept = () => failure(403, "Forbidden", "not now");
  await store.put(lease("10.0.0.100", "aa"));
  assert.equal(file.leases.size, 1);
  await replicas.clock.run(20_000);
  assert.equal(replicas.warnings, 1);
  replicas.api.intercept = () => undefined;
  await replicas.clock.run(2_000);
  assert.deepEqual((await replicas.open("b", new MemoryStore())).load(), [lease("10.0.0.100", "aa")]);
  assert.deepEqual(replicas.lost, []);
});

test("however many leases change, the API gets a bounded number of writes, and none without need", async () => {
  const replicas = new Replicas();
  const store = await replicas.open("a", new MemoryStore());
  for (let round = 0; round < 100; round++)
    for (let block = 0; block < 20; block++) await store.put(lease(`10.0.${4 * block}.${round}`, "aa"));
  await replicas.clock.run(2_000);
  // And one for the term.
  assert.equal(replicas.writes(), 1 + 8);
  await replicas.clock.run(60_000);
  assert.equal(replicas.writes(), 1 + 20);
  assert.equal(replicas.clock.pending, 0, "nothing is awaited while nothing changes");
  await store.put(lease("10.0.0.1", "bb"));
  await store.settle();
  store.close();
  assert.equal(replicas.writes(), 1 + 21);
  assert.equal(replicas.clock.pending, 0);
});
