import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { artifactsOf, isAtLeast, parseVersion } from "./version.ts";

test("the ISO's name shows version and architecture, its folder the other artefacts", () => {
  assert.deepEqual(
    artifactsOf({ isoUrl: "https://releases.rancher.com/harvester/v1.0.0/harvester-v1.0.0-amd64.iso" }),
    {
      version: { text: "v1.0.0", number: [1, 0, 0] },
      arch: "amd64",
      iso: "https://releases.rancher.com/harvester/v1.0.0/harvester-v1.0.0-amd64.iso",
      kernel: "https://releases.rancher.com/harvester/v1.0.0/harvester-v1.0.0-vmlinuz-amd64",
      initrd: "https://releases.rancher.com/harvester/v1.0.0/harvester-v1.0.0-initrd-amd64",
      rootfs: "https://releases.rancher.com/harvester/v1.0.0/harvester-v1.0.0-rootfs-amd64.squashfs",
    },
  );
});

test("pre-releases, ARM and a mirror", () => {
  const found = artifactsOf({
    isoUrl: "https://example.test/harvester-v1.9.0-rc6-arm64.iso?x=1",
    artifactsUrl: "http://mirror.test:8080/h",
  });
  assert.deepEqual(found.version, { text: "v1.9.0-rc6", number: [1, 9, 0] });
  assert.equal(found.rootfs, "http://mirror.test:8080/h/harvester-v1.9.0-rc6-rootfs-arm64.squashfs");
  assert.equal(found.iso, "https://example.test/harvester-v1.9.0-rc6-arm64.iso?x=1");
});

test("a name that says nothing needs version and architecture", () => {
  assert.throws(
    () => artifactsOf({ isoUrl: "https://example.test/my.iso" }),
    /not named harvester-<version>-<arch>.iso/,
  );
  assert.equal(
    artifactsOf({ isoUrl: "https://example.test/my.iso", version: "v1.7.0", arch: "amd64" }).kernel,
    "https://example.test/harvester-v1.7.0-vmlinuz-amd64",
  );
  assert.throws(
    () => artifactsOf({ isoUrl: "https://example.test/my.iso", version: "../x", arch: "amd64" }),
    /can't be part of a file name/,
  );
});

test("a URL with a password or another scheme is refused", () => {
  assert.throws(
    () => artifactsOf({ isoUrl: "https://u:hidden@example.test/harvester-v1.7.0-amd64.iso" }),
    (error) => {
      assert.match(String(error), /shown on the machine's console/);
      assert.doesNotMatch(String(error), /hidden/);
      return true;
    },
  );
  assert.throws(() => artifactsOf({ isoUrl: "file:///harvester-v1.7.0-amd64.iso" }), /not an http or https URL/);
});

test("development builds are newer than every release", () => {
  assert.ok(isAtLeast(parseVersion("master"), 99, 0));
  assert.ok(isAtLeast(parseVersion("v1.6-head"), 1, 6));
  assert.ok(!isAtLeast(parseVersion("v1.6-head"), 1, 7));
});

test("versions are ordered by number, not by text", () => {
  const part = fc.nat(30);
  const version = fc.tuple(part, part, part);
  fc.assert(
    fc.property(version, version, ([a, b, c], [x, y, z]) => {
      const order = a - x || b - y || c - z;
      assert.equal(isAtLeast(parseVersion(`v${a}.${b}.${c}`), x, y, z), order >= 0);
    }),
  );
});
