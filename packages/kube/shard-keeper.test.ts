import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import type { Lease } from "./core.ts";
import { FakeApi } from "./fake-api.ts";
import { LEASE_TIMES } from "./leader.ts";
import { createClient } from "./rest-client.ts";
import { ShardKeeper } from "./shard-keeper.ts";

const SHARDS = 8;
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/n/leases";

type Link = "up" | "down" | "silent" | "deaf" | "slow";

interface Replica {
  keeper: ShardKeeper;
  link: Link;
  /** Work that runs, by shard: what a lost lease has cut off is not in it. */
  working: Map<number, number>;
  /** Pieces of work that a lost lease has cut off. */
  cutOff: number;
  stop(): Promise<void>;
  isStopped: boolean;
}

/** A replica whose work in a shard is one piece after the other, of up to 8 s each. */
function replica(api: FakeApi, clock: VirtualClock, id: number, skewMs = 0): Replica {
  const random = seededRandom(id + 1);
  const own: Clock = {
    now: () => clock.now() + skewMs,
    monotonic: () => clock.monotonic(),
    after: (ms, fn) => clock.after(ms, fn),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
  const ports = { clock: own, random, log: quietLog };
  const through = async <A>(call: () => Promise<A>): Promise<A> => {
    if (self.link === "down") throw new Fault("Unavailable", "api", "down");
    if (self.link === "silent") return new Promise(() => {});
    if (self.link === "slow") await clock.sleep(random.int(4_000));
    const answer = await call();
    // The write took effect, but nobody learns of it.
    if (self.link === "deaf") throw new Fault("LostAnswer", "api", "reset");
    return answer;
  };
  const client = createClient(
    {
      request: (request) => through(() => api.request(request)),
      watch: (request) => api.watch(request),
      close: async () => {},
    },
    ports,
  );
  const leaving = new Set<number>();
  const work = async (shard: number, turn: number): Promise<void> => {
    if (leaving.has(shard)) return;
    self.working.set(shard, turn);
    await clock.sleep(random.int(8_000));
    if (self.working.get(shard) !== turn) return;
    self.working.delete(shard);
    if (keeper.held(shard)) await work(shard, turn);
  };
  let turns = 0;
  const keeper = new ShardKeeper({
    ...{ client, ...ports, namespace: "n", crew: "slipway-crew", shards: SHARDS, identity: `replica-${id}` },
    onChange(shard, held) {
      leaving.delete(shard);
      if (held) void work(shard, turns++);
      else if (self.working.delete(shard)) self.cutOff++;
    },
    async drain(shard) {
      leaving.add(shard);
      while (self.working.has(shard)) await clock.sleep(100);
    },
  });
  const stopping = new AbortController();
  const running = keeper.run(stopping.signal);
  const self: Replica = {
    ...{ keeper, link: "up", working: new Map(), cutOff: 0, isStopped: false },
    stop() {
      self.isStopped = true;
      self.working.clear();
      stopping.abort();
      return running;
    },
  };
  return self;
}

/** A shard with two who hold it, or two who work on it. */
function clash(all: readonly Replica[]): string | undefined {
  for (let shard = 0; shard < SHARDS; shard++) {
    const holders = all.filter(({ keeper }) => keeper.held(shard)).length;
    const workers = all.filter(({ working, keeper }) => working.has(shard) && keeper.held(shard)).length;
    const loose = all.filter(({ working, keeper }) => working.has(shard) && !keeper.held(shard)).length;
    if (holders > 1 || workers > 1) return `shard ${shard} has ${holders} holders, ${workers} at work`;
    // What works on without its lease has lost it at this very instant, and nobody else may have it yet.
    if (loose > 0 && holders > 0) return `shard ${shard} is worked on by one who lost it, and held by another`;
  }
  return undefined;
}

const counts = (all: readonly Replica[]): number[] =>
  all.map(({ keeper }) => numbers().filter((shard) => keeper.held(shard)).length);
const numbers = (): number[] => Array.from({ length: SHARDS }, (_, shard) => shard);
const isBalanced = (all: readonly Replica[]): boolean => {
  const held = counts(all);
  return held.reduce((sum, n) => sum + n, 0) === SHARDS && Math.max(...held) - Math.min(...held) <= 1;
};

type Step =
  | { do: "link"; who: number; link: Link; ms: number }
  | { do: "stop"; who: number; ms: number }
  | { do: "add"; skew: number; ms: number }
  | { do: "clock"; by: number; ms: number }
  | { do: "steal"; shard: number; ms: number };

const ms = fc.integer({ min: 100, max: 30_000 });
const who = fc.nat({ max: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("link" as const),
    who,
    link: fc.constantFrom<Link>("up", "down", "silent", "deaf", "slow"),
    ms,
  }),
  fc.record({ do: fc.constant("stop" as const), who, ms }),
  fc.record({ do: fc.constant("add" as const), skew: fc.integer({ min: -1e7, max: 1e7 }), ms }),
  fc.record({ do: fc.constant("clock" as const), by: fc.integer({ min: -1e7, max: 1e7 }), ms }),
  fc.record({ do: fc.constant("steal" as const), shard: fc.nat({ max: SHARDS - 1 }), ms }),
);

