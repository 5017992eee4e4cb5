import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import fc from "fast-check";
import { checked, Installation } from "./installation.ts";
import { attacked, FULL, SMALL } from "./testing.ts";

const refusals = (value: unknown): Record<string, string> => {
  try {
    checked(Installation, value, "test");
    return {};
  } catch (error) {
    assert.ok(error instanceof Fault);
    assert.equal(error.code, "Invalid");
    const problems = error.details as { path: string; message: string }[];
    return Object.fromEntries(problems.map(({ path, message }) => [path, message]));
  }
};

test("what is right is taken as it is, and a MAC address in its canonical form", () => {
  assert.deepEqual(checked(Installation, FULL, "test"), FULL);
  assert.deepEqual(checked(Installation, SMALL, "test"), SMALL);
  const read = checked(Installation, { ...SMALL, network: { mac: "5254.00AB.CDEF", method: "dhcp" } }, "test");
  assert.equal(read.network.mac, "52:54:00:ab:cd:ef");
});

const wrong: readonly [string, unknown, string][] = [
  ["hostname", { hostname: "Web_1" }, "RFC 1123"],
  ["hostname", { hostname: `${"a".repeat(40)}.${"b".repeat(40)}` }, "63"],
  ["network.mac", { network: { mac: "52:54", method: "dhcp" } }, "MAC address"],
  ["network.address", { network: { ...FULL.network, address: "10.0.0.5" } }, "prefix length"],
  ["network.address", { network: { ...FULL.network, address: "fd00::5/64" } }, "IPv4"],
  ["network.gateway", { network: { ...FULL.network, gateway: "gw" } }, "IPv4"],
  ["user.name", { user: { ...FULL.user, name: "root" } }, "stays locked"],
  ["user.sshKeys", { user: { name: "ops", sshKeys: [] } }, "no login"],
  ["user.sshKeys.0", { user: { name: "ops", sshKeys: ['command="x" ssh-rsa AAAA'] } }, "public key"],
  ["user.passwordHash", { user: { ...FULL.user, passwordHash: "secret" } }, "no clear text"],
  ["timezone", { timezone: "Europe/../Vienna" }, "time zone"],
  ["locale", { locale: "de" }, "locale"],
  ["keyboard.layout", { keyboard: { layout: "us,de" } }, "XKB layout"],
  ["ntpServers.1", { ntpServers: ["10.0.0.1", "a b"] }, "host name or an address"],
  ["proxy", { proxy: "ftp://x" }, "http"],
  ["mirror", { mirror: "http://user@m/x?y" }, "no query"],
  ["packages.0", { packages: ["-o=x"] }, "name of a package"],
  ["commands.0", { commands: ["a\nb"] }, "one line"],
  ["commands.1", { commands: ["true", ""] }, "1 character"],
  ["disk", { disk: "/dev/../etc/passwd" }, "below /dev"],
  ["disk", { disk: "sda" }, "below /dev"],
  ["firmware", { architecture: "aarch64", firmware: "bios" }, "uefi on aarch64"],
  ["report.failed", { report: { succeeded: "http://a", failed: "http://a/'" } }, "quotes"],
];
for (const [path, change, message] of wrong)
  test(`${path} is refused by its path: ${message}`, () => {
    const found = refusals({ ...FULL, ...(change as object) });
    assert.deepEqual(Object.keys(found), [path]);
    assert.match(found[path]!, new RegExp(message));
  });

test("all wrong fields are named at once, an unknown one by its name, and no value is shown", () => {
  const value = { ...FULL, hostname: "-secret-", colour: 1, user: { ...FULL.user, passwordHash: "secret" } };
  const found = refusals(value);
  assert.deepEqual(Object.keys(found).sort(), ["", "hostname", "user.passwordHash"]);
  assert.match(found[""]!, /has no "colour"/);
  assert.throws(
    () => checked(Installation, value, "test"),
    (error: Fault) => error.message.startsWith("test: ") && !/-secret-|: secret/.test(error.message),
  );
});

test("no accepted text holds a control character or a line's end", () => {
  fc.assert(
    fc.property(attacked, (value) => {
      const read = Installation.safeParse(value);
      if (read.success) assert.doesNotMatch(JSON.stringify(read.data), /\\[nrtbf]|\\u00|[\p{C}\p{Zl}\p{Zp}]/u);
    }),
    { numRuns: 500 },
  );
});
