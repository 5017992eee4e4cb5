import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes `file` for `sha256sum --check` in `folder`, for these files of it. */
export function writeChecksums(file: string, folder: string, names: readonly string[]): void {
  const line = (name: string): string =>
    `${createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex")}  ${name}\n`;
  writeFileSync(file, [...names].sort().map(line).join(""));
}
