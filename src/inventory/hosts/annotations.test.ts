import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import {
  annotatedObject,
  detachedDelays,
  hostAnnotations,
  isDetachedByForce,
  isPaused,
  rebootWish,
} from "./annotations.ts";

const wish = (annotations: Record<string, string>) =>
  rebootWish({ metadata: { name: "a", annotations } } as unknown as BareMetalHost);

test("reboot annotations: those with an owner hold the host off, the plain one goes; any hard one makes it hard", () => {
  assert.equal(wish({ "reboot.metal3.iox": "" }), undefined);
  assert.deepEqual(wish({ "reboot.metal3.io": "" }), { mode: "soft", once: ["reboot.metal3.io"], held: [] });
  assert.deepEqual(wish({ "reboot.metal3.io": '{"mode":"hard"}', "reboot.metal3.io/me": "" }), {
    mode: "hard",
    once: ["reboot.metal3.io"],
    held: ["reboot.metal3.io/me"],
  });
  for (const value of ['{"mode":"soft"}', "{", "null", '"hard"', "[]"])
    assert.equal(wish({ "reboot.metal3.io/me": value })?.mode, "soft", value);
});

test("by force are reboot annotations that say so in JSON, and no others", () => {
  const annotations = {
    "reboot.metal3.io": '{"force":true}',
    "reboot.metal3.io/me": '{"mode":"hard"}',
    a: '{"force":true}',
  };
  const forced = rebootWish(hostOf(annotations), { byForce: true });
  assert.deepEqual(forced, { mode: "soft", once: ["reboot.metal3.io"], held: [] });
  assert.equal(rebootWish(hostOf({ "reboot.metal3.io": '{"force":"true"}' }), { byForce: true }), undefined);
});

const hostOf = (annotations?: Record<string, string>) =>
  ({ metadata: { name: "a", ...(annotations && { annotations }) } }) as unknown as BareMetalHost;

test("an annotation that must be a JSON object is read, missing, or refused by its name", () => {
  const read = (text?: string) => annotatedObject(hostOf(text === undefined ? undefined : { x: text }), "x");
  assert.equal(read(), undefined);
  assert.deepEqual(read('{"a":1}'), { a: 1 });
  for (const text of ["", "{", "null", "[]", "7", '"a"'])
    assert.throws(() => read(text), /annotation x: it is no JSON object/, text);
  assert.deepEqual(hostAnnotations(hostOf()), {});
});

test("a host is paused whatever the annotation's value is", () => {
  const paused = "baremetalhost.metal3.io/paused";
  assert.deepEqual(
    [isPaused(hostOf()), isPaused(hostOf({ [paused]: "" })), isPaused(hostOf({ x: "" }))],
    [false, true, false],
  );
});

test("a detached host delays its deletion where its annotation says so in JSON, and not else", () => {
  const delays = (value: string) => detachedDelays(hostOf({ "baremetalhost.metal3.io/detached": value }));
  assert.equal(delays('{"deleteAction":"delay"}'), true);
  for (const value of ["", "{", "null", "7", '{"deleteAction":"delete"}', "{}"])
    assert.equal(delays(value), false, value);
  assert.equal(detachedDelays(hostOf()), false);
});

test("a host is detached by force where its annotation says so in JSON, and not else", () => {
  const forces = (value: string) => isDetachedByForce(hostOf({ "baremetalhost.metal3.io/detached": value }));
  assert.equal(forces('{"force":true}'), true);
  for (const value of ["", "{", "null", "true", '{"force":1}', "{}"]) assert.equal(forces(value), false, value);
  assert.equal(isDetachedByForce(hostOf()), false);
});
