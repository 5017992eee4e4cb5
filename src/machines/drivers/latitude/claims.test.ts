/** Which server is whose at a cloud that keeps no marks on servers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Claims } from "./claims.ts";
import { type Mark, markText } from "./mark.ts";
import type { WireServer } from "./wire.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
const mark = (
  id: string,
  { hostname = `host-${id}`, age = 0, updated = age }: { hostname?: string; age?: number; updated?: number } = {},
): Mark => ({
  ...{ id, claim: `claim-${id}`, hostname },
  ...{ createdAt: START - age, updatedAt: START - updated },
});
const server = (id: string, hostname: string, createdAt = START): WireServer =>
  ({ id, attributes: { hostname, created_at: new Date(createdAt).toISOString() } }) as unknown as WireServer;

/** `shown`: the user data that the provider shows of a server, by its id; "" for none, and a server without an entry is not known to it. */
function account(shown: Readonly<Record<string, string>> = {}) {
  const asked: string[] = [];
  const data: Mark[] = [];
  const clock = new VirtualClock(START);
  const client = {
    async deployConfig(id: string) {
      asked.push(`config ${id}`);
      const found = shown[id];
      if (found === undefined) throw new Fault("NotFound", id, "there is none");
      return { user_data: found };
    },
    async deleteUserData(id: string) {
      asked.push(`delete ${id}`);
      if (id === "gone") throw new Fault("NotFound", id, "there is none");
      if (id === "refused") throw new Fault("Forbidden", id, "no");
    },
    async userData() {
      asked.push("scan");
      return [
        ...data.map((one) => ({
          id: one.id,
          attributes: {
            description: markText(one.claim, one.hostname),
            created_at: new Date(one.createdAt).toISOString(),
          },
        })),
        { id: "theirs", attributes: { description: "a note" } },
      ];
    },
  };
  return { asked, data, clock, claims: new Claims(client as never, clock) };
}

test("a server belongs to the claim whose data it names, and is asked about once", async () => {
  const { claims, asked } = account({ s: "b" });
  const marks = [mark("a", { hostname: "w1" }), mark("b", { hostname: "w1" })];
  assert.equal((await claims.markOf(server("s", "w1"), marks))?.id, "b");
  assert.equal((await claims.markOf(server("s", "w1"), marks))?.id, "b");
  assert.deepEqual([asked, claims.known("s")?.id], [["config s"], "b"]);
});

test("a server that names other data is nobody's, also where its hostname is a mark's, and is not asked about again", async () => {
  const { claims, asked } = account({ s: "theirs" });
  const marks = [mark("a", { hostname: "w1" })];
  assert.equal(await claims.markOf(server("s", "w1"), marks), undefined);
  assert.equal(await claims.markOf(server("s", "w1"), marks), undefined);
  assert.deepEqual(asked, ["config s"]);
});

for (const [what, shown] of [
  ["shows none", { s: "" }],
  ["does not know the server yet", {}],
] as const)
  test(`where the provider ${what}, the hostname decides, for a server that is no older than the mark`, async () => {
    const of = async (age: number, hostname = "w1") => {
      const { claims, asked } = account(shown);
      const found = async () =>
        (await claims.markOf(server("s", hostname, START - age), [mark("a", { hostname: "w1" })]))?.id;
      return [await found(), await found(), asked.length];
    };
    assert.deepEqual(await of(0), ["a", "a", 1]);
    assert.deepEqual(await of(1_000), ["a", "a", 1], "times of the provider are whole seconds");
    // An older server of the name is not the one that was ordered; its data may be shown later.
    assert.deepEqual(await of(1_001), [undefined, undefined, 2]);
    assert.deepEqual(await of(0, "other"), [undefined, undefined, 1]);
  });

test("without any mark nothing is asked", async () => {
  const { claims, asked } = account({ s: "a" });
  assert.equal(await claims.markOf(server("s", "w1"), []), undefined);
  assert.deepEqual(asked, []);
});

