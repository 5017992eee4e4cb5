import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cryptoRandom as random } from "@slipway/base";
import { netbootIdentity } from "./identity.ts";

const DAY_MS = 86_400_000;

test("agents know the server by the same key after a restart, at another address and after its certificate has expired", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "slipway-identity-"));
  t.after(() => rm(dir, { recursive: true }));
  let now = 1_700_000_000_000;
  const clock = { now: () => now };
  const first = await netbootIdentity(dir, "10.0.0.1", { clock, random });
  assert.match(first.pin, /^sha256\/\/[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual(await netbootIdentity(dir, "10.0.0.1", { clock, random }), first);

  const moved = await netbootIdentity(dir, "10.0.0.2", { clock, random });
  assert.equal(moved.pin, first.pin);
  assert.deepEqual(moved.key, first.key);
  assert.equal(new X509Certificate(moved.tls.cert).checkIP("10.0.0.2"), "10.0.0.2");

  now += 400 * DAY_MS;
  const later = await netbootIdentity(dir, "10.0.0.2", { clock, random });
  assert.equal(later.pin, first.pin);
  assert.ok(new X509Certificate(later.tls.cert).validToDate.getTime() > now);
  assert.equal(later.authority, first.authority);
});

test("keys are their owner's alone", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "slipway-identity-"));
  t.after(() => rm(dir, { recursive: true }));
  await netbootIdentity(dir, "10.0.0.1", { clock: { now: () => 1_700_000_000_000 }, random });
  for (const name of ["capabilities.key", "server-key.pem", "ca-key.pem"])
    assert.equal((await stat(join(dir, name))).mode & 0o077, 0);
});
