import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { PlaneFiles } from "./plane-files.ts";

test("a plane's files are written when they change, stay as they are otherwise, and go when they are no longer wanted", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-files-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const inode = (name: string): number => statSync(join(dir, name)).ino;
  const files = new PlaneFiles(dir);
  const texts = { "ca.crt": "authority", "etcd/server.key": "key" };
  const mark = await files.keep(texts);
  assert.equal(readFileSync(join(dir, "etcd/server.key"), "utf8"), "key");
  assert.equal(statSync(join(dir, "etcd/server.key")).mode & 0o777, 0o600);
  const before = inode("ca.crt");

  // Each write is another file: see `replacePrivateFile`.
  assert.equal(await files.keep(texts), mark);
  assert.equal(await new PlaneFiles(dir).keep(texts), mark);
  assert.equal(inode("ca.crt"), before);

  assert.notEqual(await files.keep({ "ca.crt": "another" }), mark);
  assert.notEqual(inode("ca.crt"), before);
  assert.equal(existsSync(join(dir, "etcd/server.key")), false);
});
