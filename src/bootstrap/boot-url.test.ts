import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, seededRandom } from "@slipway/base";
import fc from "fast-check";
import { BOOT_PATHS, bootIdOf, bootUrls, mintCapability, parseBootUrl, sameCapability } from "./boot-url.ts";

const claim = "3f1c2f9e-0c9d-4b7a-9f37-0d4c5b2a1e6f";

test("the URLs of a boot are read back, with or without origin and query", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.integer(), fc.constantFrom("", "/", "/below"), (uid, seed, below) => {
      const capability = mintCapability(seededRandom(seed));
      const urls = bootUrls(`https://slipway.example:8443${below}`, uid, capability);
      for (const what of BOOT_PATHS) {
        const path = urls[what].slice(urls[what].indexOf("/boot/"));
        assert.deepEqual(parseBootUrl(path), { claim: uid, capability, what });
        assert.deepEqual(parseBootUrl(`https://other.example${path}?mac=1`), { claim: uid, capability, what });
      }
    }),
  );
});

test("golden: where a boot's configuration is", () => {
  const urls = bootUrls("https://slipway.example/", claim, "A".repeat(43));
  assert.equal(urls.config, `https://slipway.example/boot/${claim}/${"A".repeat(43)}/config`);
});

test("whatever is no such URL is read as none, and nothing throws", () => {
  const key = "A".repeat(43);
  const wrong = [
    "",
    "/",
    "http://[",
    `/boot/${claim}/${key}`,
    `/boot/${claim}/${key}/`,
    `/boot/${claim}/${key}/other`,
    `/boot/${claim}/${key}/config/`,
    `/boot/${claim}/${key}x/config`,
    `/boot/${claim}/${key.slice(1)}/config`,
    `/boot/a%2Fb/${key}/config`,
    `/boot/${"a".repeat(65)}/${key}/config`,
    `/x/boot/${claim}/${key}/config`,
  ];
  for (const url of wrong) assert.equal(parseBootUrl(url), undefined, url);
  fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl()), (url) => parseBootUrl(url) === undefined));
});

test("capabilities hold 256 bits and don't repeat", () => {
  const minted = Array.from({ length: 100 }, () => mintCapability(cryptoRandom));
  assert.equal(new Set(minted).size, 100);
  for (const capability of minted) assert.equal(Buffer.from(capability, "base64url").length, 32);
});

test("only the very same capability is the same", () => {
  fc.assert(fc.property(fc.string(), fc.string(), (a, b) => sameCapability(a, b) === (a === b)));
  assert.equal(sameCapability("a", "a"), true);
  assert.equal(sameCapability("a".repeat(43), ""), false);
});

test("a boot's name is steady, differs by capability, and holds no part of it", () => {
  const [one, other] = [mintCapability(seededRandom(1)), mintCapability(seededRandom(2))];
  assert.equal(bootIdOf(one), bootIdOf(one));
  assert.notEqual(bootIdOf(one), bootIdOf(other));
  assert.match(bootIdOf(one), /^[0-9a-f]{12}$/);
});
