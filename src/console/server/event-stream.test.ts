import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { KubeObject } from "@slipway/kube";
import { EventStream, STREAM_TIMES } from "./event-stream.ts";

const KIND = "machines.example";

function object(name: string, version = 1, more: object = {}): KubeObject {
  const metadata = {
    name,
    namespace: "rack",
    uid: `uid-${name}`,
    resourceVersion: `${version}`,
    creationTimestamp: "",
  };
  return { apiVersion: "example/v1", kind: "Machine", metadata, ...more };
}

const dataOf = (text: string) => JSON.parse(/^event: \w+\ndata: ([^\n]*)\n\n$/.exec(text)![1]!);

/** A reader that takes everything, or nothing more once `buffer` characters wait. */
function reader(clock: VirtualClock, buffer = Number.POSITIVE_INFINITY) {
  const written: string[] = [];
  const of = { waiting: 0, most: 0, destroyed: false };
  const stream = new EventStream(
    {
      write(text) {
        written.push(text);
        of.waiting += text.length;
        of.most = Math.max(of.most, of.waiting);
        return of.waiting < buffer;
      },
      destroy: () => {
        of.destroyed = true;
      },
    },
    clock,
  );
  const take = (): void => {
    of.waiting = 0;
    stream.drained();
  };
  return { stream, written, of, take, lane: stream.lane(KIND) };
}

test("a change goes out at once after a rest, and those of one batch go together", async () => {
  const clock = new VirtualClock();
  const { lane, written } = reader(clock);
  await clock.run(1_000);
  lane.set("rack/a", object("a"));
  await clock.run(1);
  assert.equal(written.length, 2);
  for (let i = 0; i < 100; i++) lane.set(`rack/b${i}`, object(`b${i}`));
  await clock.run(STREAM_TIMES.batchMs);
  assert.equal(written.length, 3);
  assert.equal(written[2]!.match(/"type":"set"/g)?.length, 100);
  assert.match(written[2]!, /^event: objects\ndata: [^\n]*\n\n$/);
});

test("each object's last change is sent once, a beginning makes what waited before it moot, and the state comes last", async () => {
  const clock = new VirtualClock();
  const { lane, written } = reader(clock);
  lane.set("rack/old", object("old"));
  lane.begin();
  for (let version = 1; version <= 9; version++) lane.set("rack/a", object("a", version));
  lane.set("rack/b", object("b"));
  lane.gone("rack/b", object("b", 2, { spec: { password: "hidden" } }));
  lane.state("synced");
  await clock.run(100);
  const events = written.slice(1).map(dataOf);
  assert.deepEqual(
    events.map(({ state, changes }) => state ?? changes.length),
    ["begin", 2, "synced"],
  );
  assert.deepEqual(events[1].changes[0], { type: "set", object: object("a", 9) });
  assert.deepEqual(events[1].changes[1].object, {
    ...{ apiVersion: "example/v1", kind: "Machine" },
    metadata: { name: "b", namespace: "rack", uid: "uid-b" },
  });
});

test("no text of a machine breaks out of an event", async () => {
  const clock = new VirtualClock();
  const { lane, written } = reader(clock);
  const evil = "\n\nevent: kind\ndata: {}\n\n\r\u2028<script>alert(1)</script>";
  lane.set("rack/a", object("a", 1, { status: { hostname: evil } }));
  lane.state("denied", evil);
  await clock.run(100);
  for (const text of written.slice(1)) assert.match(text, /^event: \w+\ndata: [^\r\n]*\n\n$/);
  assert.equal(dataOf(written[1]!).changes[0].object.status.hostname, evil);
});

test("100,000 changes to a reader who takes nothing hold the last change of each object, one event of text, and then the reader is cut off", async () => {
  const clock = new VirtualClock();
  const { lane, stream, of } = reader(clock, 16 * 1024);
  const fill = "x".repeat(1_000);
  for (let change = 0; change < 100_000; change++) {
    lane.set(`rack/m${change % 500}`, object(`m${change % 500}`, change, { status: { fill } }));
    if (change % 500 === 0) await clock.run(100);
    assert.ok(stream.held <= 500);
  }
  assert.ok(of.most < 400 * 1024, `${of.most} characters were written`);
  await clock.run(STREAM_TIMES.stalledMs);
  assert.equal(of.destroyed, true);
  assert.deepEqual([stream.held, clock.pending], [0, 0]);
});

test("100,000 changes to a reader who takes them, slowly, leave nothing behind", async () => {
  const clock = new VirtualClock();
  const { lane, stream, of, take, written } = reader(clock, 64 * 1024);
  for (let change = 0; change < 100_000; change++) {
    const name = `m${change}`;
    lane.set(name, object(name));
    if (change >= 100) lane.gone(`m${change - 100}`, object(`m${change - 100}`));
    if (change % 1_000 === 0) {
      await clock.run(STREAM_TIMES.batchMs);
      take();
      written.length = 0;
    }
  }
  for (let turn = 0; turn < 2_000 && stream.held > 0; turn++) {
    take();
    await clock.run(STREAM_TIMES.batchMs);
    written.length = 0;
  }
  assert.deepEqual([stream.held, of.destroyed], [0, false]);
  stream.close();
  assert.equal(clock.pending, 0);
});

test("a silent stream says that it is there", async () => {
  const clock = new VirtualClock();
  const { written, stream } = reader(clock);
  await clock.run(40_000);
  assert.deepEqual(written.slice(1), [": here\n\n", ": here\n\n"]);
  stream.close();
});
