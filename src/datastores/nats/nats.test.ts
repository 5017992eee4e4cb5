import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock, isFault, quietLog as log } from "@slipway/base";
import { openDatastore } from "../open.ts";
import { NatsDatastore } from "./nats.ts";
import { NatsStandIn, type Responder } from "./testing.ts";

const { signal } = new AbortController();
const place = { schema: "team_a", user: "" };
const MISSING = { error: { code: 404, err_code: 10059, description: "stream not found" } };
const AWAY = { error: { code: 503, description: "no quorum" } };
const BUCKET = {
  ...{ name: "KV_team_a", description: "Holds kine key/values", subjects: ["$KV.team_a.>"], storage: "file" },
  ...{ retention: "limits", max_msgs_per_subject: 10, max_bytes: -1, max_age: 0, max_msg_size: -1, max_msgs: -1 },
  ...{ max_consumers: -1, num_replicas: 1, discard: "new", duplicate_window: 120_000_000_000 },
  ...{ deny_delete: true, allow_rollup_hdrs: true, allow_direct: true },
};
const bucketOf = (name: string, description = "Holds kine key/values", messages = 3) => ({
  config: { name: `KV_${name}`, description },
  state: { messages },
});

/** Answers of JetStream by the subject's first two words. */
const table =
  (answers: Record<string, object | undefined>): Responder =>
  (subject) =>
    answers[subject.split(".").slice(0, 2).join(".")];

async function rig(t: TestContext, answers: Record<string, object | undefined> | Responder = {}) {
  const server = await new NatsStandIn(typeof answers === "function" ? answers : table(answers)).listen();
  t.after(() => server.close());
  const basicAuth = { username: "kine", password: "secret" };
  const options = { driver: "NATS" as const, endpoints: [server.endpoint], basicAuth, clock, log };
  return { server, options, store: new NatsDatastore(options), asked: () => server.asked.splice(0) };
}

test("B18 a place in NATS is a bucket as kine's own client makes it; one that is there is left as it is", async (t) => {
  const { server, store, asked } = await rig(t, { "STREAM.INFO": MISSING, "STREAM.CREATE": {} });
  await store.ensure(place, signal);
  const [info, create] = asked();
  assert.equal(info, "STREAM.INFO.KV_team_a {}");
  assert.ok(create!.startsWith("STREAM.CREATE.KV_team_a "));
  assert.deepEqual(JSON.parse(create!.slice(create!.indexOf("{"))), BUCKET);
  server.respond = table({ "STREAM.INFO": bucketOf("team_a") });
  await store.ensure(place, signal);
  assert.deepEqual(asked(), [info]);
  assert.equal(server.users[0], "kine");
});

test("B28 a bucket that is no tenant's is refused, and stays when the place is removed", async (t) => {
  const { store, asked } = await rig(t, { "STREAM.INFO": bucketOf("team_a", "mine") });
  await assert.rejects(store.ensure(place, signal), {
    code: "AlreadyExists",
    message: "NATS: bucket team_a: it is there, and not as a tenant's",
    remedy: "set another dataStoreSchema, or remove the bucket",
  });
  assert.deepEqual(await store.remove(place, signal), ["bucket team_a: its description is not kine's"]);
  assert.ok(asked().every((each) => each.startsWith("STREAM.INFO")));
});

test("a place is removed from NATS, also where somebody else does it at the same moment", async (t) => {
  const { server, store, asked } = await rig(t, { "STREAM.INFO": MISSING });
  assert.deepEqual(await store.remove(place, signal), []);
  assert.equal(asked().length, 1);
  for (const answer of [{ success: true }, MISSING]) {
    server.respond = table({ "STREAM.INFO": bucketOf("team_a"), "STREAM.DELETE": answer });
    assert.deepEqual(await store.remove(place, signal), []);
    assert.equal(asked().at(-1), "STREAM.DELETE.KV_team_a {}");
  }
});