test("a mark that was made for an order is used by the next try of the same claim and name, until a server has it", () => {
  const { claims } = account();
  const one = mark("a", { hostname: "w1" });
  claims.keep(one);
  assert.deepEqual(
    [claims.unused("claim-a", "w1"), claims.unused("claim-a", "w2"), claims.unused("x", "w1")],
    [...[one, undefined, undefined]],
  );
  claims.bind("s", mark("b"));
  assert.equal(claims.unused("claim-a", "w1"), one);
  claims.bind("s", one);
  assert.equal(claims.unused("claim-a", "w1"), undefined);
});

test("calls of one moment share a scan that began after each of them, and what is no mark is passed over", async () => {
  const { claims, asked, data } = account();
  data.push(mark("a"));
  const [one, other] = [claims.marks("p"), claims.marks("p")];
  assert.equal(one, other);
  assert.deepEqual(
    (await one).map(({ id, claim, hostname }) => [id, claim, hostname]),
    [["a", "claim-a", "host-a"]],
  );
  assert.deepEqual(asked, ["scan"]);
  const running = claims.marks("p");
  data.push(mark("b"));
  await running;
  assert.equal((await claims.marks("p")).length, 2);
});

test("a mark without a server goes after an hour, when it was seen so for ten minutes; nothing else goes", async () => {
  const { claims, asked, clock } = account();
  const old = mark("old", { age: 61 * MINUTE });
  const marks = [
    ...[old, mark("young", { age: 40 * MINUTE }), mark("touched", { age: 99 * MINUTE, updated: 9 * MINUTE })],
    ...[mark("used", { age: 99 * MINUTE }), mark("kept", { age: 99 * MINUTE }), mark("named", { age: 99 * MINUTE })],
  ];
  claims.keep(marks[4]!);
  claims.bind("s", marks[3]!);
  const servers = [server("s", "renamed"), server("t", "host-named")];
  await claims.sweep(servers, marks);
  await clock.run(10 * MINUTE - 1);
  await claims.sweep(servers, marks);
  assert.deepEqual(asked, []);
  await clock.run(1);
  await claims.sweep(servers, marks);
  assert.deepEqual(asked, ["delete old"]);
});

test("a mark that has a server for a moment begins anew, and a sweep removes five at most", async () => {
  const { claims, asked, clock } = account();
  const marks = Array.from({ length: 7 }, (_, n) => mark(`m${n}`, { age: 99 * MINUTE }));
  await claims.sweep([], marks);
  await clock.run(9 * MINUTE);
  await claims.sweep([server("s", "host-m0")], marks);
  await clock.run(MINUTE);
  await claims.sweep([], marks);
  assert.deepEqual(
    asked,
    ["m1", "m2", "m3", "m4", "m5"].map((id) => `delete ${id}`),
  );
});

test("a server that is gone is forgotten", async () => {
  const { claims } = account();
  claims.bind("s", mark("a"));
  await claims.sweep([], []);
  assert.equal(claims.known("s"), undefined);
});

test("a mark that is gone already is dropped without a fault, and is not used for another order", async () => {
  const { claims } = account();
  claims.keep(mark("gone"));
  await claims.drop("gone");
  assert.equal(claims.unused("claim-gone", "host-gone"), undefined);
  await assert.rejects(claims.drop("refused"), { code: "Forbidden" });
});

test("many servers are learned at once, those that are known without a question", async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `s${n}`);
  const { claims, asked } = account(Object.fromEntries(ids.map((id) => [id, `m-${id}`])));
  claims.bind("s3", mark("m-s3"));
  await claims.learn(
    ids.map((id) => server(id, id)),
    ids.map((id) => mark(`m-${id}`)),
  );
  assert.deepEqual(
    ids.map((id) => claims.known(id)?.id),
    ids.map((id) => `m-${id}`),
  );
  assert.equal(asked.length, 19);
});
