import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { parseEndpoint } from "./endpoint.ts";
import { kineEndpoint } from "./kine.ts";
import { checkPlace, type Driver } from "./place.ts";

const DRIVERS: readonly Driver[] = ["etcd", "MySQL", "PostgreSQL", "NATS"];
const SQL = ["MySQL", "PostgreSQL"] as const;
/** Text as users and attackers write it, and names that are nearly right. */
const anyName = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.stringMatching(/^[a-zA-Z0-9._/'"`\\%-]{0,70}$/),
);
const goodName = fc
  .stringMatching(/^[a-z0-9][a-z0-9_-]{0,30}$/)
  .filter((name) => !/^(none|public|root|sys|mysql|postgres|pg_)/.test(name));
const password = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed() && !/[\0\r\n]/.test(text));

function accepted(driver: Driver, schema: string, user = schema): boolean {
  try {
    checkPlace(driver, { schema, user });
    return true;
  } catch (error) {
    assert.ok(isFault(error, "Invalid") && error.remedy, String(error));
    return false;
  }
}

test("B28 any text is refused with a remedy, or is a name that needs no quotes, escapes or paths anywhere", () => {
  fc.assert(
    fc.property(fc.constantFrom(...DRIVERS), anyName, (driver, name) => {
      if (accepted(driver, name)) assert.match(name, /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/);
    }),
  );
});

test("B28 names that Kamaji gives are taken: a UID, and namespace and name", () => {
  for (const driver of DRIVERS)
    for (const name of ["0b0c2fc7-8f0f-4cbe-9f6b-1f9d7ad0a0f3", "default_tenant-00"])
      assert.ok(accepted(driver, name), driver);
});

test("B28 a password is one line of text; for each driver one that is none is refused without being repeated", () => {
  for (const driver of ["etcd", "PostgreSQL", "MySQL", "NATS"] as const) {
    checkPlace(driver, { schema: "a", user: "a", password: "good" });
    for (const password of ["two\nlines", "nul\0", "return\r", "half \ud800"])
      assert.throws(
        () => checkPlace(driver, { schema: "a", user: "a", password }),
        (error: Error) => /password is not one line/.test(error.message) && !error.message.includes(password),
      );
  }
});

test("B28 a server's own names and names that would become another's are refused", () => {
  const refused: (readonly [Driver, string])[] = [
    ...([
      ["etcd", "root"],
      ["PostgreSQL", "postgres"],
      ["PostgreSQL", "template1"],
      ["PostgreSQL", "pg_x"],
    ] as const),
    ...([
      ["MySQL", "mysql"],
      ["MySQL", "SYS"],
      ["MySQL", "slipway_places"],
      ["NATS", "a.b"],
    ] as const),
    // One that the server would cut, and one that kine would write otherwise.
    ...([
      ["PostgreSQL", "x".repeat(64)],
      ["PostgreSQL", "Tenant"],
    ] as const),
  ];
  for (const [driver, name] of refused) assert.equal(accepted(driver, name), false, `${driver} ${name}`);
  assert.ok(accepted("PostgreSQL", "tenant", "Tenant"));
});

test("B28 a name is as long as its server lets it be", () => {
  for (const [driver, most] of [
    ["etcd", 64],
    ["MySQL", 64],
    ["PostgreSQL", 63],
    ["NATS", 64],
  ] as const) {
    assert.ok(accepted(driver, "x".repeat(most), "x"), driver);
    assert.equal(accepted(driver, "x".repeat(most + 1), "x"), false, driver);
  }
});

/** Reads a connection string as Go's `net/url` (PostgreSQL) and go-sql-driver's `ParseDSN` (MySQL) do. */
function read(
  driver: (typeof SQL)[number],
  text: string,
): { user: string; password: string; host: string; schema: string } {
  if (driver === "PostgreSQL") {
    const url = new URL(text);
    const [user, secret, schema] = [url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent);
    return { user: user!, password: secret!, host: url.host, schema: schema! };
  }
  const dsn = text.slice(text.indexOf("://") + 3);
  const slash = dsn.lastIndexOf("/");
  const at = dsn.lastIndexOf("@", slash);
  const colon = dsn.indexOf(":");
  const host = dsn.slice(at + 1, slash).replace(/^tcp\((.*)\)$/, "$1");
  return {
    user: dsn.slice(0, colon),
    password: dsn.slice(colon + 1, at),
    host,
    schema: decodeURIComponent(dsn.slice(slash + 1)),
  };
}