test("places in NATS are kine's buckets of all pages, sorted", async (t) => {
  const buckets = [
    bucketOf("c"),
    bucketOf("b", "mine"),
    bucketOf("a"),
    { ...bucketOf("x"), config: { name: "EVENTS" } },
  ];
  const { server, store, asked } = await rig(t, (_, payload) => {
    const { offset } = JSON.parse(payload) as { offset: number };
    return { total: 4, offset, streams: buckets.slice(offset, offset + 3) };
  });
  assert.deepEqual(await store.places(signal), ["a", "c"]);
  assert.deepEqual(asked(), ['STREAM.LIST {"offset":0}', 'STREAM.LIST {"offset":3}']);
  server.respond = () => ({ total: 9 });
  assert.deepEqual(await store.places(signal), [], "a list that ends early is not asked for again and again");
  assert.equal(asked().length, 1);
});

test("a bucket's messages are counted; where there is none there are none", async (t) => {
  const { server, store } = await rig(t, { "STREAM.INFO": bucketOf("team_a") });
  assert.equal(await store.count(place, signal), 3);
  server.respond = table({ "STREAM.INFO": MISSING });
  assert.equal(await store.count(place, signal), 0);
  const wrong = { ...place, schema: "a.b" };
  for (const use of [
    () => store.ensure(wrong, signal),
    () => store.remove(wrong, signal),
    () => store.count(wrong, signal),
    () => store.copy(wrong, store, () => {}, signal),
  ])
    await assert.rejects(use(), { code: "Invalid" });
});

test("each refusal of JetStream within a place's life is passed on", async (t) => {
  const { server, store } = await rig(t);
  const works: [Record<string, object | undefined>, () => Promise<unknown>][] = [
    [{ INFO: AWAY }, () => store.check(signal)],
    [{ "STREAM.INFO": AWAY }, () => store.ensure(place, signal)],
    [{ "STREAM.INFO": MISSING, "STREAM.CREATE": AWAY }, () => store.ensure(place, signal)],
    [{ "STREAM.INFO": AWAY }, () => store.remove(place, signal)],
    [{ "STREAM.INFO": bucketOf("team_a"), "STREAM.DELETE": AWAY }, () => store.remove(place, signal)],
    [{ "STREAM.LIST": AWAY }, () => store.places(signal)],
    [{ "STREAM.INFO": AWAY }, () => store.count(place, signal)],
  ];
  for (const [answers, work] of works) {
    server.respond = table(answers);
    await assert.rejects(work(), (error) => isFault(error, "Unavailable"), JSON.stringify(answers));
  }
  server.respond = () => undefined;
  await assert.rejects(store.check(signal), { code: "Unsupported", remedy: "enable JetStream at the server" });
});

/** A source of which a backup comes in these chunks, each when the last was taken; `end`: the status line of the last message. */
function source(
  chunks: string[],
  { messages = 10, bytes = 20, end }: { messages?: number; bytes?: number; end?: string } = {},
) {
  const left = [...chunks];
  let inbox = "";
  return (subject: string, payload: string, server: NatsStandIn): object | string | undefined => {
    const next = (): void => {
      const chunk = left.shift();
      if (chunk !== undefined) server.publish(inbox, chunk, { reply: "acks" });
      else server.publish(inbox, "", end === undefined ? {} : { head: end });
    };
    if (subject.startsWith("STREAM.SNAPSHOT")) {
      inbox = (JSON.parse(payload) as { deliver_subject: string }).deliver_subject;
      setImmediate(next);
      return { config: BUCKET, state: { messages, bytes } };
    }
    if (subject === "acks") next();
    return undefined;
  };
}

/** A target with so much room; what it takes is in `taken`. */
function target(of: { info?: object; room?: number; refusal?: object; last?: object } = {}) {
  const taken: string[] = [];
  const respond: Responder = (subject, payload) => {
    if (subject.startsWith("STREAM.INFO")) return of.info ?? MISSING;
    if (subject === "INFO") return { storage: 100, limits: { max_storage: of.room ?? -1 } };
    if (subject.startsWith("STREAM.RESTORE")) return { deliver_subject: "restore.here" };
    if (subject !== "restore.here") return { success: true };
    taken.push(payload);
    if (payload === "") return of.last ?? { stream: "KV_team_a" };
    return of.refusal ?? "";
  };
  return { respond, taken };
}

