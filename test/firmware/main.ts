/** Runs the firmware suite in a network of its own. What it needs and is not installed is named, and the suite skipped. */
import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { FIRMWARES } from "../../src/lab/machine.ts";
import { inOwnNetwork } from "../../src/lab/namespace.ts";
import { missingPackages } from "../../src/lab/programs.ts";
import { diskImage } from "./disk-image/image.ts";

const why = await whyNot();
if (why === undefined) {
  console.log("disk image…");
  const { file } = await diskImage(process.env);
  console.log(`disk image       ${file}`);
  process.exitCode = await tests();
} else console.log(`test-firmware: skipped: ${why}`);

async function whyNot(): Promise<string | undefined> {
  const missing = await missingPackages(FIRMWARES, process.env.PATH ?? "");
  if (missing.length > 0) return `not installed: ${missing.join(" ")}`;
  const { command, args } = inside("true", []);
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return undefined;
  } catch {
    return "this machine allows no network namespaces";
  }
}

async function tests(): Promise<number> {
  const named = process.argv.slice(2);
  const files = named.length > 0 ? named : globSync(join(import.meta.dirname, "*.test.ts")).sort();
  const options = ["--test", "--test-concurrency=1", "--test-reporter=spec"];
  const suite = new KeptProcess(inside(process.execPath, [...options, ...files]));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void suite.stop());
  return await suite.gone;
}

function inside(command: string, args: readonly string[]): { command: string; args: string[] } {
  return inOwnNetwork(command, args, { root: process.getuid?.() === 0 });
}
