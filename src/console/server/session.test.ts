import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client, Transport } from "@slipway/kube";
import { isCsrfOf, SESSION_LIMITS, Sessions } from "./session.ts";

const MINUTE_MS = 60_000;

function sessions(limits = SESSION_LIMITS) {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const of = new Sessions(
    {
      ...{ clock, random },
      followersOf: ({ refused }) => ({
        ...{ clock, random, refused, log: quietLog, client: {} as Client, most: 1, mostKinds: 1 },
        lookUp: () => new Promise(() => {}),
      }),
    },
    limits,
  );
  let closed = 0;
  const transport = { close: async () => void closed++ } as unknown as Transport;
  const begin = (user = "anna", endsAt?: number) => of.begin({ user, groups: [] }, transport, endsAt);
  return { of, clock, begin, closed: () => closed };
}

test("a session that nobody uses ends, and one that is used lasts until its absolute end", async () => {
  const { of, clock, begin, closed } = sessions();
  const idle = begin();
  const used = begin("berta");
  for (let minutes = 0; minutes < 29; minutes++) await clock.run(MINUTE_MS);
  assert.equal(of.find(used.id), used.session);
  await clock.run(2 * MINUTE_MS);
  assert.equal(idle.session.ended.aborted, true);
  assert.equal(of.find(idle.id), undefined);
  assert.equal(closed(), 1);
  for (let minutes = 31; minutes < 720; minutes += 20) {
    assert.equal(of.find(used.id), used.session, `after ${minutes} minutes`);
    await clock.run(20 * MINUTE_MS);
  }
  assert.equal(used.session.ended.aborted, true);
  assert.deepEqual([of.size, clock.pending], [0, 0]);
});

test("an open stream is a use, and none of the absolute end", async () => {
  const { of, clock, begin } = sessions();
  const { session } = begin();
  session.streams = 1;
  await clock.run(11 * 60 * MINUTE_MS);
  assert.equal(session.ended.aborted, false);
  await clock.run(61 * MINUTE_MS);
  assert.deepEqual([session.ended.aborted, of.size], [true, 0]);
});

test("a session ends with its token", async () => {
  const { of, clock, begin } = sessions();
  const { id, session } = begin("anna", clock.now() + 5 * MINUTE_MS);
  await clock.run(4 * MINUTE_MS);
  assert.equal(of.find(id), session);
  await clock.run(MINUTE_MS);
  assert.equal(session.ended.aborted, true);
  assert.equal(of.find(begin("anna", clock.now() - 1).id), undefined);
});

test("sessions are bounded: a user's further one ends the oldest, and beyond the whole none begins", () => {
  const { of, begin } = sessions({ ...SESSION_LIMITS, most: 4, mostOfUser: 2 });
  const [first, second] = [begin(), begin()];
  const third = begin();
  assert.deepEqual(
    [first, second, third].map(({ session }) => session.ended.aborted),
    [true, false, false],
  );
  begin("berta");
  begin("clara");
  assert.throws(
    () => begin("dora"),
    (error) => isFault(error, "Throttled"),
  );
  assert.equal(of.size, 4);
  of.close();
  assert.equal(of.size, 0);
});

test("ids and words against forgery are long, random and each one's own", () => {
  const { begin } = sessions({ ...SESSION_LIMITS, mostOfUser: 100 });
  const all = Array.from({ length: 50 }, () => begin());
  assert.equal(new Set(all.flatMap(({ id, session }) => [id, session.csrf])).size, 100);
  for (const { id } of all) assert.match(id, /^[\w-]{43}$/);
  const [one, other] = [all[0]!.session, all[1]!.session];
  assert.deepEqual(
    [isCsrfOf(one, one.csrf), isCsrfOf(one, other.csrf), isCsrfOf(one, undefined), isCsrfOf(one, "")],
    [true, false, false, false],
  );
});