/** In the end a Lease names a replica that lives and has lost it: once, nobody took it. */
const LOST: Step[] = [
  { do: "link", who: 4, link: "deaf", ms: 19_732 },
  { do: "add", skew: 4_755_960, ms: 21_249 },
  { do: "stop", who: 4, ms: 9_408 },
  { do: "clock", by: -4_429_934, ms: 21_782 },
  { do: "link", who: 5, link: "down", ms: 9_580 },
];

test("no shard ever has two owners, whatever breaks, joins or leaves; in the end all are held, evenly", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const api = new FakeApi();
      const clock = new VirtualClock();
      const all: Replica[] = [];
      const stops: Promise<void>[] = [];
      const add = (skew: number): void => void all.push(replica(api, clock, all.length, skew));
      add(0);
      add(1e6);
      let seen: string | undefined;
      const watchOver = async (forMs: number, done: () => boolean = () => false): Promise<boolean> => {
        const ended = await clock.run(forMs, () => {
          seen ??= clash(all);
          return seen !== undefined || done();
        });
        assert.equal(seen, undefined);
        return ended;
      };
      for (const one of steps) {
        play(one, { all, stops, add, api, clock });
        await watchOver(one.ms);
      }
      for (const one of all) one.link = "up";
      if (all.every(({ isStopped }) => isStopped)) add(0);
      const living = all.filter(({ isStopped }) => !isStopped);
      assert.ok(await watchOver(90_000, () => isBalanced(living)), `held: ${counts(living)}`);
      await watchOver(60_000);
      assert.ok(isBalanced(living), "what is even stays so");
      for (const one of living) stops.push(one.stop());
      await clock.run(30_000);
      await Promise.all(stops);
      assert.deepEqual(
        counts(all),
        all.map(() => 0),
      );
    }),
    { numRuns: 40, examples: [[LOST]] },
  );
});

function play(
  one: Step,
  {
    all,
    stops,
    add,
    api,
    clock,
  }: {
    all: Replica[];
    stops: Promise<void>[];
    add(skew: number): void;
    api: FakeApi;
    clock: VirtualClock;
  },
): void {
  if (one.do === "add") {
    if (all.length < 6) add(one.skew);
  } else if (one.do === "clock") clock.step(one.by);
  else if (one.do === "steal") {
    const path = `${LEASES}/slipway-crew-shard-${one.shard}`;
    const lease = api.objects.get(path) as Lease | undefined;
    if (lease !== undefined) api.put(path, { ...lease, spec: { holderIdentity: "a thief", leaseDurationSeconds: 15 } });
  } else {
    const target = all[one.who % all.length]!;
    if (one.do === "link") target.link = one.link;
    else if (!target.isStopped) stops.push(target.stop());
  }
}

test("a killed replica's shards are held by the others within the lease's duration and 5 s", async () => {
  for (const seconds of [20, 21, 22.5, 31]) {
    const api = new FakeApi();
    const clock = new VirtualClock();
    const all = [0, 1, 2, 3].map((id) => replica(api, clock, id));
    await clock.run(seconds * 1000);
    assert.deepEqual(counts(all), [2, 2, 2, 2]);
    const [dead, ...others] = all as [Replica, ...Replica[]];
    dead.link = "silent";
    const since = clock.monotonic();
    assert.ok(await clock.run(60_000, () => isBalanced(others)));
    const took = clock.monotonic() - since;
    assert.ok(took <= LEASE_TIMES.leaseMs + 5_000, `killed after ${seconds} s: ${took} ms`);
    for (const one of all) void one.stop();
    await clock.run(30_000);
  }
});

test("a replica that stops hands over at once; of one that died the Lease is cleared away", async () => {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const all = [0, 1, 2].map((id) => replica(api, clock, id));
  await clock.run(30_000);
  const [first, second, third] = all as [Replica, Replica, Replica];
  const stopped = first.stop();
  assert.ok(await clock.run(5_000, () => isBalanced([second, third])), `${counts(all)}`);
  await stopped;
  const replicas = (): string[] => [...api.objects.keys()].filter((path) => path.includes("-replica-"));
  assert.equal(replicas().length, 2);
  second.link = "silent";
  await clock.run(12 * LEASE_TIMES.leaseMs);
  assert.equal(replicas().length, 1);
  assert.deepEqual(counts([third]), [SHARDS]);
  for (const one of all) void one.stop();
  await clock.run(30_000);
});

test("a shard that moves waits for the work in it, and is held by one of them but for that moment", async () => {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const first = replica(api, clock, 0);
  await clock.run(10_000);
  assert.deepEqual(counts([first]), [SHARDS]);
  const second = replica(api, clock, 1);
  const moved = await clock.run(30_000, () => {
    assert.equal(clash([first, second]), undefined);
    return isBalanced([first, second]);
  });
  assert.ok(moved, `${counts([first, second])}`);
  assert.equal(first.cutOff, 0);
  const transitions = numbers().map(
    (n) => (api.objects.get(`${LEASES}/slipway-crew-shard-${n}`) as Lease).spec?.leaseTransitions,
  );
  assert.equal(transitions.filter((n) => n === 1).length, SHARDS / 2, `${transitions}`);
  for (const one of [first, second]) void one.stop();
  await clock.run(30_000);
});
