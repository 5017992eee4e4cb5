import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock, isFault, type Log, quietLog } from "@slipway/base";
import { openDatastore } from "../open.ts";
import { EtcdClient } from "./client.ts";
import { EtcdDatastore } from "./etcd.ts";
import { EtcdStandIn, type Refusal } from "./testing.ts";

const { signal } = new AbortController();
const place = { schema: "team_a", user: "ann" };
const OURS = [{ kind: 2, key: "/team_a/", end: "/team_a0" }];

async function rig(t: TestContext, { log = quietLog, password }: { log?: Log; password?: string } = {}) {
  const etcd = await new EtcdStandIn().listen();
  etcd.password = password;
  const basicAuth = password === undefined ? {} : { basicAuth: { username: "root", password: "secret" } };
  const options = { driver: "etcd" as const, endpoints: [etcd.endpoint], clock, log, ...basicAuth };
  const store = new EtcdDatastore(options);
  t.after(async () => {
    await store.close();
    etcd.close();
  });
  return { etcd, store, options };
}

test("B18 a place in etcd is a role that may use its keys alone, and a user who has that role; a second time nothing is written", async (t) => {
  const { etcd, store } = await rig(t);
  await store.ensure(place, signal);
  assert.deepEqual([...etcd.roles], [["team_a", OURS]]);
  assert.deepEqual([...etcd.users], [["ann", ["team_a"]]]);
  const made = ["RoleAdd", "RoleGrantPermission", "UserAdd", "UserGrantRole"];
  assert.deepEqual(etcd.asked.splice(0), ["RoleGet", "Range", "UserGet", ...made]);
  await store.ensure(place, signal);
  assert.deepEqual(etcd.asked, ["RoleGet", "UserGet"]);
});

test("what a death left half-made in etcd is finished", async (t) => {
  const { etcd, store } = await rig(t);
  etcd.roles.set("team_a", []);
  etcd.keys.set("/team_a/x", { value: "1", lease: 0n });
  await store.ensure(place, signal);
  assert.deepEqual(etcd.roles.get("team_a"), OURS);
  etcd.users.set("ann", []);
  await store.ensure(place, signal);
  assert.deepEqual(etcd.users.get("ann"), ["team_a"]);
});

test("B28 what is no tenant's in etcd is refused with what it is, and stays as it is", async (t) => {
  const { etcd, store } = await rig(t);
  const remedy = "set another dataStoreSchema and dataStoreUsername, or remove it from etcd";
  const refused = async (message: string): Promise<void> => {
    await assert.rejects(store.ensure(place, signal), { code: "AlreadyExists", message, remedy });
    assert.ok(!etcd.asked.splice(0).some((method) => /Add|Grant/.test(method)));
  };
  etcd.keys.set("/team_a/x", { value: "1", lease: 0n });
  await refused("etcd: keys below /team_a/: they are there, and no role says that they are a tenant's");
  for (const foreign of [
    [{ kind: 0, key: "/team_a/", end: "/team_a0" }],
    [{ kind: 2, key: "/", end: "/team_a0" }],
    [{ kind: 2, key: "/team_a/", end: "/team_b0" }],
    [...OURS, { kind: 2, key: "/other/", end: "/other0" }],
  ]) {
    etcd.roles.set("team_a", foreign);
    await refused("etcd: role team_a: it has other rights than on /team_a/");
  }
  etcd.roles.set("team_a", [...OURS]);
  etcd.users.set("ann", ["team_a", "admin"]);
  await refused("etcd: user ann: it has the role admin");
  await assert.rejects(store.ensure({ schema: "root", user: "ann" }, signal), { code: "Invalid" });
});

test("a place is removed from etcd with its keys, and a second time there is nothing to remove", async (t) => {
  const { etcd, store } = await rig(t);
  await store.ensure(place, signal);
  for (const key of ["/team_a/x", "/team_a0", "/team_b/x"]) etcd.keys.set(key, { value: "1", lease: 0n });
  assert.deepEqual(await store.remove(place, signal), []);
  assert.deepEqual([[...etcd.keys.keys()], etcd.roles.size, etcd.users.size], [["/team_a0", "/team_b/x"], 0, 0]);
  assert.deepEqual(await store.remove(place, signal), []);
});

