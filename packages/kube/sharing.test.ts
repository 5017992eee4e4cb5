/** Managers that share out their work: what `ShardKeeper` promises of Leases, held to of reconciles. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Controller, DONE, source } from "./controller.ts";
import { Node } from "./core.ts";
import { FakeApi } from "./fake-api.ts";
import { LEASE_TIMES } from "./leader.ts";
import { createManager, type Manager } from "./manager.ts";

const NODES = "/api/v1/nodes";
const KEYS = Array.from({ length: 40 }, (_, i) => `node-${i}`);

interface Part {
  manager: Manager;
  /** Keys that something is remembered of. */
  known: Set<string>;
  /** Keys whose reconcile runs and may still write. */
  running: Set<string>;
  done: Map<string, number>;
  begun: number;
  aborted: number;
  writes: number;
  cut: boolean;
}

/** Each node's reconcile takes 3 s, ends with a write, and comes again 2 s later. */
class Stage {
  readonly api = new FakeApi();
  readonly clock = new VirtualClock();
  readonly parts: Part[] = [];
  /** Keys that two have worked on at once, and writes of one while another had the key. */
  readonly clashes: string[] = [];

  constructor() {
    for (const name of KEYS) this.api.put(`${NODES}/${name}`, { apiVersion: "v1", kind: "Node", metadata: { name } });
  }

  add(
    shards: number,
    { workMs = () => 3_000, owned = true }: { workMs?: (node: number) => number; owned?: boolean } = {},
  ): Part {
    const { api, clock } = this;
    const id = this.parts.length;
    const reach = <A>(call: () => Promise<A>): Promise<A> => {
      if (part.cut) throw new Fault("LostAnswer", "api", "unreachable");
      return call();
    };
    const manager = createManager({
      transport: {
        request: (r) => reach(() => api.request(r)),
        watch: (r) => reach(() => api.watch(r)),
        close: async () => {},
      },
      ...{ clock, random: seededRandom(id + 1), log: quietLog },
      leaderElection: { namespace: "n", identity: `replica-${id}`, shards },
    });
    const counts = { begun: 0, aborted: 0, writes: 0 };
    const part: Part = { manager, known: new Set(), running: new Set(), done: new Map(), ...counts, cut: false };
    manager.add(this.#controller(part, workMs, owned));
    this.parts.push(part);
    void manager.start();
    return part;
  }

  #controller(part: Part, workMs: (node: number) => number, owned: boolean): Controller {
    return {
      name: "test",
      system: "metal",
      workers: 40,
      sources: [source({ resource: Node, when: (_, before) => before === undefined })],
      access: [{ resource: Node, verbs: ["patch"] }],
      // Two nodes each have one owner, which only a node that is there can tell.
      ...(owned && {
        owner: (ref, cache) => (cache.get(Node, ref) ? `pair/${Number(ref.name.split("-")[1]) >> 1}` : ref.name),
      }),
      left({ name }) {
        assert.ok(!part.running.has(name));
        part.known.delete(name);
      },
      reconcile: async ({ name }, { cache, client, clock, signal }) => {
        if (cache.get(Node, { name }) === undefined) {
          part.known.delete(name);
          return DONE;
        }
        part.known.add(name);
        if (this.parts.some(({ running }) => running.has(name))) this.clashes.push(`${name} at ${clock.now()}`);
        part.running.add(name);
        part.begun++;
        signal.addEventListener("abort", () => {
          part.running.delete(name);
          part.aborted++;
        });
        try {
          await clock.sleep(workMs(Number(name.split("-")[1])));
          await client.patch(Node, { name }, { type: "merge", body: { spec: { touched: clock.now() } } });
          part.writes++;
          if (this.parts.some((other) => other !== part && other.running.has(name)))
            this.clashes.push(`write of ${name}`);
          part.done.set(name, (part.done.get(name) ?? 0) + 1);
        } finally {
          part.running.delete(name);
        }
        return { againAfterMs: 2_000 };
      },
    };
  }

  held(): number[] {
    return this.parts.map(({ manager }) => manager.health().systems[0]!.shards.held);
  }

  /** Who worked on each key since `forget`. */
  workers(): number[][] {
    return KEYS.map((key) => this.parts.flatMap(({ done }, id) => (done.has(key) ? [id] : [])));
  }

  forget(): void {
    for (const { done } of this.parts) done.clear();
  }

  async end(): Promise<void> {
    const stopped = Promise.all(this.parts.map(({ manager }) => manager.stop()));
    await this.clock.run(120_000);
    await stopped;
  }
}

test("each key is worked on by one replica, those of an owner by the same one, and no replica by all", async () => {
  const stage = new Stage();
  for (let i = 0; i < 3; i++) stage.add(8);
  await stage.clock.run(60_000);
  assert.deepEqual(stage.held().toSorted(), [2, 3, 3]);
  stage.forget();
  await stage.clock.run(20_000);
  const workers = stage.workers();
  assert.ok(workers.every((by) => by.length === 1));
  for (let pair = 0; pair < KEYS.length; pair += 2) assert.deepEqual(workers[pair], workers[pair + 1]);
  assert.equal(new Set(workers.flat()).size, 3);
  assert.deepEqual(stage.clashes, []);
  await stage.end();
});

