import assert from "node:assert/strict";
import { test } from "node:test";
import { metalClient, PAGE_SIZE } from "./client.ts";
import type { Session } from "./session.ts";
import type { WireDevice } from "./wire.ts";

const read = ({ id }: WireDevice): string => id;

/** An API whose list is what `at(n)` says at the n-th request. */
function listing(at: (request: number) => string[], pageSize: number): { session: Session; requests: () => number } {
  let requests = 0;
  const session: Session = async ({ query }) => {
    const all = at(++requests);
    const page = Number(query?.page);
    const devices = all.slice((page - 1) * pageSize, page * pageSize).map((id) => ({ id }));
    const lastPage = Math.max(1, Math.ceil(all.length / pageSize));
    return { devices, meta: { total: all.length, current_page: page, last_page: lastPage } };
  };
  return { session, requests: () => requests };
}

test("a list has every page, one request each", async () => {
  const { session, requests } = listing(() => ["a", "b", "c", "d", "e"], 2);
  const devices = await metalClient(session).devices("p", { read });
  assert.deepEqual([devices.join(""), requests()], ["abcde", 3]);
});

test("a page is read before the next is asked for", async () => {
  const { session, requests } = listing(() => ["a", "b", "c", "d"], 2);
  const at = await metalClient(session).devices("p", { read: ({ id }) => `${id}${requests()}` });
  assert.deepEqual(at, ["a1", "b1", "c2", "d2"]);
});

test("a device that a shifting page hid is not reported as gone", async () => {
  // `a` is deleted after the first page, so `c` moves to the page that was already read.
  const { session } = listing((n) => (n === 1 ? ["a", "b", "c", "d"] : ["b", "c", "d"]), 2);
  const devices = await metalClient(session).devices("p", { read });
  assert.deepEqual(devices.join(""), "bcd");
});

test("a list that never stands still is handed out after three attempts, each device once", async () => {
  const { session, requests } = listing((n) => ["a", "b", "c", ...Array<string>(n).fill("x")].slice(0, 3 + (n % 2)), 2);
  const devices = await metalClient(session).devices("p", { read });
  assert.deepEqual([devices.join(""), requests()], ["abc", 6]);
});

test("a page asks for as many devices as the budget counts per call", async () => {
  const seen: unknown[] = [];
  const session: Session = async (call) => {
    seen.push(call.query?.per_page, call.query?.tag);
    return { devices: [] };
  };
  await metalClient(session).devices("p", { tag: "t", read });
  assert.deepEqual(seen, [PAGE_SIZE, "t"]);
});

test("an answer that is not of the document's form is a fault, not a machine", async () => {
  const answering = (body: unknown) => metalClient(async () => body);
  await assert.rejects(answering({}).devices("p", { read }), { code: "Unavailable" });
  await assert.rejects(answering({ devices: [{}] }).devices("p", { read }), { code: "Unavailable" });
  await assert.rejects(answering(undefined).device("1"), { code: "Unavailable" });
  const order = { metro: "sg", plan: "p", operating_system: "o", hostname: "h", tags: [] };
  await assert.rejects(answering({}).createDevice("p", order), { code: "LostAnswer" });
});

test("an id can't leave its place in the path", async () => {
  let path = "";
  const session: Session = async (call) => {
    path = call.path;
    return { id: "1" };
  };
  await metalClient(session).device("../projects/x?");
  assert.equal(path, "/devices/..%2Fprojects%2Fx%3F");
});
