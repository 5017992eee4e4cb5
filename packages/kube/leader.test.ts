import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import type { Lease } from "./core.ts";
import { FakeApi } from "./fake-api.ts";
import { LEASE_TIMES, Leader } from "./leader.ts";
import { createClient } from "./rest-client.ts";

const LEASE = { namespace: "n", name: "slipway-metal" };
const PATH = "/apis/coordination.k8s.io/v1/namespaces/n/leases/slipway-metal";

/** A clock whose wall time is off by `ms`: replicas never agree on the time of day. */
function skewed(clock: Clock, ms: number): Clock {
  return {
    ...clock,
    now: () => clock.now() + ms,
    monotonic: () => clock.monotonic(),
    after: (d, fn) => clock.after(d, fn),
    sleep: (d, s) => clock.sleep(d, s),
  };
}

interface Link {
  /** What happens to a request of this candidate. */
  state: "up" | "down" | "silent" | "deaf";
}

function candidate(api: FakeApi, base: VirtualClock, id: number, skewMs: number) {
  const link: Link = { state: "up" };
  const clock = skewed(base, skewMs);
  const ports = { clock, random: seededRandom(id), log: quietLog };
  const client = createClient(
    {
      async request(request) {
        if (link.state === "down") throw new Fault("Unavailable", "api", "down");
        if (link.state === "silent") return new Promise(() => {});
        const answer = await api.request(request);
        // The write took effect, but nobody learns of it.
        if (link.state === "deaf") throw new Fault("LostAnswer", "api", "reset");
        return answer;
      },
      watch: (request) => api.watch(request),
      close: async () => {},
    },
    ports,
  );
  const changes: boolean[] = [];
  const leader = new Leader({
    ...ports,
    client,
    lease: LEASE,
    identity: `candidate-${id}`,
    onChange: (leading) => changes.push(leading),
  });
  return { leader, link, changes };
}

type Step = { who: number; state: Link["state"]; ms: number };
const step: fc.Arbitrary<Step> = fc.record({
  who: fc.integer({ min: 0, max: 2 }),
  state: fc.constantFrom<Link["state"]>("up", "up", "down", "silent", "deaf"),
  ms: fc.integer({ min: 100, max: 30_000 }),
});

test("never do two hold the lease, whatever breaks and however their clocks differ; in the end one does", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(fc.integer({ min: -1e7, max: 1e7 }), { minLength: 3, maxLength: 3 }),
      async (steps, skews) => {
        const api = new FakeApi();
        const clock = new VirtualClock();
        const all = skews.map((ms, id) => candidate(api, clock, id, ms));
        const stop = new AbortController();
        const runs = all.map(({ leader }) => leader.run(stop.signal));
        const holders = (): number => all.filter(({ leader }) => leader.held()).length;
        // Asked whenever the world has settled.
        const watchOver = (ms: number) => clock.run(ms, () => holders() > 1);
        for (const { who, state, ms } of steps) {
          all[who]!.link.state = state;
          assert.equal(await watchOver(ms), false, "two candidates hold the lease");
        }
        for (const { link } of all) link.state = "up";
        assert.equal(await watchOver(40_000), false);
        assert.equal(holders(), 1);
        for (const { changes } of all) assert.ok(changes.every((leading, i) => leading === (i % 2 === 0)));
        stop.abort();
        await Promise.all(runs);
        assert.equal(holders(), 0);
        assert.equal(clock.pending, 0);
      },
    ),
    { numRuns: 60 },
  );
});

test("a leader that can't renew stops before the lease runs out for others", async () => {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const { leader, link } = candidate(api, clock, 1, 0);
  const stop = new AbortController();
  const run = leader.run(stop.signal);
  await clock.run(5_000);
  assert.ok(leader.held());
  link.state = "silent";
  const since = clock.now();
  assert.ok(await clock.run(60_000, () => !leader.held()));
  assert.ok(clock.now() - since <= LEASE_TIMES.renewMs);
  stop.abort();
  await run;
});

