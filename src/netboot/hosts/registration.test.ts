import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { GivenOrder, HostRecord } from "./host.ts";
import type { Session } from "./presence.ts";
import { ALIVE_MS, afterRestart, begun, claimedCardsOf, mayReplace, sessionOf } from "./registration.ts";
import { inventoryOf } from "./testing.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";
const BY = { card: A, address: "10.0.0.5", proof: "lease" } as const;
const session: Session = sessionOf(BY, 7);
const taken: GivenOrder = { is: { id: "1", order: "reboot" }, givenAt: 1, takenAt: 2 };

const record = (host: Partial<HostRecord["host"]>): HostRecord => ({
  ...{ bootChosen: false, cameBy: "hash" },
  host: { name: "a", mac: A, macs: [A], firstSeen: 0, lastSeen: 0, boot: "agent", ...host },
});

test("a session that carries out an order is not replaced before a minute of silence, but by its own token at any time", () => {
  const replace = (order: GivenOrder | undefined, capability: string | undefined, silentMs: number): void =>
    mayReplace(record({ session, ...(order && { order }) }), BY, capability, silentMs);
  assert.throws(
    () => replace(taken, "next boot", ALIVE_MS - 1),
    (error) => isFault(error, "Conflict") && /its agent at 10\.0\.0\.5 carries out "reboot"/.test(error.message),
  );
  replace(taken, "next boot", ALIVE_MS);
  replace(taken, undefined, 0);
  replace(undefined, "next boot", 0);
  replace({ is: taken.is, givenAt: 1 }, "next boot", 0);
  replace({ ...taken, result: { ok: true, message: "" } }, "next boot", 0);
  mayReplace(record({ order: taken }), BY, "next boot", 0);
});

test("N1 a capability that was used is good from the same address only", () => {
  const from = (address: string, capability: string): void =>
    mayReplace(record({ session }), { ...BY, address }, capability, 0);
  from("10.0.0.5", "hash");
  from("10.0.0.6", "another boot's");
  assert.throws(
    () => from("10.0.0.6", "hash"),
    (error) => isFault(error, "Forbidden"),
  );
});

test("a registration from nowhere leaves no session; one from a port of a relay is remembered with its first port", () => {
  assert.equal(begun(record({ session }), { tokenHash: "t", session: undefined }, undefined).host.session, undefined);
  const through = (via: string) => sessionOf({ ...BY, via }, 7);
  const first = begun(record({}), { tokenHash: "t", session: through("10.8.0.1/01/") }, undefined);
  assert.deepEqual(first.host.ports, { [A]: "10.8.0.1/01/" });
  const second = begun(first, { tokenHash: "u", session: through("10.8.0.1/02/") }, "key");
  assert.deepEqual([second.host.ports, second.host.session?.via], [{ [A]: "10.8.0.1/01/" }, "10.8.0.1/02/"]);
  assert.deepEqual([second.tokenHash, second.cameBy, second.host.agentKey], ["u", "hash", "key"]);
  assert.equal("ports" in begun(record({}), { tokenHash: "t", session }, undefined).host, false);
});

test("claims are the cards that a report names beside its own, each once; null and group addresses are no claims", () => {
  const named = [A, B, B, "00:00:00:00:00:00", "01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff"] as const;
  assert.deepEqual(claimedCardsOf(inventoryOf(...named), [A]), [B]);
  assert.deepEqual(claimedCardsOf(inventoryOf("02:00:00:00:00:01"), []), ["02:00:00:00:00:01"]);
});

test("an order that a machine had taken ends when it starts again; one that it had not, or that has ended, stays as it is", () => {
  const { takenAt: _, ...given } = taken;
  assert.equal(afterRestart(given, 9), given);
  const ended = { ...taken, result: { ok: false, message: "no" }, endedAt: 3 };
  assert.equal(afterRestart(ended, 9), ended);
  assert.deepEqual(afterRestart(taken, 9), {
    ...{ ...taken, endedAt: 9 },
    result: { ok: true, message: "it has started again" },
  });
  const results = (["inspect", "poweroff", "wipe"] as const).map(
    (order) => afterRestart({ ...taken, is: { ...taken.is, order } as GivenOrder["is"] }, 9).result,
  );
  assert.deepEqual(results, [
    { ok: true, message: "reported" },
    { ok: false, message: 'the machine started again before it reported how "poweroff" ended' },
    { ok: false, message: 'the machine started again before it reported how "wipe" ended' },
  ]);
});