test("what is not a tenant's is left in etcd, and named", async (t) => {
  const key = "/team_a/x";
  const left = async (of: { role?: typeof OURS; user?: string[]; keys?: boolean }) => {
    const { etcd, store } = await rig(t);
    if (of.role !== undefined) etcd.roles.set("team_a", of.role);
    if (of.user !== undefined) etcd.users.set("ann", of.user);
    if (of.keys !== false) etcd.keys.set(key, { value: "1", lease: 0n });
    const told = await store.remove(place, signal);
    return { told, still: [etcd.roles.has("team_a"), etcd.users.has("ann"), etcd.keys.has(key)] };
  };
  const noRole = "keys below /team_a/: no role says that they are a tenant's";
  assert.deepEqual(await left({}), { told: [noRole], still: [false, false, true] });
  assert.deepEqual(await left({ keys: false }), { told: [], still: [false, false, false] });
  assert.deepEqual(
    await left({ user: [] }),
    { told: [], still: [false, false, false] },
    "the user says whose they are",
  );
  assert.deepEqual(await left({ user: ["team_a"] }), { told: [], still: [false, false, false] });
  assert.deepEqual(await left({ role: [], user: ["team_a"] }), { told: [], still: [false, false, false] });
  assert.deepEqual(await left({ role: OURS, user: ["team_a", "admin"] }), {
    told: ["user ann: it has other roles than team_a"],
    still: [false, true, false],
  });
  assert.deepEqual(await left({ role: [{ kind: 2, key: "/", end: "0" }], user: ["team_a"] }), {
    told: ["role team_a: it has other rights than on /team_a/", noRole],
    still: [true, false, true],
  });
});

test("places in etcd are roles of our shape, sorted; neither root nor a foreign role is one", async (t) => {
  const { etcd, store } = await rig(t);
  for (const schema of ["b", "a"]) await store.ensure({ schema, user: schema }, signal);
  etcd.roles.set("root", []).set("bare", []).set("foreign", OURS);
  assert.deepEqual(await store.places(signal), ["a", "b"]);
});

test("each refusal of etcd within a place's life is passed on", async (t) => {
  const { etcd, store } = await rig(t);
  const away: Refusal = [14, "etcdserver: no leader"];
  const refusedAt = async (methods: string[], work: () => Promise<unknown>, before = async () => {}): Promise<void> => {
    for (const method of methods) {
      for (const map of [etcd.roles, etcd.users, etcd.keys]) map.clear();
      await before();
      etcd.refusals.set(method, away);
      await assert.rejects(work(), (error) => isFault(error, "Unavailable"), method);
      etcd.refusals.delete(method);
    }
  };
  const looks = ["RoleGet", "Range", "UserGet"];
  const ensure = () => store.ensure(place, signal);
  await refusedAt([...looks, "RoleAdd", "RoleGrantPermission", "UserAdd", "UserGrantRole"], ensure);
  const remove = () => store.remove(place, signal);
  await refusedAt(["RoleGet", "UserGet", "DeleteRange", "UserDelete", "RoleDelete"], remove, ensure);
  await refusedAt(["Range"], remove);
  await refusedAt(["RoleList", "RoleGet"], () => store.places(signal), ensure);
  await refusedAt(["UserList", "AuthStatus"], () => store.check(signal));
  await refusedAt(["Range"], () => store.count(place, signal));
  await refusedAt(["AuthEnable"], () => store.client.enableAuth(signal));
});

test("who makes the same at once does no harm: what is there already is taken as made, what is gone as removed", async (t) => {
  const { etcd, store } = await rig(t);
  etcd.refusals.set("UserAdd", [9, "etcdserver: user name already exists"]);
  etcd.refusals.set("RoleAdd", [9, "etcdserver: role name already exists"]);
  etcd.users.set("other", []);
  etcd.roles.set("team_a", []);
  await store.client.addUser("ann", signal);
  await store.ensure({ ...place, user: "other" }, signal);
  etcd.refusals.set("UserDelete", [9, "etcdserver: user name not found"]);
  etcd.refusals.set("RoleDelete", [9, "etcdserver: role name not found"]);
  assert.deepEqual(await store.remove({ ...place, user: "other" }, signal), []);
});

test("keys are copied to the same place of another etcd, and counted; another driver's datastore is refused", async (t) => {
  const [from, to] = [await rig(t), await rig(t)];
  for (const [key, lease] of [
    ["/team_a/a", 0n],
    ["/team_a/b", 5n],
    ["/team_b/a", 0n],
  ] as const)
    from.etcd.keys.set(key, { value: key, lease });
  from.etcd.leases.set(5n, 30n);
  const progress: number[] = [];
  await from.store.copy(place, to.store, (done) => progress.push(done), signal);
  assert.deepEqual(
    [...to.etcd.keys].map(([key, { value, lease }]) => [key, value, lease]),
    [
      ["/team_a/a", "/team_a/a", 0n],
      ["/team_a/b", "/team_a/b", 1n],
    ],
  );
  assert.deepEqual([to.etcd.leases.get(1n), progress.at(-1)], [30n, 2]);
  assert.equal(await from.store.count(place, signal), 1, "without the one that ends by itself");
  const other = await openDatastore({ ...from.options, driver: "NATS" });
  await assert.rejects(
    from.store.copy(place, other, () => {}, signal),
    /etcd's keys can't be copied to NATS/,
  );
  for (const use of [
    () => from.store.count({ ...place, schema: "a/b" }, signal),
    () => from.store.remove({ ...place, schema: "a/b" }, signal),
    () => from.store.copy({ ...place, schema: "a/b" }, to.store, () => {}, signal),
  ])
    await assert.rejects(use(), { code: "Invalid" });
});

