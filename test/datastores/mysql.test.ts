import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { promises } from "./promises.ts";
import { administer, mariadb, NEEDS } from "./servers/mariadb.ts";
import { skipWithout } from "./servers/programs.ts";
import { opened, PATIENT, place } from "./servers/stage.ts";

const skip = skipWithout(NEEDS, "Debian's package mariadb");
promises(mariadb, skip);

test("MySQL: B28 what is no tenant's is neither taken over nor removed", { skip }, async (t) => {
  const server = await mariadb.start(t);
  const datastore = await opened(t, server);
  const own = place("tenant_one");
  await datastore.ensure(own, PATIENT);
  await administer(server, "CREATE DATABASE billing", "CREATE TABLE billing.bills (id INT PRIMARY KEY)");
  await administer(server, "CREATE USER clerk@'%'", "GRANT SELECT ON billing.* TO clerk@'%'");
  await administer(server, "CREATE USER chief@'%'", "GRANT ALL PRIVILEGES ON *.* TO chief@'%'");
  await administer(server, "CREATE DATABASE shop", "CREATE USER shop@'%'", "GRANT ALL ON shop.* TO shop@'%'");
  await administer(server, "CREATE TABLE shop.orders (id INT PRIMARY KEY)");
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

test("MySQL: B51 a tenant that another operator made is taken over and removed with the rest", { skip }, async (t) => {
  const server = await mariadb.start(t);
  const datastore = await opened(t, server);
  const before = await server.contents();
  await administer(
    server,
    "CREATE DATABASE old_one",
    "CREATE USER old_one@'%'",
    "GRANT ALL ON `old_one`.* TO old_one@'%'",
  );
  await datastore.ensure(place("old_one"), PATIENT);
  assert.deepEqual(await datastore.places(PATIENT), ["old_one"]);
  const tenant = await mariadb.tenant!(t, server, place("old_one"));
  await tenant.write("a", "1");
  assert.deepEqual(await datastore.remove(place("old_one"), PATIENT), []);
  assert.deepEqual(await server.contents(), before);
});

test("MySQL: an administrator with too few rights gets the missing ones named", { skip }, async (t) => {
  const server = await mariadb.start(t);
  await administer(server, "CREATE USER weak@'%' IDENTIFIED BY 'weak'");
  const datastore = await opened(t, server, { basicAuth: { username: "weak", password: "weak" } });
  await assert.rejects(
    datastore.check(PATIENT),
    (error) => isFault(error, "BadCredentials") && /grant it/.test(error.advice),
  );
  await assert.rejects(datastore.ensure(place("one"), PATIENT), (error) => isFault(error, "BadCredentials"));
});
