import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { type BmcAddress, parseBmcAddress } from "./address.ts";

const redfish = (origin: string, more: Partial<BmcAddress> = {}): BmcAddress =>
  ({ protocol: "redfish", origin, bootsBy: "pxe", needsBootMac: false, ...more }) as BmcAddress;
const ipmi = (host: string, more: Partial<BmcAddress> = {}): BmcAddress =>
  ({
    ...{ protocol: "ipmi", host, port: 623, privilege: "ADMINISTRATOR", bootsBy: "pxe", needsBootMac: false },
    ...more,
  }) as BmcAddress;

/** Each form that Metal3's own tests take (pkg/hardwareutils/bmc/access_test.go), and what it means. */
const ACCEPTED: readonly (readonly [string, BmcAddress])[] = [
  ["192.168.122.1", ipmi("192.168.122.1")],
  ["my.favoritebmc.com", ipmi("my.favoritebmc.com")],
  ["192.168.122.1:6233", ipmi("192.168.122.1", { port: 6233 })],
  ["[fe80::fc33:62ff:fe83:8a76]:6233", ipmi("fe80::fc33:62ff:fe83:8a76", { port: 6233 })],
  ["ipmi://192.168.122.1:6233", ipmi("192.168.122.1", { port: 6233 })],
  ["ipmi:192.168.122.1", ipmi("192.168.122.1")],
  ["ipmi:192.168.122.1:6233", ipmi("192.168.122.1", { port: 6233 })],
  ["ipmi://192.168.122.1?privilegelevel=OPERATOR", ipmi("192.168.122.1", { privilege: "OPERATOR" })],
  ["libvirt://192.168.122.1:6233/?abc=def", ipmi("192.168.122.1", { port: 6233, needsBootMac: true })],
  ["redfish://192.168.122.1", redfish("https://192.168.122.1")],
  ["redfish:192.168.122.1", redfish("https://192.168.122.1")],
  ["redfish://192.168.122.1:6233/foo", redfish("https://192.168.122.1:6233", { system: "/foo" })],
  ["redfish+http://192.168.122.1/foo/bar", redfish("http://192.168.122.1", { system: "/foo/bar" })],
  ["redfish+https://192.168.122.1/", redfish("https://192.168.122.1")],
  ["redfish+https://192.168.122.1/redfish/v1/", redfish("https://192.168.122.1")],
  [
    "redfish://[fe80::fc33:62ff:fe83:8a76]:8080/foo",
    redfish("https://[fe80::fc33:62ff:fe83:8a76]:8080", { system: "/foo" }),
  ],
  [
    "ilo5-redfish://bmc.example/redfish/v1/Systems/1",
    redfish("https://bmc.example", { system: "/redfish/v1/Systems/1" }),
  ],
  ["idrac-redfish+http://10.0.0.1", redfish("http://10.0.0.1")],
  ["redfish-virtualmedia+http://192.168.122.1", redfish("http://192.168.122.1", { bootsBy: "virtual-media" })],
  ["ilo5-virtualmedia://192.168.122.1", redfish("https://192.168.122.1", { bootsBy: "virtual-media" })],
  ["idrac-virtualmedia+https://192.168.122.1", redfish("https://192.168.122.1", { bootsBy: "virtual-media" })],
  ["redfish-uefihttp+https://192.168.122.1", redfish("https://192.168.122.1", { bootsBy: "uefi-http" })],
];

test("every form of address that Metal3 accepts is read as Metal3 reads it", () => {
  for (const [text, meaning] of ACCEPTED) assert.deepEqual(parseBmcAddress(text), meaning, text);
});

test("an address may be 2048 characters long", () => {
  assert.equal(parseBmcAddress(`redfish://10.0.0.1/${"x".repeat(2_029)}`).protocol, "redfish");
});

test("a host name with a port needs no scheme, an IPv6 address in brackets no port, and case does not count", () => {
  assert.deepEqual(parseBmcAddress("bmc-7.rack.example:624"), ipmi("bmc-7.rack.example", { port: 624 }));
  assert.deepEqual(parseBmcAddress("localhost:623"), ipmi("localhost"));
  assert.deepEqual(parseBmcAddress("[FD00::1]"), ipmi("fd00::1"));
  assert.deepEqual(parseBmcAddress("Redfish://BMC.example"), redfish("https://bmc.example"));
});