test("replicas that join, stop and are cut off never work on a key together, and nothing is left undone", async () => {
  const stage = new Stage();
  const first = stage.add(8);
  await stage.clock.run(30_000);
  const second = stage.add(8);
  await stage.clock.run(31_000);
  assert.deepEqual(stage.held(), [4, 4]);
  assert.equal(first.aborted, 0, "what moved was worked on to its end");
  stage.add(8);
  await stage.clock.run(2_500);
  first.cut = true;
  const since = stage.clock.now();
  const taken = (): boolean =>
    stage
      .held()
      .slice(1)
      .reduce((sum, n) => sum + n, 0) === 8;
  assert.ok(await stage.clock.run(60_000, taken));
  assert.ok(stage.clock.now() - since <= LEASE_TIMES.leaseMs + 5_000, `${stage.clock.now() - since} ms`);
  await stage.clock.run(10_000);
  first.cut = false;
  const stopped = second.manager.stop();
  await stage.clock.run(60_000);
  await stopped;
  stage.forget();
  await stage.clock.run(20_000);
  assert.ok(stage.workers().every((by) => by.length === 1));
  assert.deepEqual(stage.held(), [4, 0, 4]);
  assert.deepEqual(stage.clashes, []);
  await stage.end();
});

test("a replica of one leader and a crew of shards never work at once; the crew begins when the leader has ended", async () => {
  const stage = new Stage();
  const old = stage.add(1);
  await stage.clock.run(20_000);
  for (let i = 0; i < 2; i++) stage.add(8);
  await stage.clock.run(60_000);
  assert.deepEqual(stage.held(), [1, 0, 0], "it leads, and nobody else works");
  const stopped = old.manager.stop();
  await stage.clock.run(20_000);
  await stopped;
  assert.deepEqual(stage.held(), [0, 4, 4]);
  // A new one of the old kind waits for the whole crew to end.
  const late = stage.add(1);
  await stage.clock.run(60_000);
  assert.deepEqual(stage.held(), [0, 4, 4, 0]);
  const ended = [1, 2].map((i) => stage.parts[i]!.manager.stop());
  await stage.clock.run(60_000);
  await Promise.all(ended);
  assert.equal(late.manager.leading("metal"), true);
  assert.deepEqual(stage.clashes, []);
  await stage.end();
});

test("a controller that names no owners stays on one replica", async () => {
  const stage = new Stage();
  for (let i = 0; i < 2; i++) stage.add(8, { owned: false });
  await stage.clock.run(60_000);
  assert.equal(new Set(stage.workers().flat()).size, 1);
  assert.deepEqual(stage.held(), [4, 4]);
  await stage.end();
});

test("a replica that stood for a shard in vain works on it when it gets it later", async () => {
  const stage = new Stage();
  const first = stage.add(8, { workMs: () => 25_000 });
  await stage.clock.run(5_000);
  stage.add(8);
  await stage.clock.run(6_000);
  // It takes some of what the second waits for.
  const third = stage.add(8);
  await stage.clock.run(60_000);
  assert.deepEqual(stage.held().toSorted(), [2, 3, 3]);
  const stopped = [first, third].map(({ manager }) => manager.stop());
  await stage.clock.run(60_000);
  await Promise.all(stopped);
  assert.deepEqual(stage.held(), [0, 8, 0]);
  stage.forget();
  await stage.clock.run(20_000);
  assert.ok(stage.workers().every((by) => by.length === 1));
  await stage.end();
});

test("a replica that stops while its shards move begins nothing more", async () => {
  const stage = new Stage();
  const first = stage.add(8, { workMs: (node) => 6_000 + 500 * node });
  await stage.clock.run(5_000);
  stage.add(8);
  await stage.clock.run(5_000);
  const stopped = first.manager.stop();
  const { begun } = first;
  await stage.clock.run(60_000);
  await stopped;
  assert.equal(first.begun, begun);
  assert.deepEqual(stage.held(), [0, 8]);
  await stage.end();
});

test("a shard that is given away waits 30 s for its work, which is then cut off; its write does not go out", async () => {
  const stage = new Stage();
  const first = stage.add(2, { workMs: () => 50_000 });
  await stage.clock.run(5_000);
  const second = stage.add(2, { workMs: () => 50_000 });
  await stage.clock.run(25_000);
  assert.deepEqual(stage.held(), [2, 0], "its work goes on");
  assert.equal(first.aborted, 0);
  await stage.clock.run(10_000);
  const { aborted } = first;
  assert.ok(aborted > 0 && aborted < KEYS.length);
  assert.deepEqual(stage.held(), [2, 0], "what was cut off has not ended");
  await stage.clock.run(16_000);
  assert.deepEqual(stage.held(), [1, 1]);
  assert.deepEqual([first.writes, second.writes], [KEYS.length - aborted, 0]);
  await stage.clock.run(51_000);
  assert.ok(second.writes >= aborted);
  assert.deepEqual(stage.clashes, []);
  await stage.end();
});

test("each replica remembers the keys of its own shards alone: what moves away or is deleted is dropped", async () => {
  const stage = new Stage();
  for (let i = 0; i < 2; i++) stage.add(8);
  await stage.clock.run(60_000);
  stage.add(8);
  await stage.clock.run(60_000);
  const known = (): string[] => stage.parts.flatMap(({ known }) => [...known]).toSorted();
  assert.deepEqual(known(), KEYS.toSorted());
  for (const name of KEYS.slice(3)) stage.api.remove(`${NODES}/${name}`);
  await stage.clock.run(10_000);
  assert.deepEqual(known(), KEYS.slice(0, 3).toSorted());
  await stage.end();
});
