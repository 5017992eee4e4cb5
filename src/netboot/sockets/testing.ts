/** A program of the test's own in the place of perl. For tests. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

const { PATH } = process.env;

/** Has what is started as `perl` until the test's end be this shell script; undefined: there is no perl. */
export function perlIs(t: TestContext, script: string | undefined): void {
  const folder = mkdtempSync(join(tmpdir(), "slipway-perl-"));
  t.after(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });
  if (script !== undefined) {
    writeFileSync(join(folder, "perl"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, "perl"), 0o755);
  }
  process.env.PATH = folder;
}
