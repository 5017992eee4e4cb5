import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "@slipway/base";
import { buildSync } from "esbuild";
import { NODE_FLAGS } from "../image/node-binary.ts";
import { run } from "../image/run.ts";
import { withNote } from "./elf-note.ts";

const ROOT = join(import.meta.dirname, "../..");
/** By this name Node looks for what an executable carries, and only where the fuse, a text of its program, ends with 1. */
const NOTE = "NODE_SEA_BLOB";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:";

/** What a single executable application carries: the bundle's files, and the script that loads them (src/cli/executable.ts). The same for each architecture. */
export function applicationOf(bundle: string): Buffer {
  const work = mkdtempSync(join(tmpdir(), "slipway-executable-"));
  try {
    const main = join(work, "main.cjs");
    buildSync({
      absWorkingDir: ROOT,
      entryPoints: ["src/cli/executable.ts"],
      outfile: main,
      ...{ bundle: true, format: "cjs", platform: "node", target: "node24", logLevel: "warning" },
    });
    const files = readdirSync(bundle, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort();
    const output = join(work, "application");
    const settings = {
      ...{ main, output, disableExperimentalSEAWarning: true, execArgv: NODE_FLAGS, execArgvExtension: "env" },
      assets: Object.fromEntries(files.map((file) => [file.slice(bundle.length + 1), file])),
    };
    writeFileSync(join(work, "settings.json"), JSON.stringify(settings));
    run(process.execPath, ["--experimental-sea-config", join(work, "settings.json")]);
    return readFileSync(output);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Writes `file`: the program of Node at `node` with the application in it. Node must be of the version that made the application. */
export function writeExecutable(file: string, node: string, application: Buffer): void {
  const program = readFileSync(node);
  const fuse = program.indexOf(`${FUSE}0`);
  if (fuse === -1) throw new Fault("Invalid", node, "this Node can't carry an application");
  program[fuse + FUSE.length] = "1".charCodeAt(0);
  writeFileSync(file, withNote(program, NOTE, application));
  chmodSync(file, 0o755);
}
