import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { hashPassword, hashRandomPassword, sha512Crypt } from "./password.ts";

test("sha512-crypt writes the known answers", () => {
  assert.equal(
    sha512Crypt("Hello world!", "saltstring"),
    "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
  );
  assert.equal(
    sha512Crypt("pässwörd, rather long: more than sixty-four bytes in its UTF-8 form, surely", "./AZaz09"),
    "$6$./AZaz09$LE3BVaVVb5t6Y3/D/o4UHhlsuduqaMwS.xXOzDzo0EM2rk5yF3CpZTLs.t.nb71tlaTects6/AVBpiPEqlEpk/",
  );
});

test("a number of rounds other than the default is reported in the hash", () => {
  assert.equal(
    sha512Crypt("Hello world!", "saltstringsaltstring", 10_000),
    "$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.",
  );
  assert.match(hashRandomPassword("Sx7mB2kQ0vN4pR9tW1zC", "uid"), /^\$6\$rounds=1000\$.{16}\$.{86}$/);
});

test("only the first sixteen characters of a salt count", () => {
  assert.equal(sha512Crypt("secret", "0123456789abcdefXYZ"), sha512Crypt("secret", "0123456789abcdef"));
});

test("sha512-crypt agrees with openssl for passwords of any length", (t) => {
  const openssl = (password: string, salt: string): string | undefined => {
    const done = spawnSync("openssl", ["passwd", "-6", "-salt", salt, "-stdin"], { input: password });
    return done.status === 0 ? done.stdout.toString().trim() : undefined;
  };
  if (openssl("x", "abc") === undefined) return t.skip("openssl is not here");
  const passwords = ["a", "pässwörd", "x".repeat(63), "y".repeat(64), "z".repeat(65), "long ".repeat(40)];
  for (const [i, password] of passwords.entries()) {
    const salt = "./AZaz09saltsalt".slice(0, 1 + 3 * i);
    assert.equal(sha512Crypt(password, salt), openssl(password, salt));
  }
});

test("a password's hash is the same each time, differs by password and by salt text, and never holds the password", () => {
  const word = fc.string({ minLength: 8, maxLength: 40 });
  fc.assert(
    fc.property(word, word, word, (password, other, salt) => {
      fc.pre(password !== other);
      const hash = hashPassword(password, salt);
      assert.match(hash, /^\$6\$[./0-9A-Za-z]{16}\$[./0-9A-Za-z]{86}$/);
      assert.equal(hashPassword(password, salt), hash);
      assert.notEqual(hashPassword(other, salt), hash);
      assert.notEqual(hashPassword(password, `${salt}+`), hash);
      assert.equal(hash.includes(password), false);
    }),
    { numRuns: 10 },
  );
});

test("an empty password and an empty salt text are hashed like others", () => {
  assert.match(hashPassword("", ""), /^\$6\$.{16}\$.{86}$/);
});
