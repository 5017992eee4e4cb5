/**
 * What it costs to have a few lines on the disk, by turns: appended and synced (`fdatasync`), as the journal of leases does; written over zeros that
 * are there already and synced, so that the file system has nothing else to write; the same by `O_DSYNC`; and a sync of nothing, which is
 * the disk's own cache alone. `TIMES` (300) of each; `FOLDER`: where, the system's temporary one unless said.
 */
import { closeSync, constants, fdatasync, fsyncSync, mkdtempSync, openSync, rmSync, write, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { keep } from "./record.ts";
import { printMachine } from "./table.ts";

const TIMES = Number(process.env.TIMES ?? 300);
const BYTES = 4 * 1024 * 1024;
const LINES = Buffer.from("10.9.16.1 1/000c01020304 bound 1764441712345 #abcdef01\n".repeat(4));
const sync = promisify(fdatasync);
const writeAt = promisify(write);

const folder = mkdtempSync(join(process.env.FOLDER ?? tmpdir(), "slipway-sync-bench-"));
try {
  await measure();
} finally {
  rmSync(folder, { recursive: true });
}

async function measure(): Promise<void> {
  printMachine(`${LINES.length} bytes, ${TIMES} times each, by turns, in ms`);
  const appended = openSync(join(folder, "appended"), "a");
  const over = zeros("over");
  closeSync(zeros("synchronous"));
  const synchronous = openSync(join(folder, "synchronous"), constants.O_WRONLY | constants.O_DSYNC);
  let at = 0;
  const ways: Record<string, () => Promise<unknown>> = {
    "appended, synced": () => {
      writeSync(appended, LINES);
      return sync(appended);
    },
    "over zeros, synced": () => {
      writeSync(over, LINES, 0, LINES.length, at);
      return sync(over);
    },
    "over zeros, O_DSYNC": () => writeAt(synchronous, LINES, 0, LINES.length, at),
    "nothing, synced": () => sync(over),
  };
  const took: Record<string, number[]> = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let time = 0; time < TIMES; time++, at = (at + LINES.length) % (BYTES - LINES.length))
    for (const [name, way] of Object.entries(ways)) {
      const began = performance.now();
      await way();
      took[name]!.push(performance.now() - began);
    }
  for (const fd of [appended, over, synchronous]) closeSync(fd);
  for (const [name, times] of Object.entries(took)) {
    times.sort((a, b) => a - b);
    const [tenth, median, ninth] = [0.1, 0.5, 0.9].map((part) => times[Math.floor(part * TIMES)]!);
    keep(`${name}, median`, median!, "ms");
    const figures = [times[0]!, tenth!, median!, ninth!].map((ms) => ms.toFixed(3).padStart(8));
    console.log(`${name.padEnd(20)} least, a tenth, median, nine tenths: ${figures.join(" ")}`);
  }
}

/** A file whose space is there and on the disk. */
function zeros(name: string): number {
  const fd = openSync(join(folder, name), "w");
  writeSync(fd, Buffer.alloc(BYTES));
  fsyncSync(fd);
  return fd;
}
