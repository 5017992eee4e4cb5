import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import type { Entry } from "../../src/netboot/agent/cpio.ts";
import { PROGRAMS } from "./packages.ts";
import { packParts } from "./parts.ts";
import { rootEntries } from "./root.ts";

test("each part takes the next one that it was made with, and no other", () => {
  const part = (name: string): Map<string, Entry> =>
    new Map([[name, { is: "file", content: Buffer.from(`of ${name}`), executable: true }]]);
  const made = { first: part("init"), rest: part("usr/bin/jq"), keys: part("usr/bin/age") };
  const { first, rest, keys } = packParts(made);
  const has = (archive: Buffer, text: string): boolean => zstdDecompressSync(archive).includes(text);
  const checksum = (archive: Buffer): string => createHash("sha256").update(archive).digest("hex");

  assert.ok(has(first, "agent/rest.sha256") && has(first, checksum(rest)));
  assert.ok(has(rest, "agent/keys.sha256") && has(rest, checksum(keys)));
  for (const [archive, own] of [
    [first, "of init"],
    [rest, "of usr/bin/jq"],
    [keys, "of usr/bin/age"],
  ] as const)
    assert.equal(has(archive, own), true, own);
  assert.deepEqual(packParts(made), { first, rest, keys });
});

test("what makes the key and asks the BMC is in the last part alone, and every other program is in an earlier one", () => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-root-"));
  // The least that is a program for x86-64.
  const program = Buffer.alloc(64);
  program.write("7f454c460201", 0, "hex");
  program.writeUInt16LE(62, 18);
  try {
    const files = Object.values(PROGRAMS).flat();
    for (const file of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), program);
    }
    const { first, rest, keys } = rootEntries("amd64", folder, "1.0.0");
    assert.deepEqual([...keys.keys()].sort(), ["usr/bin/age", "usr/bin/age-keygen", "usr/bin/ipmitool"]);
    const placed = (file: string): string => (file === "usr/bin/busybox" ? "bin/busybox" : file);
    for (const file of files)
      assert.equal([first, rest, keys].filter((part) => part.has(placed(file))).length, 1, file);
    for (const name of ["usr/bin/curl", "usr/bin/jq"]) assert.ok(rest.has(name), name);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
