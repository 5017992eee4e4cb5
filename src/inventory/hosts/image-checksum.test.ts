import assert from "node:assert/strict";
import { test } from "node:test";
import { type Http, plain } from "@slipway/base";
import { imageChecksum } from "./image-checksum.ts";

const SUM = "a".repeat(64);
const url = "https://images.invalid/releases/debian%2B12.raw";
const nobody: Http = async () => assert.fail("nothing is fetched");
const serving =
  (body: string, status = 200): Http =>
  async () =>
    plain(status, body);

test("a sum is taken as it is, by its algorithm, which is md5 unless said", async () => {
  const cases = [
    [{ checksum: SUM.toUpperCase(), checksumType: "sha256" }, `sha256:${SUM}`],
    [{ checksum: ` ${"b".repeat(32)} ` }, `md5:${"b".repeat(32)}`],
    [{ checksum: "c".repeat(128), checksumType: "auto" }, `sha512:${"c".repeat(128)}`],
  ] as const;
  for (const [image, expected] of cases) assert.equal(await imageChecksum({ url, ...image }, nobody), expected);
});

test("a file of sums is read as sha256sum, BSD's tools and single sums write it", async () => {
  const at = { url, checksum: "https://images.invalid/SHA256SUMS", checksumType: "sha256" } as const;
  const other = "b".repeat(64);
  const files = [
    `${SUM}\n`,
    `${other}  other.raw\n${SUM}  debian%2B12.raw\n`,
    `${SUM} *debian%2B12.raw\n`,
    `${SUM}  ./debian%2B12.raw\n`,
    `SHA256 (other.raw) = ${other}\nSHA256 (debian%2B12.raw) = ${SUM}\n`,
  ];
  for (const body of files) assert.equal(await imageChecksum(at, serving(body)), `sha256:${SUM}`, body);
});

test("what can't be checked is refused, with the field and what to do", async () => {
  const file = "https://images.invalid/sums";
  const cases: [Parameters<typeof imageChecksum>[0], Http, RegExp][] = [
    [{ url }, nobody, /spec\.image\.checksum: an image is only written when it can be checked/],
    [{ url, checksum: "" }, nobody, /only written when it can be checked/],
    [{ url, checksum: "xyz" }, nobody, /neither hexadecimal digits nor the URL/],
    [{ url, checksum: SUM }, nobody, /checksumType: the checksum has 64 digits, which is sha256/],
    [{ url, checksum: "abc", checksumType: "auto" }, nobody, /3 digits, which is no sum that is known/],
    [{ url, checksum: file, checksumType: "sha256" }, serving("gone", 404), /answered 404/],
    [{ url, checksum: file, checksumType: "sha256" }, serving(`${SUM}  other.raw\n`), /does not name "debian/],
    [{ url, checksum: file, checksumType: "sha256" }, serving("x".repeat(1024 * 1024 + 1)), /more than 1048576 bytes/],
  ];
  for (const [image, http, expected] of cases) await assert.rejects(imageChecksum(image, http), expected);
});
