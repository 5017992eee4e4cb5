import assert from "node:assert/strict";
import { test } from "node:test";
import { refuseClaimed, withClaim, withFailedWipe, withRelease, withWiped } from "./claims.ts";
import type { State } from "./state.ts";

const [A, B] = ["52:54:00:00:00:0a", "52:54:00:00:00:0b"] as const;
const EMPTY = { deployments: [] } as unknown as State;
const wanted = (of: { mac?: string; claim?: string } = {}) => ({
  ...{
    mac: A,
    bootConfigName: "img",
    claim: "c1",
    holder: "PlunderMachine shop/w1",
    hostname: "w1",
    seedUrl: "http://s",
  },
  ...of,
});
const at = (macs: readonly string[] = [A]) => ({ macs, kept: "d1", now: 7 });
const GIVEN = withClaim(EMPTY, wanted(), at());

test("a claim gets its machine once, however often it asks", () => {
  assert.deepEqual(GIVEN.deployments, [
    {
      deployment: { mac: A, bootConfigName: "img", config: { hostname: "w1" } },
      id: "d1",
      claim: { id: "c1", holder: "PlunderMachine shop/w1", seedUrl: "http://s", createdAt: 7 },
    },
  ]);
  assert.equal(withClaim(GIVEN, wanted(), at()), GIVEN);
});

test("a claim has one machine, and a machine one deployment, by whichever of its cards", () => {
  const refused = (state: State, of: object, macs: readonly string[], message: RegExp) =>
    assert.throws(() => withClaim(state, wanted(of), at(macs)), { code: "AlreadyExists", message });
  refused(GIVEN, { mac: B }, [B], /it has the machine 52:54:00:00:00:0a/);
  refused(GIVEN, { claim: "c2" }, [A], /there is a deployment for it/);
  refused(GIVEN, { claim: "c2", mac: B }, [B, A], /there is a deployment for it/);
  refused(withRelease(GIVEN, "c1"), {}, [A], /it has the machine/);
  refused(withWiped(withRelease(GIVEN, "c1"), "c1", "proof"), {}, [A], /its machine was given back/);
});

test("a machine that is given back is wiped, again after a failure, and leaves the proof", () => {
  assert.throws(() => withRelease(GIVEN, "c2"), { code: "NotFound" });
  const leaving = withRelease(GIVEN, "c1");
  assert.deepEqual(leaving.deployments[0]?.claim?.release, { attempt: 1 });
  assert.equal(withRelease(leaving, "c1"), leaving);
  const failed = { at: 9, message: "no disk" };
  const again = withFailedWipe(leaving, "c1", failed);
  assert.deepEqual(again.deployments[0]?.claim?.release, { attempt: 2, failed });
  const wiped = withWiped(again, "c1", "proof");
  assert.deepEqual(wiped.deployments, []);
  assert.deepEqual(wiped.wiped, [
    { claim: "c1", holder: "PlunderMachine shop/w1", mac: A, hostname: "w1", createdAt: 7, proof: "proof" },
  ]);
  assert.equal(withWiped(wiped, "c1", "another"), wiped);
});

test("what happens to one claim changes nothing of others", () => {
  const two = withClaim(GIVEN, wanted({ claim: "c2", mac: B }), { ...at([B]), kept: "d2" });
  const [, other] = two.deployments;
  for (const state of [withRelease(two, "c1"), withFailedWipe(two, "c1", { at: 1, message: "" })])
    assert.equal(state.deployments[1], other);
  assert.deepEqual(withWiped(two, "c1", "proof").deployments, [other]);
});

test("a deployment of an object is that object's to change; others are anybody's", () => {
  const [claimed] = GIVEN.deployments;
  assert.throws(() => refuseClaimed(claimed!), { code: "Conflict", message: /is of PlunderMachine shop\/w1/ });
  const { claim: _, ...free } = claimed!;
  refuseClaimed(free);
});
