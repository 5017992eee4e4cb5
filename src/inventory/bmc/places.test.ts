import assert from "node:assert/strict";
import { test } from "node:test";
import { Places } from "./places.ts";

/** A task that lasts until it is let go. */
function held(): { run: () => Promise<void>; end: () => void; started: () => boolean } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isStarted = false;
  return {
    run() {
      isStarted = true;
      return promise;
    },
    end: () => resolve(),
    started: () => isStarted,
  };
}

test("no more tasks run than there are places, and the others follow in their order", async () => {
  const places = new Places(1);
  const tasks = [held(), held(), held()] as const;
  const works = tasks.map(({ run }) => places.take(run));
  for (const [i, { end }] of tasks.entries()) {
    assert.deepEqual(
      tasks.map(({ started }) => started()),
      tasks.map((_, j) => j <= i),
    );
    end();
    await works[i];
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test("who gives up while waiting takes no place, and a task that fails gives its own back", async () => {
  const places = new Places(1);
  const first = held();
  const running = places.take(first.run);
  const stop = new AbortController();
  const waiting = places.take(async () => assert.fail("it runs"), stop.signal);
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  first.end();
  await running;
  await assert.rejects(
    places.take(async () => {
      throw new Error("broken");
    }),
    /broken/,
  );
  assert.equal(await places.take(async () => 7), 7);
});

test("who gives up while its task runs disturbs nobody who waits", async () => {
  const places = new Places(1);
  const [first, second] = [held(), held()];
  const stop = new AbortController();
  const running = places.take(first.run);
  const next = places.take(second.run, stop.signal);
  first.end();
  await running;
  const third = places.take(async () => "third");
  stop.abort();
  second.end();
  await next;
  assert.equal(await third, "third");
});
