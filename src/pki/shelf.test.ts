import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Issued } from "./authority.ts";
import { keptCertificate, textOf } from "./shelf.ts";

const NONE: Issued = { certificatePem: "", keyPem: "" };
const issued = (n: number): Issued => ({ certificatePem: `certificate ${n}`, keyPem: `key ${n}` });

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "slipway-shelf-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, "pki");
}

test("a certificate is made once, kept for its owner alone, and made anew from the old one when that no longer does", async (t) => {
  const shelf = scratch(t);
  const given: Issued[] = [];
  const make = async (held: Issued): Promise<Issued> => issued(given.push(held));
  const kept = (isGood: boolean) => keptCertificate(shelf, "server", () => isGood, make);

  assert.deepEqual(await kept(false), issued(1));
  assert.deepEqual(await kept(true), issued(1));
  assert.deepEqual(await kept(false), issued(2));
  assert.deepEqual(given, [NONE, issued(1)]);
  assert.deepEqual(readdirSync(shelf).sort(), ["server-key.pem", "server.pem"]);
  for (const name of readdirSync(shelf)) assert.equal(statSync(join(shelf, name)).mode & 0o077, 0, name);
  assert.equal(await textOf(join(shelf, "server.pem")), "certificate 2");
});

test("what others may read is closed to them, and still does", async (t) => {
  const shelf = scratch(t);
  const make = async (): Promise<Issued> => issued(1);
  await keptCertificate(shelf, "server", () => false, make);
  for (const name of readdirSync(shelf)) chmodSync(join(shelf, name), 0o644);
  assert.deepEqual(
    await keptCertificate(
      shelf,
      "server",
      () => true,
      () => assert.fail("made anew"),
    ),
    issued(1),
  );
  for (const name of readdirSync(shelf)) assert.equal(statSync(join(shelf, name)).mode & 0o077, 0, name);
});

test("without a folder nothing is kept, and nothing that is there is asked about", async () => {
  const asked = (): boolean => assert.fail("there is nothing to ask about");
  const made = await keptCertificate(undefined, "server", asked, async (held) => {
    assert.deepEqual(held, NONE);
    return issued(1);
  });
  assert.deepEqual(made, issued(1));
});

test("a missing file is an empty text, one that can't be read is a fault", async (t) => {
  const shelf = scratch(t);
  assert.equal(await textOf(join(shelf, "absent.pem")), "");
  await assert.rejects(textOf(tmpdir()), { code: "EISDIR" });
});
