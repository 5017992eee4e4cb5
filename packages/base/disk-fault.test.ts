import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { diskFault } from "./disk-fault.ts";
import { Fault } from "./fault.ts";

const error = (of: { code?: string; errcode?: number }) => Object.assign(new Error("it went wrong"), of);

test("a write that failed says why: full, quota, read-only or failing, from the system and from SQLite alike", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "disk-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const cases: [of: { code?: string; errcode?: number }, says: RegExp, remedy: RegExp | undefined][] = [
    [{ code: "ENOSPC" }, /is full \(\d+(\.\d)? MiB of \d+(\.\d)? MiB free\)/, /free some space/],
    [{ errcode: 13 }, /is full/, /free some space/],
    [{ errcode: 13 | (3 << 8) }, /is full/, /free some space/],
    [{ code: "EDQUOT" }, /the quota of .* is used up/, /free some space/],
    [{ code: "EROFS" }, /is read-only/, /mount it/],
    [{ errcode: 8 }, /is read-only/, /mount it/],
    [{ code: "EIO" }, /fails \(it went wrong\)/, /system's log/],
    [{ errcode: 10 | (12 << 8) }, /fails \(it went wrong\)/, /system's log/],
    [{ code: "EBADF" }, /could not be written \(it went wrong\)/, undefined],
    [{ code: "ENOSPC", errcode: 5 }, /could not be written/, undefined],
  ];
  for (const [of, says, remedy] of cases) {
    const fault = diskFault(join(folder, "api.db"), error(of));
    const what = JSON.stringify(of);
    assert.equal(fault.code, "Internal", what);
    assert.match(fault.message, says, what);
    if (remedy === undefined) assert.equal(fault.remedy, undefined, what);
    else {
      assert.ok(fault.message.includes(folder), what);
      assert.match(fault.remedy!, remedy, what);
    }
  }
});

test("a fault stays as it is, another code may be given, and a folder that is gone does not hide the reason", () => {
  const fault = new Fault("Invalid", "x", "no");
  assert.equal(diskFault("/x/y", fault), fault);
  const gone = diskFault("/no/such/folder/file", error({ code: "ENOSPC" }), "Refused");
  assert.equal(gone.code, "Refused");
  assert.match(gone.message, /is full \(how much is free is not known\)/);
});