test("addresses of one BMC have one origin, whether they write the default port or not", () => {
  assert.deepEqual(parseBmcAddress("redfish://bmc.example:443"), parseBmcAddress("redfish+https://bmc.example"));
  assert.deepEqual(parseBmcAddress("redfish+http://bmc.example:80"), parseBmcAddress("redfish+http://bmc.example/"));
});

test("what can't be an address is refused with its reason", () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ["", /it is empty/],
    [`redfish://10.0.0.1/${"x".repeat(2_030)}`, /longer than 2048 characters/],
    ["redfish://", /it names no host/],
    ["redfish:///redfish/v1/Systems/1", /it names no host/],
    ["https://10.0.0.1", /unknown scheme "https"; use one of ipmi, libvirt, redfish,/],
    ["ipmi+http://10.0.0.1", /unknown scheme "ipmi\+http"/],
    ["constructor://10.0.0.1", /unknown scheme "constructor"/],
    ["fd00::1", /write an IPv6 address in brackets/],
    ["[fe80::fc33:62ff:fe33:8xff]:6223", /is no IPv6 address/],
    ["redfish://[fe80::1%25eth0]", /is no IPv6 address/],
    ["my-.examplehost.com", /my-\.examplehost\.com is no host name/],
    ["redfish://192.168.001.1", /192\.168\.001\.1 is no IPv4 address/],
    ["redfish://10.1", /10\.1 is no IPv4 address/],
    ["redfish://10.0.0.1:65536", /no port has the number 65536/],
    ["ipmi://10.0.0.1:0", /no port has the number 0/],
    ["redfish://10.0.0.1/redfish/v1/Systems/../Managers/1", /one of dots/],
    ["redfish://10.0.0.1/a//b", /an empty part/],
    ["redfish://10.0.0.1/redfish/v1#x", /fragment/],
    ["redfish://10.0.0.1/a b", /a space/],
    ["redfish:\\\\10.0.0.1", /a backslash/],
    ["ipmi://10.0.0.1?privilegelevel=ROOT", /unknown privilegelevel; use one of USER/],
  ];
  for (const [text, why] of refused)
    assert.throws(
      () => parseBmcAddress(text),
      (error) => isFault(error, "Invalid") && why.test(error.advice),
      text,
    );
});

test("an address with a password is refused, and the password is not repeated", () => {
  assert.throws(
    () => parseBmcAddress("redfish://admin:hunter2hunter2@10.0.0.1"),
    (error) => isFault(error, "Invalid") && /credentialsName/.test(error.advice) && !/hunter2/.test(error.advice),
  );
});

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,10}[a-z0-9])?$/);
const host = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join(".")),
  fc.ipV4(),
  fc.ipV6().map((ip) => `[${ip}]`),
);
const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
const scheme = fc.constantFrom("redfish", "ilo5-redfish", "idrac-virtualmedia", "redfish-uefihttp");
const transport = fc.constantFrom("", "+http", "+https");
const system = fc.option(
  fc
    .array(fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/), { minLength: 3, maxLength: 5 })
    .map((parts) => `/${parts.join("/")}`),
  { nil: undefined },
);

test("whatever host, port and path an address has, the origin leads there and nowhere else", () => {
  fc.assert(
    fc.property(fc.record({ scheme, transport, host, port, system }), ({ scheme, transport, host, port, system }) => {
      const authority = port === undefined ? host : `${host}:${port}`;
      const read = parseBmcAddress(`${scheme}${transport}://${authority}${system ?? ""}`);
      assert.ok(read.protocol === "redfish");
      const url = new URL(`${transport === "+http" ? "http" : "https"}://${authority}`);
      assert.equal(read.origin, url.origin);
      assert.equal(read.system, system);
    }),
  );
});

test("any text at all is read or refused as Invalid", () => {
  const near = fc.array(
    fc.constantFrom("redfish", "ipmi", "+http", ":", "//", "/", "[", "]", "::1", "@", "a", "1", "?", "%"),
    {
      maxLength: 10,
    },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        near.map((parts) => parts.join("")),
      ),
      (text) => {
        try {
          const read = parseBmcAddress(text);
          if (read.protocol === "redfish") assert.equal(new URL(read.origin).origin, read.origin);
          else assert.match(read.host, /^[a-z0-9.:-]+$/);
        } catch (error) {
          assert.ok(isFault(error, "Invalid"), String(error));
        }
      },
    ),
    { numRuns: 2_000 },
  );
});
