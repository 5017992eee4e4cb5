import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault, systemClock } from "@slipway/base";
import { type StreamProgram, streamProgram } from "./run-program.ts";
import { hasSerialOverLan, serialOverLan } from "./serial-over-lan.ts";

const TARGET = { address: "ipmi://10.0.0.1", credentials: { username: "admin", password: "s3cret" } };

/** A program in the place of ipmitool. */
function standIn(t: TestContext, script: string): { stream: StreamProgram; file(name: string): string } {
  const folder = mkdtempSync(join(tmpdir(), "slipway-sol-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, "ipmitool");
  writeFileSync(program, `#!/bin/sh\ncd '${folder}'\n${script}\n`);
  chmodSync(program, 0o755);
  const stream = streamProgram(systemClock);
  return {
    stream: (run, push) => stream({ ...run, program }, push),
    file: (name) => readFileSync(join(folder, name), "utf8"),
  };
}

test("the console is read until nobody looks, the session is given back, and the password is on no command line", async (t) => {
  const { stream, file } = standIn(
    t,
    `echo "$@" >words; printf '%s' "$IPMI_PASSWORD" >password; printf 'login: '; cat >typed`,
  );
  const leaving = new AbortController();
  let text = "";
  const push = (bytes: Uint8Array): void => {
    text += Buffer.from(bytes).toString();
    if (text.endsWith("login: ")) leaving.abort();
  };
  await serialOverLan(TARGET, stream, push, leaving.signal);
  assert.equal(text, "login: ");
  assert.match(file("words"), /^-I lanplus -H 10\.0\.0\.1 -p 623 -U admin -L ADMINISTRATOR -E .*sol activate\n$/);
  assert.deepEqual([file("password"), file("typed")], ["s3cret", "~."]);
});

test("why a BMC opens no console is said in ipmitool's words; so is the end of its session", async (t) => {
  const busy = standIn(t, `echo 'Info: SOL payload already active on another session' >&2; exit 1`);
  const { signal } = new AbortController();
  await assert.rejects(
    serialOverLan(TARGET, busy.stream, () => {}, signal),
    (error) => isFault(error, "Unavailable") && /already active on another session/.test(error.message),
  );
  const ends = standIn(t, "exit 0");
  await assert.rejects(
    serialOverLan(TARGET, ends.stream, () => {}, signal),
    /the BMC ended the console's session/,
  );
});

test("only BMCs with IPMI have serial over LAN", async () => {
  for (const address of ["redfish://10.0.0.1", "idrac-redfish://10.0.0.1/redfish/v1/Systems/1", "", "ipmi://a b"])
    assert.equal(hasSerialOverLan(address), false, address);
  for (const address of ["ipmi://10.0.0.1", "10.0.0.1:6230", "libvirt://10.0.0.1"])
    assert.equal(hasSerialOverLan(address), true, address);
  const never: StreamProgram = () => assert.fail("it was started");
  const { signal } = new AbortController();
  const redfish = serialOverLan({ ...TARGET, address: "redfish://10.0.0.1" }, never, () => {}, signal);
  await assert.rejects(redfish, (error) => isFault(error, "Unsupported"));
});
