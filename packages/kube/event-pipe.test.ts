import assert from "node:assert/strict";
import { test } from "node:test";
import { EventPipe } from "./event-pipe.ts";

/** A pipe that is full with three values. `levels`: true each time that its producer has to pause, false when it may go on. */
function pipe() {
  const levels: boolean[] = [];
  const made = new EventPipe<number>(3, (full) => levels.push(full));
  return { made, levels };
}

test("a producer pauses once as many values wait as may, and goes on when all have been taken", async () => {
  const { made, levels } = pipe();
  const values = made.values(() => {});
  for (const value of [1, 2]) made.put(value);
  assert.deepEqual(levels, []);
  for (const value of [3, 4, 5]) made.put(value);
  assert.deepEqual(levels, [true], "it is told once");
  for (const value of [1, 2, 3, 4, 5]) assert.equal((await values.next()).value, value);
  assert.deepEqual(levels, [true], "the last value is with the consumer, who has not come for more");
  const sixth = values.next();
  assert.deepEqual(levels, [true, false]);
  made.put(6);
  assert.equal((await sixth).value, 6);
  for (const value of [7, 8, 9]) made.put(value);
  assert.deepEqual(levels, [true, false, true], "what was taken counts no more");
});

test("what was put before the end is delivered before it, and nothing after", async () => {
  const { made } = pipe();
  let closed = 0;
  const values = made.values(() => closed++);
  made.put(1);
  made.end(new Error("broken"));
  made.end();
  made.put(2);
  assert.equal((await values.next()).value, 1);
  await assert.rejects(values.next(), /broken/);
  assert.deepEqual([await values.next(), closed], [{ done: true, value: undefined }, 1]);
});

test("a consumer that waits is woken by the end", async () => {
  const { made } = pipe();
  const next = made.values(() => {}).next();
  made.end();
  assert.equal((await next).done, true);
});