test("a candidate that waits looks at the lease at least each time and a fifth that its setting says", async () => {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const stop = new AbortController();
  const runs = [candidate(api, clock, 1, 0).leader.run(stop.signal)];
  await clock.run(1_000);
  let looks = 0;
  const waiting = candidate(api, clock, 2, 0);
  api.intercept = ({ method }) => {
    if (method === "GET") looks++;
    return undefined;
  };
  runs.push(waiting.leader.run(stop.signal));
  await clock.run(60_000);
  // The holder writes what it knows, and reads nothing.
  assert.ok(
    looks >= 60_000 / (1.2 * LEASE_TIMES.retryMs) && looks <= 1 + 60_000 / LEASE_TIMES.retryMs,
    `${looks} looks`,
  );
  stop.abort();
  await Promise.all(runs);
});

test("the record is what other tools read: holder, times, transitions; empty after a release", async () => {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const { leader } = candidate(api, clock, 1, 0);
  const stop = new AbortController();
  const run = leader.run(stop.signal);
  await clock.run(3_000);
  const lease = api.objects.get(PATH) as Lease;
  assert.deepEqual(lease.spec, {
    holderIdentity: "candidate-1",
    leaseDurationSeconds: 15,
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:00:02.000000Z",
    leaseTransitions: 0,
  });
  stop.abort();
  await run;
  assert.equal((api.objects.get(PATH) as Lease).spec?.holderIdentity, "");
});

test("the record is emptied, too, when the last renewal reached the API and its answer was never seen", async () => {
  const clock = new VirtualClock();
  const api = new FakeApi();
  const { leader, link } = candidate(api, clock, 1, 0);
  const stop = new AbortController();
  const running = leader.run(stop.signal);
  await clock.run(10_000);
  const holder = () => (api.objects.get(PATH) as Lease).spec?.holderIdentity;
  assert.equal(holder(), "candidate-1");
  link.state = "deaf";
  await clock.run(LEASE_TIMES.retryMs);
  link.state = "up";
  stop.abort();
  await clock.run(10_000);
  await running;
  assert.equal(holder(), "");
});

test("a renewal that hangs on a dead connection is given up in time for another on a new one", async () => {
  const clock = new VirtualClock();
  const { leader, link, changes } = candidate(new FakeApi(), clock, 1, 0);
  const stop = new AbortController();
  const running = leader.run(stop.signal);
  await clock.run(5_000);
  assert.deepEqual(changes, [true]);
  link.state = "silent";
  await clock.run(LEASE_TIMES.renewMs / 2 + 1_000);
  link.state = "up";
  await clock.run(60_000);
  assert.deepEqual(changes, [true], "it never stopped leading");
  stop.abort();
  await clock.run(60_000);
  await running;
});

test("a record of another that says nothing of its duration counts for as long as one of our own", async () => {
  const api = new FakeApi();
  const clock = new VirtualClock();
  api.put(PATH, { metadata: LEASE, spec: { holderIdentity: "another" } });
  const { leader } = candidate(api, clock, 1, 0);
  const stop = new AbortController();
  const run = leader.run(stop.signal);
  await clock.run(LEASE_TIMES.leaseMs - 1);
  assert.equal(leader.held(), false);
  await clock.run(3_000);
  assert.equal(leader.held(), true);
  stop.abort();
  await run;
});

test("a leader completes a record of its own that does not say since when it leads", async () => {
  const api = new FakeApi();
  const clock = new VirtualClock();
  api.put(PATH, { metadata: LEASE, spec: { holderIdentity: "candidate-1", leaseTransitions: 4 } });
  const { leader } = candidate(api, clock, 1, 0);
  const stop = new AbortController();
  const run = leader.run(stop.signal);
  await clock.run(1_000);
  const { spec } = api.objects.get(PATH) as Lease;
  assert.deepEqual([spec?.acquireTime, spec?.leaseTransitions], ["2026-01-01T00:00:00.000000Z", 4]);
  stop.abort();
  await run;
});
