import assert from "node:assert/strict";
import { test } from "node:test";
import { FairTurns } from "./fair-turns.ts";

test("calls that follow each other let timers and sockets have their turn every 10 ms, and go on in their order", async () => {
  let now = 0;
  let others = 0;
  const count = (): void => {
    others++;
    if (others < 100) setImmediate(count);
  };
  setImmediate(count);
  const turns = new FairTurns({ monotonic: () => now });
  const order: string[] = [];
  const call = async (name: string): Promise<void> => {
    for (let i = 0; i < 10; i++) {
      const turn = turns.next("lane");
      if (turn !== undefined) await turn;
      order.push(`${name}${i}`);
      now += 4;
    }
  };
  await Promise.all([call("a"), call("b")]);
  assert.ok(others >= 5, `80 ms of work, and others had ${others} turns`);
  assert.deepEqual(
    order.filter((one) => one.startsWith("a")).map((one) => one.slice(1)),
    ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
  );
  assert.ok(order.indexOf("b9") > order.indexOf("a5"), "neither runs ahead of the other");
});

test("in virtual time nobody waits for a turn", () => {
  const turns = new FairTurns({ monotonic: () => 5 });
  for (let i = 0; i < 1000; i++) assert.equal(turns.next("lane"), undefined);
});

test("a call in a lane of its own does not wait behind all of another lane", async () => {
  let now = 0;
  const turns = new FairTurns({ monotonic: () => now });
  assert.equal(turns.next("secrets"), undefined);
  now += 20;
  const order: string[] = [];
  const secrets = Array.from({ length: 1000 }, () => turns.next("secrets")!.then(() => order.push("secret")));
  const lease = turns.next("leases")!.then(() => order.push("lease"));
  await Promise.all([...secrets, lease]);
  assert.ok(order.indexOf("lease") < 10, `it was number ${order.indexOf("lease")}`);
});
