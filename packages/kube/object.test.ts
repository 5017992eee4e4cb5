import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { backOffMs } from "./back-off.ts";
import { problemsOf, waitingText } from "./health.ts";
import { LineReader, LineTooLong } from "./ndjson.ts";
import { apiVersionOf, type KubeObject, keyOf, nameOf, pathOf, refFromKey, refOf } from "./object.ts";
import { outgoingBody } from "./outgoing.ts";
import { controllerOf, controllerReference, isControlledBy, ownerReference, withOwner } from "./owners.ts";
import { TokenBucket } from "./rate-limit.ts";
import { isNewer } from "./resource-version.ts";

const BOAT = { group: "sea.example.org", version: "v1", kind: "Boat", plural: "boats", namespaced: true };
const NODE = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };
const boat = (name: string, of: object = {}): KubeObject =>
  ({ apiVersion: "sea.example.org/v1", kind: "Boat", metadata: { name, uid: `uid-${name}`, ...of } }) as KubeObject;

test("objects are named by namespace and name, and keys are read as they are written", () => {
  const [inside, alone] = [{ namespace: "bay", name: "a" }, { name: "a" }];
  assert.deepEqual([keyOf(inside), keyOf(alone), keyOf({ namespace: "", name: "a" })], ["bay/a", "a", "a"]);
  assert.deepEqual(
    [refFromKey("bay/a"), refFromKey("a"), refFromKey("/a")],
    [inside, alone, { namespace: "", name: "a" }],
  );
  assert.deepEqual([refOf(boat("a", { namespace: "bay" })), refOf(boat("a"))], [inside, alone]);
  assert.equal(nameOf(BOAT, inside), "Boat/bay/a");
  assert.deepEqual([apiVersionOf(BOAT), apiVersionOf(NODE)], ["sea.example.org/v1", "v1"]);
});

test("paths have the namespace of namespaced resources alone, and no name breaks out of its segment", () => {
  const at = { namespace: "bay", name: "a/../b", subresource: "status" };
  assert.equal(pathOf(BOAT, at), "/apis/sea.example.org/v1/namespaces/bay/boats/a%2F..%2Fb/status");
  assert.equal(pathOf(NODE, at), "/api/v1/nodes/a%2F..%2Fb/status");
  assert.equal(pathOf(BOAT), "/apis/sea.example.org/v1/boats");
});

test("an object has one controller, which is known by its uid; other owners stay beside it", () => {
  const owner = boat("owner");
  const [plain, controller] = [ownerReference(BOAT, owner), controllerReference(BOAT, owner)];
  assert.deepEqual(plain, { apiVersion: "sea.example.org/v1", kind: "Boat", name: "owner", uid: "uid-owner" });
  assert.deepEqual(controller, { ...plain, controller: true, blockOwnerDeletion: true });
  const owned = boat("a", { ownerReferences: [{ ...plain, uid: "x" }, controller] });
  assert.equal(controllerOf(owned), controller);
  assert.equal(isControlledBy(owned, owner), true);
  assert.equal(isControlledBy(owned, boat("owner", { uid: "taken-again" })), false);
  assert.equal(isControlledBy(boat("a"), owner), false);
  const other = { ...plain, uid: "x" };
  assert.deepEqual(withOwner(undefined, plain), [plain]);
  assert.deepEqual(withOwner([plain, other], controller), [other, controller]);
});

test("versions that are numbers are ordered, all others are newer when they differ", () => {
  assert.deepEqual(
    [isNewer("10", "9"), isNewer("9", "10"), isNewer("12", "11"), isNewer("11", "11"), isNewer("0", "1")],
    [true, false, true, false, false],
  );
  for (const [a, b] of [
    ["a", "9"],
    ["09", "10"],
    ["1", "x"],
    ["", "1"],
  ] as const)
    assert.deepEqual([isNewer(a, b), isNewer(b, a)], [true, true], `${a} ${b}`);
  assert.equal(isNewer("a", "a"), false);
});

