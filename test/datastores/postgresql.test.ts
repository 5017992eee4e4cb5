import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { promises } from "./promises.ts";
import { administer, NEEDS, postgresql } from "./servers/postgresql.ts";
import { skipWithout } from "./servers/programs.ts";
import { opened, PATIENT, place } from "./servers/stage.ts";

const skip = skipWithout(NEEDS, "Debian's package postgresql");
promises(postgresql, skip);

test("PostgreSQL: B28 what is no tenant's is neither taken over nor removed", { skip }, async (t) => {
  const server = await postgresql.start(t);
  const datastore = await opened(t, server);
  const own = place("tenant_one");
  await datastore.ensure(own, PATIENT);
  await administer(server, "CREATE DATABASE billing");
  await administer(server, "CREATE ROLE clerk LOGIN PASSWORD 'its own'");
  await administer(server, "CREATE ROLE chief SUPERUSER LOGIN");
  await administer(server, "CREATE ROLE shop LOGIN");
  await administer(server, "CREATE DATABASE shop OWNER shop");
  await administer(server, "CREATE TABLE orders (id int)", "shop");
  const before = await server.contents();
  const refused = [
    { ...own, schema: "billing" },
    { ...own, schema: "billing", user: "clerk" },
    { ...own, schema: "new", user: "clerk" },
    { ...own, schema: "billing", user: "chief" },
    { ...own, schema: "tenant_one", user: "someone" },
    { ...own, schema: "new" },
    { ...own, schema: "shop", user: "shop" },
  ];
  for (const foreign of refused) {
    await assert.rejects(datastore.ensure(foreign, PATIENT), (error) => isFault(error, "AlreadyExists"), foreign.user);
    assert.ok((await datastore.remove(foreign, PATIENT)).length > 0, JSON.stringify(foreign));
    assert.deepEqual(await server.contents(), before, JSON.stringify(foreign));
  }
  assert.deepEqual(await datastore.places(PATIENT), ["tenant_one"]);
});

test("PostgreSQL: B51 a tenant that another operator made is taken over and removed with the rest", {
  skip,
}, async (t) => {
  const server = await postgresql.start(t);
  const datastore = await opened(t, server);
  const before = await server.contents();
  await administer(server, "CREATE ROLE old LOGIN");
  await administer(server, "CREATE DATABASE old OWNER old");
  await datastore.ensure(place("old"), PATIENT);
  assert.deepEqual(await datastore.places(PATIENT), ["old"]);
  const tenant = await postgresql.tenant!(t, server, place("old"));
  await tenant.write("a", "1");
  assert.deepEqual(await datastore.remove(place("old"), PATIENT), []);
  assert.deepEqual(await server.contents(), before);
});

test("PostgreSQL: an administrator with too few rights gets the missing ones named", { skip }, async (t) => {
  const server = await postgresql.start(t);
  await administer(server, "CREATE ROLE weak LOGIN PASSWORD 'weak'");
  const datastore = await opened(t, server, { basicAuth: { username: "weak", password: "weak" } });
  await assert.rejects(
    datastore.check(PATIENT),
    (error) => isFault(error, "BadCredentials") && /grant it/.test(error.advice),
  );
  await assert.rejects(datastore.ensure(place("one"), PATIENT), (error) => isFault(error, "BadCredentials"));
});

test("PostgreSQL: an administrator who is no superuser is enough", { skip }, async (t) => {
  const servers = [await postgresql.start(t), await postgresql.start(t)] as const;
  const basicAuth = { username: "operator", password: "operator" };
  for (const server of servers)
    await administer(server, "CREATE ROLE operator LOGIN PASSWORD 'operator' CREATEROLE CREATEDB");
  const [from, to] = [await opened(t, servers[0], { basicAuth }), await opened(t, servers[1], { basicAuth })];
  const before = await servers[0].contents();
  await from.check(PATIENT);
  for (let i = 0; i < 2; i++) await from.ensure(place("one"), PATIENT);
  const tenant = await postgresql.tenant!(t, servers[0], place("one"));
  await tenant.write("a", "1");
  await to.ensure(place("one"), PATIENT);
  await from.copy(place("one"), to, () => {}, PATIENT);
  const moved = await postgresql.tenant!(t, servers[1], place("one"));
  await moved.write("b", "2");
  assert.deepEqual(await moved.read(), ["a", "b"]);
  assert.deepEqual(await from.remove(place("one"), PATIENT), []);
  assert.deepEqual(await to.remove(place("one"), PATIENT), []);
  for (const server of servers) assert.deepEqual(await server.contents(), before);
});
