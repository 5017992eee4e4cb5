import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { forgetHost } from "./known-hosts.ts";
import { refusalOf } from "./refusal.ts";

for (const [errors, code, message] of [
  [
    "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
    "UntrustedCertificate",
    /another/,
  ],
  ["No ED25519 host key is known for h and you have requested strict checking.", "UntrustedCertificate", /no host key/],
  ["root@h: Permission denied (publickey).", "BadCredentials", /none of the keys/],
  ['Load key "/k": error in libcrypto\n', "MissingInput", /private key can't be read/],
  [
    "debug\nssh: connect to host h port 22: Connection refused\r\n",
    "Unavailable",
    /no connection: ssh: connect to host h/,
  ],
  ["odd \u001b[31mtext", "Unavailable", /no connection: odd {2}\[31mtext$/],
  [" \n", "Unavailable", /no connection$/],
] as const)
  test(`why SSH has not connected: ${code}, ${message.source}`, () => {
    const fault = refusalOf("h", errors);
    assert.deepEqual([fault.code, fault.on], [code, "h"]);
    assert.match(fault.message, message);
  });

test("a host that is forgotten is forgotten by its name and port, with all of its keys, and no other", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-known-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "known_hosts");
  const text = ["h ssh-ed25519 A", "H,10.0.0.1 ssh-rsa B", "[h]:2222 ssh-ed25519 C", "hh ssh-ed25519 D", ""];
  writeFileSync(file, text.join("\n"), { mode: 0o600 });
  const left = () => readFileSync(file, "utf8").split("\n");
  assert.equal(await forgetHost(file, "other"), false);
  assert.deepEqual(left(), text);
  assert.equal(await forgetHost(file, "h"), true);
  assert.deepEqual(left(), text.slice(2));
  assert.equal(await forgetHost(file, "H", 2222), true);
  assert.deepEqual(left(), text.slice(3));
});
