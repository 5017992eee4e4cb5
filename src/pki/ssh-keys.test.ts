import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { sshKeyPair } from "./ssh-keys.ts";

/** The fields of RFC 4251's form, as many as there are. */
function strings(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}

const jwkText = (bytes: Buffer): string => bytes.toString("base64url");

test("the public line's key is the private file's, whatever the comment", () => {
  const comment = fc.string({ unit: "grapheme", maxLength: 40 }).filter((text) => !/\p{Cc}/u.test(text));
  fc.assert(
    fc.property(comment, (text) => {
      const { authorizedKey, privateKey } = sshKeyPair(text);
      const [type, blob = ""] = authorizedKey.split(" ");
      assert.equal(type, "ssh-ed25519");
      assert.equal(authorizedKey, `ssh-ed25519 ${blob} ${text}`.trimEnd());
      const [, point] = strings(Buffer.from(blob, "base64"));

      const file = Buffer.from(privateKey.replace(/-----.*-----|\n/g, ""), "base64");
      assert.equal(file.subarray(0, 15).toString(), "openssh-key-v1\0");
      const [cipher, derivation, options] = strings(file.subarray(15));
      assert.deepEqual([cipher, derivation, options].map(String), ["none", "none", ""]);
      const [, secret] = strings(file.subarray(15 + 8 + 8 + 4 + 4));
      assert.equal(secret!.length % 8, 0);
      assert.deepEqual(secret!.subarray(0, 4), secret!.subarray(4, 8));
      const [, held, both, said] = strings(secret!.subarray(8));
      assert.deepEqual(held, point);
      assert.equal(said!.toString(), text);

      const jwk = { kty: "OKP", crv: "Ed25519", x: jwkText(point!), d: jwkText(both!.subarray(0, 32)) };
      const derived = createPublicKey(createPrivateKey({ key: jwk, format: "jwk" })).export({ format: "jwk" });
      assert.equal(derived.x, jwk.x);
      assert.deepEqual(both!.subarray(32), point);
    }),
    { numRuns: 30 },
  );
});

test("ssh-keygen reads the private file and finds the same public line", (t) => {
  if (spawnSync("ssh-keygen", ["-?"]).error !== undefined) return t.skip("ssh-keygen is not here");
  const dir = mkdtempSync(join(tmpdir(), "ssh-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const { authorizedKey, privateKey } = sshKeyPair("slipway");
  writeFileSync(join(dir, "key"), privateKey, { mode: 0o600 });
  const done = spawnSync("ssh-keygen", ["-y", "-f", join(dir, "key")]);
  assert.equal(done.stdout.toString().trim(), authorizedKey, done.stderr.toString());
});

test("a comment that would begin another line is refused", () => {
  assert.throws(
    () => sshKeyPair("a\nssh-ed25519 AAAA"),
    (error) => isFault(error, "Invalid") && /one line/.test(error.message),
  );
});

test("no two pairs are the same", () => {
  assert.notEqual(sshKeyPair("a").authorizedKey, sshKeyPair("a").authorizedKey);
});
