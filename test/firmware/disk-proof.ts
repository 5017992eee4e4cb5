import { execFile } from "node:child_process";
import { open } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const MIB = 1024 * 1024;

/** What is still found on a disk that should be blank: signatures, bytes at its start or end. Looked at from outside of the machine. */
export async function remainsOn(file: string): Promise<string[]> {
  const { stdout } = await run("wipefs", ["--no-act", "--noheadings", "--output", "TYPE,OFFSET", file]);
  const remains = stdout.split("\n").filter((line) => line !== "");
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    for (const [where, at] of [
      ["start", 0],
      ["end", size - MIB],
    ] as const) {
      const { buffer } = await handle.read(Buffer.alloc(MIB), 0, MIB, at);
      if (buffer.some((byte) => byte !== 0)) remains.push(`bytes other than zero at its ${where}`);
    }
  } finally {
    await handle.close();
  }
  return remains;
}