test("B28 kine reads from its endpoint what was written, whatever the password", () => {
  fc.assert(
    fc.property(fc.constantFrom(...SQL), goodName, goodName, password, (driver, schema, user, secret) => {
      const text = kineEndpoint(driver, { schema, user, password: secret }, { endpoints: ["db.example:1234"] });
      assert.deepEqual(read(driver, text), { user, password: secret, host: "db.example:1234", schema });
    }),
  );
});

test("kine's endpoints by example", () => {
  const place = { schema: "tenant-1", user: "tenant-1", password: "p@ss/w" };
  const tls = { ca: "PEM" };
  assert.equal(
    kineEndpoint("PostgreSQL", place, { endpoints: ["[fd00::1]"], tls }),
    "postgres://tenant-1:p%40ss%2Fw@[fd00::1]:5432/tenant-1?sslmode=verify-full",
  );
  assert.equal(
    kineEndpoint("MySQL", place, { endpoints: ["db", "db2"] }),
    "mysql://tenant-1:p@ss/w@tcp(db:3306)/tenant-1",
  );
  const basicAuth = { username: "admin", password: "s3cret" };
  assert.equal(
    kineEndpoint("NATS", place, { endpoints: ["n1", "n2:4333"], basicAuth }),
    "nats://admin:s3cret@n1:4222?bucket=tenant-1&noEmbed=true,nats://n2:4333",
  );
  assert.equal(kineEndpoint("NATS", place, { endpoints: ["n1"] }), "nats://n1:4222?bucket=tenant-1&noEmbed=true");
  const { password: _, ...byCertificate } = place;
  assert.equal(
    kineEndpoint("PostgreSQL", byCertificate, { endpoints: ["db"] }),
    "postgres://tenant-1@db:5432/tenant-1?sslmode=disable",
  );
  assert.equal(kineEndpoint("MySQL", byCertificate, { endpoints: ["db"] }), "mysql://tenant-1@tcp(db:3306)/tenant-1");
  assert.throws(
    () => kineEndpoint("NATS", place, { endpoints: ["n1"], basicAuth: { ...basicAuth, password: "a@b" } }),
    {
      code: "Invalid",
    },
  );
});

test("what kine would send to NATS otherwise is refused with its field", () => {
  const good = { username: "admin", password: "s3cret" };
  for (const field of ["username", "password"] as const)
    assert.throws(
      () =>
        kineEndpoint("NATS", { schema: "s", user: "u" }, { endpoints: ["n1"], basicAuth: { ...good, [field]: "a@b" } }),
      (error) => isFault(error, "Invalid") && error.on === `spec.basicAuth.${field}` && !error.message.includes("a@b"),
    );
});

test("an endpoint is a host with or without port, and nothing else", () => {
  assert.deepEqual(parseEndpoint("etcd", "https://10.0.0.1:2380/"), {
    host: "10.0.0.1",
    port: 2380,
    scheme: "https",
    text: "10.0.0.1:2380",
  });
  for (const port of [1, 65_535]) assert.equal(parseEndpoint("MySQL", `a:${port}`).port, port);
  assert.deepEqual(parseEndpoint("MySQL", "[::1]"), { host: "::1", port: 3306, text: "[::1]:3306" });
  for (const text of ["", "a b", "a:0", "a:65536", "user@host", "https://db:1", "[nonsense]:1", "a:1/b", "tcp(a:1)"])
    assert.throws(() => parseEndpoint("PostgreSQL", text), { code: "Invalid" }, text);
});

test("B28 a password is one line of text; the fault names the user and no part of it", () => {
  for (const secret of ["XYZ\n", "XYZ\r", "XYZ\0", "XYZ\ud800"])
    assert.throws(
      () => checkPlace("MySQL", { schema: "s", user: "u", password: secret }),
      (error) => isFault(error, "Invalid") && error.on === "u" && !error.message.includes("XYZ"),
    );
  for (const driver of DRIVERS) checkPlace(driver, { schema: "s", user: "u", password: "p q'\"\\" });
});