test("a bucket is copied by its server's own backup, chunk by chunk, and its progress reported", async (t) => {
  const to = target();
  const [from, other] = [await rig(t, source(["12345", "67890"])), await rig(t, to.respond)];
  const progress: number[] = [];
  await from.store.copy(place, other.store, (done) => progress.push(done), signal);
  assert.deepEqual(to.taken, ["12345", "67890", ""]);
  assert.deepEqual(progress, [2, 5, 10]);
  const [snapshot, ...acks] = from.asked();
  assert.match(
    snapshot!,
    /^STREAM.SNAPSHOT.KV_team_a \{"deliver_subject":"_INBOX.slipway.5.KV_team_a","no_consumers":true,"chunk_size":131072\}$/,
  );
  assert.deepEqual(acks, ["acks", "acks"]);
  const state = { messages: 10, bytes: 20 };
  assert.equal(other.asked()[2], `STREAM.RESTORE.KV_team_a ${JSON.stringify({ config: BUCKET, state })}`);
});

test("an empty bucket's progress ends at nothing, one that is larger than it said at all it has", async (t) => {
  const progress = async (of: Parameters<typeof source>): Promise<number[]> => {
    const [from, other] = [await rig(t, source(...of)), await rig(t, target().respond)];
    const seen: number[] = [];
    await from.store.copy(place, other.store, (done) => seen.push(done), signal);
    return seen;
  };
  assert.deepEqual(await progress([["12345"], { messages: 0, bytes: 0 }]), [0, 0]);
  assert.deepEqual(await progress([["1234567890"], { messages: 3, bytes: 5 }]), [3, 3]);
});

test("a bucket that is empty gives way to a copy; one with keys does not", async (t) => {
  const from = await rig(t, source(["1"]));
  const empty = await rig(t, target({ info: bucketOf("team_a", undefined, 0) }).respond);
  await from.store.copy(place, empty.store, () => {}, signal);
  assert.ok(empty.asked().includes("STREAM.DELETE.KV_team_a {}"));
  const full = await rig(t, target({ info: bucketOf("team_a") }).respond);
  await assert.rejects(
    (await rig(t, source([]))).store.copy(place, full.store, () => {}, signal),
    {
      code: "Conflict",
      remedy: "remove the place there first",
    },
  );
  assert.ok(!full.asked().some((each) => /DELETE|RESTORE/.test(each)));
  const etcd = await openDatastore({ ...from.options, driver: "etcd" });
  await assert.rejects(
    from.store.copy(place, etcd, () => {}, signal),
    /can't be copied to etcd/,
  );
  await etcd.close();
});

test("a copy that does not fit the target's account is refused before anything is written", async (t) => {
  const copy = async (room: number): Promise<string[]> => {
    const [from, other] = [await rig(t, source(["1"])), await rig(t, target({ room }).respond)];
    await from.store.copy(place, other.store, () => {}, signal);
    return other.asked();
  };
  for (const room of [0 - 1, 120, 500]) assert.ok((await copy(room)).length > 3);
  await assert.rejects(copy(119), {
    code: "NoCapacity",
    message: "KV_team_a: it has 20 bytes, and the account has 19 left",
    remedy: "raise the account's limits for JetStream",
  });
  await assert.rejects(copy(0), { code: "NoCapacity" });
});

test("a backup that breaks off, and a chunk or a restore that the target refuses, end the copy", async (t) => {
  const copy = async (from: Parameters<typeof source>, to: Parameters<typeof target>[0] = {}): Promise<void> => {
    const [one, other] = [await rig(t, source(...from)), await rig(t, target(to).respond)];
    await one.store.copy(place, other.store, () => {}, signal);
  };
  await assert.rejects(copy([["1"], { end: "408 Request Timeout" }]), {
    code: "Unavailable",
    message: "KV_team_a: its backup broke off (Request Timeout)",
  });
  await assert.rejects(copy([["1"]], { refusal: AWAY }), { code: "Unavailable" });
  await assert.rejects(copy([["1"]], { last: AWAY }), { code: "Unavailable" });
  await copy([["1"], { end: "200 OK" }]);
});

test("B24 a server that is not there is unavailable; the next endpoint is tried", async (t) => {
  const { server, options } = await rig(t, { INFO: {} });
  const nowhere = new NatsDatastore({ ...options, endpoints: ["127.0.0.1:1"] });
  await assert.rejects(nowhere.check(signal), { code: "Unavailable", message: /ECONNREFUSED/ });
  await new NatsDatastore({ ...options, endpoints: ["127.0.0.1:1", server.endpoint] }).check(signal);
});