test("an etcd that asks nobody who one is is warned of once, and again after it did", async (t) => {
  const warned: string[] = [];
  const log = { ...quietLog, warn: (_: object, text: string) => void warned.push(text) } as unknown as Log;
  const { etcd, store } = await rig(t, { log });
  for (const authEnabled of [true, false, false, true, false]) {
    etcd.authEnabled = authEnabled;
    await store.check(signal);
  }
  assert.deepEqual(warned, Array(2).fill("etcd's authentication is off: tenants' certificates open every place"));
});

test("a password is asked for once; a token that has ended is replaced, and one that does not last is a refusal", async (t) => {
  const { etcd, store } = await rig(t, { password: "secret" });
  await store.check(signal);
  assert.deepEqual(etcd.asked.splice(0), ["Authenticate", "UserList", "AuthStatus"]);
  etcd.token++;
  await store.client.users(signal);
  assert.deepEqual(etcd.asked.splice(0), ["UserList", "Authenticate", "UserList"]);
  etcd.refusals.set("UserList", [16, "etcdserver: invalid auth token"]);
  await assert.rejects(store.client.users(signal), { code: "BadCredentials" });
  assert.deepEqual(etcd.asked.splice(0), ["UserList", "Authenticate", "UserList"]);
  etcd.refusals.clear();
  etcd.token++;
  etcd.password = "another";
  await assert.rejects(store.client.users(signal), {
    code: "BadCredentials",
    remedy: "give the DataStore the certificate or password of a user with the role root",
  });
});

test("what etcd refuses says what to do", async (t) => {
  const { etcd, store } = await rig(t);
  const root = "give the DataStore the certificate or password of a user with the role root";
  const table: [Refusal, string, string | undefined][] = [
    [
      [8, "etcdserver: mvcc: database space exceeded"],
      "NoCapacity",
      "compact and defragment etcd or raise its quota, then disarm the alarm NOSPACE",
    ],
    [[3, "etcdserver: authentication failed, invalid user ID or password"], "BadCredentials", root],
    [[3, "etcdserver: user name is empty"], "BadCredentials", root],
    [[2, "etcdserver: invalid auth token"], "BadCredentials", root],
    [[7, "etcdserver: permission denied"], "BadCredentials", root],
    [[16, "who are you"], "BadCredentials", root],
    [
      [9, "etcdserver: authentication is not enabled"],
      "Invalid",
      "remove spec.basicAuth of the DataStore, or enable etcd's authentication",
    ],
    [[9, "etcdserver: role name not found"], "NotFound", undefined],
    [[9, "etcdserver: role name already exists"], "AlreadyExists", undefined],
    [[9, "etcdserver: something else"], "Internal", undefined],
    [[5, "not found"], "Internal", undefined],
    [[8, "etcdserver: too many requests"], "Throttled", undefined],
    [[14, "etcdserver: no leader"], "Unavailable", "look at the health of etcd's members; it is tried again"],
    [[3, "etcdserver: key is not provided"], "Invalid", undefined],
    [[2, "unknown"], "Internal", undefined],
  ];
  for (const [refusal, code, remedy] of table) {
    etcd.refusals.set("UserList", refusal);
    await assert.rejects(store.client.users(signal), (error) => {
      assert.ok(isFault(error), refusal[1]);
      assert.deepEqual([error.code, error.remedy], [code, remedy], refusal[1]);
      assert.equal(error.message, `etcd ${etcd.endpoint}: ${refusal[1]}`);
      return true;
    });
  }
});

test("a page of keys has its values, its leases, its revision and whether there are more", async (t) => {
  const { etcd, options } = await rig(t);
  const client = new EtcdClient(options);
  t.after(() => client.close());
  for (const key of ["/a/1", "/a/2", "/a/3"]) etcd.keys.set(key, { value: `value of ${key}`, lease: 0n });
  etcd.keys.set("/a/1", { value: "one", lease: 9n });
  const query = { key: "/a/", end: "/a0", limit: 2, revision: 0n };
  const { kvs, more, revision } = await client.range(query, signal);
  const texts = kvs.map(({ key, value, lease }) => [Buffer.from(key).toString(), Buffer.from(value).toString(), lease]);
  assert.deepEqual(
    [texts, more, revision],
    [
      [
        ["/a/1", "one", 9n],
        ["/a/2", "value of /a/2", 0n],
      ],
      true,
      7n,
    ],
  );
  const keys = await client.range({ ...query, limit: 3, keysOnly: true }, signal);
  assert.deepEqual([keys.kvs.length, keys.kvs[0]!.value.length, keys.more], [3, 0, false]);
  etcd.users.set("ann", []).set("bob", []);
  assert.deepEqual(await client.users(signal), ["ann", "bob"]);
  assert.deepEqual(await client.permissions("nobody", signal), undefined);
  assert.deepEqual(await client.userRoles("nobody", signal), undefined);
});
