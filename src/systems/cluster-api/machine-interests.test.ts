import assert from "node:assert/strict";
import { test } from "node:test";
import { MachineInterests } from "./machine-interests.ts";
import { node } from "./testing.ts";
import { Waker } from "./wake.ts";

const quay = { namespace: "default", name: "quay" };
const ref = (name: string) => ({ namespace: "default", name });
const withId = (providerID: string) => node("n", { spec: { providerID } });

test("a change of a Node is about the Machines with its id, a change of the connection about all of the cluster", () => {
  const interests = new MachineInterests();
  interests.set(ref("a"), quay, "sim://1");
  interests.set(ref("b"), quay, undefined);
  interests.set(ref("c"), ref("other"), "sim://1");
  assert.deepEqual(interests.of(quay, withId("sim://1")), [ref("a")]);
  assert.deepEqual(interests.of(quay, withId("sim://2")), []);
  assert.deepEqual(interests.of(quay, node("n")), []);
  assert.deepEqual(interests.of(quay, undefined), [ref("a"), ref("b")]);
});

test("a Machine that gets another id, or is gone, is no longer found by what it had", () => {
  const interests = new MachineInterests();
  interests.set(ref("a"), quay, "sim://1");
  interests.set(ref("a"), quay, "sim://2");
  assert.deepEqual(interests.of(quay, withId("sim://1")), []);
  assert.deepEqual(interests.of(quay, withId("sim://2")), [ref("a")]);
  interests.set(ref("a"), ref("other"), "sim://2");
  assert.deepEqual([interests.of(quay, undefined), interests.of(ref("other"), undefined)], [[], [ref("a")]]);
  interests.delete(ref("a"));
  interests.delete(ref("never"));
  assert.deepEqual(interests.of(ref("other"), undefined), []);
  assert.deepEqual(interests.of(ref("other"), withId("sim://2")), []);
});

test("a controller is woken while it listens, and what it began besides ends with that", () => {
  const waker = new Waker();
  const woken: string[] = [];
  let isOpen = false;
  waker.wake(ref("early"));
  const end = waker.listen(() => {
    isOpen = true;
    return () => {
      isOpen = false;
    };
  })(({ name }) => woken.push(name));
  assert.equal(isOpen, true);
  waker.by("Machine", ref("a")).wake();
  assert.equal(waker.by("Machine", ref("a")).who, "Machine/default/a");
  end();
  waker.wake(ref("late"));
  assert.deepEqual([woken, isOpen], [["a"], false]);
  const other = waker.listen()(({ name }) => woken.push(name));
  waker.wake(ref("b"));
  other();
  assert.deepEqual(woken, ["a", "b"]);
});