test("waits double up to their most, and the jitter only makes them shorter", () => {
  const random = seededRandom(1);
  const wait = (failures: number, jitter = 0) => backOffMs({ baseMs: 100, maxMs: 1000, jitter }, failures, random);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 1000].map((failures) => wait(failures)),
    [100, 200, 400, 800, 1000, 1000],
  );
  for (let i = 0; i < 50; i++) {
    const ms = wait(2, 0.5);
    assert.ok(ms > 200 && ms <= 400, String(ms));
  }
});

test("what is waited for is said with its time, and whose it is", () => {
  const waiting = { kind: "boats.sea.example.org", since: 0, missing: true, optional: false };
  assert.equal(waitingText(waiting), "boats.sea.example.org not served by the API, since 1970-01-01T00:00:00.000Z");
  assert.match(waitingText({ ...waiting, missing: false, optional: true }), /not listed yet, since .* \(optional\)$/);
  const health = {
    system: "sea",
    ready: false,
    leading: true,
    shards: { held: 1, of: 1 },
    waiting: [waiting],
    problems: ["boat hangs"],
  };
  assert.deepEqual(problemsOf(health), [`sea: ${waitingText(waiting)}`, "sea: boat hangs"]);
});

test("lines are cut from bytes however they come; an unfinished one must not grow for ever", () => {
  const reader = new LineReader(8);
  const bytes = (text: string): Uint8Array => Buffer.from(text);
  assert.deepEqual(reader.push(bytes("one\n\ntw")), ["one"]);
  assert.deepEqual(reader.push(bytes("o\nthree")), ["two"]);
  assert.deepEqual([reader.rest(), reader.rest()], ["three", ""]);
  assert.deepEqual(reader.push(bytes("12345678\n")), ["12345678"]);
  reader.push(bytes("1234567"));
  assert.throws(() => reader.push(bytes("89")), LineTooLong);
});

test("statuses and reports are filtered on their way out; what users want is not", () => {
  const filter = { line: (text: string) => text, clean: <T>(_: T) => "clean" as T };
  const body = { spec: "s", status: "t", message: "m", kind: "k" };
  assert.equal(outgoingBody(body, BOAT, undefined, filter), body);
  assert.deepEqual(outgoingBody(body, BOAT, "status", filter), { ...body, status: "clean" });
  const event = { ...NODE, kind: "Event" };
  assert.deepEqual(outgoingBody(body, event, undefined, filter), {
    ...{ spec: "clean", status: "clean", message: "clean", kind: "k" },
  });
  const patch = [{ op: "add" }];
  assert.equal(outgoingBody(patch, event, undefined, filter), patch);
  assert.equal(outgoingBody(null, event, undefined, filter), null);
});

test("calls pass at their rate, a burst at once, in the order in which they were asked for", async () => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket(clock, { qps: 2, burst: 3 });
  const passed: string[] = [];
  const call = (name: string, signal?: AbortSignal) =>
    bucket.take(signal).then(
      () => passed.push(`${name} at ${clock.monotonic()}`),
      () => passed.push(`${name} gave up`),
    );
  const givesUp = new AbortController();
  for (const name of ["a", "b", "c", "d"]) void call(name);
  void call("e", givesUp.signal);
  await clock.settle();
  assert.deepEqual(passed, ["a at 0", "b at 0", "c at 0"]);
  assert.equal(bucket.tryTake(), false);
  givesUp.abort();
  await clock.settle();
  void call("f");
  await clock.run(2000);
  assert.deepEqual(passed.slice(3), ["e gave up", "d at 500", "f at 1000"]);
  await clock.run(60_000);
  assert.deepEqual([bucket.tryTake(), bucket.tryTake(), bucket.tryTake(), bucket.tryTake()], [true, true, true, false]);
  for (const limits of [
    { qps: 0, burst: 1 },
    { qps: 1, burst: 0 },
  ])
    assert.throws(() => new TokenBucket(clock, limits), RangeError);
  await assert.rejects(bucket.take(AbortSignal.abort()));
});
