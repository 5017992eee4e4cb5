import assert from "node:assert/strict";
import { test } from "node:test";
import { sshKeyPair } from "../../../../pki/ssh-keys.ts";
import { authorizedKeys } from "./authorized-keys.ts";

const { authorizedKey: KEY } = sshKeyPair("ada@example.org");
const [TYPE, BLOB = ""] = KEY.split(" ");

test("SIP-17 public keys are taken as they are, with options and comments", () => {
  const keys = [KEY, `${TYPE} ${BLOB}`, `from="10.0.0.0/8,!10.1.0.0/16",no-pty ${KEY}`, ` ${KEY} `];
  assert.equal(authorizedKeys(keys, "keys"), keys.map((key) => `${key.trim()}\n`).join(""));
});

test("SIP-17 what is no key is refused by its place, and a line can't become two", () => {
  const wrong = [
    "sshrsaAAAAB3invalidkey",
    "",
    `${KEY}\n${KEY}`,
    `${TYPE} ${BLOB.slice(0, -8)}`,
    `ssh-rsa ${BLOB}`,
    `${TYPE} AAAA`,
    `command="rm" x ${KEY}`,
  ];
  for (const key of wrong) assert.throws(() => authorizedKeys([KEY, key], "keys"), /keys\[1\]: /, JSON.stringify(key));
});
