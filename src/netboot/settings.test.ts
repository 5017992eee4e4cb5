import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { netbootSettings } from "./settings.ts";

test("a mode of DHCP is a whole set of settings", () => {
  const { dhcp, http, boot, discovery } = netbootSettings({ dhcp: { mode: "proxy" } }, "nothing");
  assert.deepEqual(dhcp.reservations, []);
  assert.deepEqual(http, { port: 8080, tlsPort: 8443 });
  assert.equal(boot.unknown, "agent");
  assert.equal(discovery.most, 1000);
});

test("every wrong field is named, with what it needs, and a misspelt one is not passed over", () => {
  const given = { dhcp: { mode: "all", subnets: [{ network: "10.0.0.0" }] }, http: { prot: 80 } };
  assert.throws(
    () => netbootSettings(given, "netboot.yaml"),
    (error) =>
      isFault(error, "Invalid") &&
      /dhcp\.mode: .*"pool"/.test(error.message) &&
      /dhcp\.subnets\.0\.network: /.test(error.message) &&
      /http: .*"prot"/.test(error.message),
  );
});

test("addresses are never given in a network that nobody named", () => {
  assert.throws(
    () => netbootSettings(undefined, "the command line"),
    (error) => isFault(error, "Invalid") && /--subnet/.test(error.remedy ?? ""),
  );
});

test("an ISO image is a path, or a path with what to replace in its files; anything else is reported by its place", () => {
  const images = (given: object | string): unknown =>
    netbootSettings({ dhcp: { mode: "off" }, boot: { images: { debian: given } } }, "test").boot.images;
  assert.deepEqual(images("/a.iso"), { debian: { file: "/a.iso", replace: {} } });
  assert.deepEqual(images({ file: "/a.iso", replace: { a: "b" } }), {
    debian: { file: "/a.iso", replace: { a: "b" } },
  });
  assert.throws(() => images({ file: "a.iso" }), /boot\.images\.debian/);
});
