/** Runs the firmware suite in a network of its own. What it needs and can't have is named, and the suite skipped. */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { FIRMWARES } from "../../src/lab/machine.ts";
import { inOwnNetwork } from "../../src/lab/namespace.ts";
import { missingPackages } from "../../src/lab/programs.ts";
import { type DebianInstaller, debianInstaller } from "./debian/installer.ts";
import { diskImages } from "./disk-image/image.ts";

/** How `disk-image/build.sh` says that a program is missing (sysexits.h: a service is unavailable). */
const LACKS_PROGRAM = 69;
/** No test file takes this long, not even beside other work; one that waits for what never comes ends with its name. */
const LONGEST_MS = 45 * 60_000;
const ROOT = join(import.meta.dirname, "../..");

const named = process.argv.slice(2);
const files = named.length > 0 ? named : globSync(join(import.meta.dirname, "*.test.ts")).sort();
const why = (await missing()) ?? forbidden() ?? agentTrouble() ?? (await imageTrouble());
if (why === undefined) process.exitCode = await tests();
else console.log(`test-firmware: skipped: ${why}`);

async function missing(): Promise<string | undefined> {
  const packages = await missingPackages(FIRMWARES, process.env.PATH ?? "");
  if (spawnSync("ssh", ["-V"]).error !== undefined) packages.push("openssh-client");
  return packages.length === 0 ? undefined : `not installed: ${packages.join(" ")}`;
}

function forbidden(): string | undefined {
  const { command, args } = inside("ip", ["tuntap", "add", "tap0", "mode", "tap"]);
  return spawnSync(command, args).status === 0 ? undefined : "this machine allows no network namespaces with taps";
}

function agentTrouble(): string | undefined {
  if (spawnSync("apt-get", ["--version"]).error !== undefined)
    return "the agent is made from Debian's packages: no apt-get";
  const { status } = spawnSync(process.execPath, [join(ROOT, "tools/agent/main.ts")], { stdio: "inherit" });
  // It has said why; that is a failure of ours.
  if (status !== 0) process.exit(1);
  return undefined;
}

/** The images that machines install are built where one of the files has them. */
async function imageTrouble(): Promise<string | undefined> {
  if (!files.some((file) => readFileSync(file, "utf8").includes(`"./disk-image/`))) return undefined;
  try {
    for (const { file } of Object.values(await diskImages(process.env))) console.log(`disk image: ${file}`);
    return undefined;
  } catch (error) {
    const { code, stderr } = error as { code?: number; stderr?: string };
    if (code === LACKS_PROGRAM) return stderr?.trim();
    throw error;
  }
}

async function tests(): Promise<number> {
  const options = [
    "--import",
    join(ROOT, "tools/process-end.ts"),
    "--test",
    `--test-timeout=${LONGEST_MS}`,
    "--test-concurrency=1",
    "--test-reporter=spec",
  ];
  // Inside there is no way to Debian.
  const debian = files.some((file) => /\/preseed[^/]*$/.test(file)) ? await debianInstaller() : undefined;
  const suite = new KeptProcess({
    ...inside(process.execPath, [...options, ...files]),
    env: environmentOf(debian),
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void suite.stop());
  try {
    return await suite.gone;
  } finally {
    if (typeof debian === "object") await debian.close();
  }
}

function environmentOf(debian: DebianInstaller | string | undefined): Record<string, string> {
  if (debian === undefined) return {};
  if (typeof debian === "string") return { DEBIAN_MISSING: debian };
  const { folder, mirror, arguments: needed } = debian;
  return { DEBIAN_INSTALLER: folder, DEBIAN_MIRROR: mirror, DEBIAN_ARGUMENTS: needed.join(" ") };
}

function inside(command: string, args: readonly string[]): { command: string; args: string[] } {
  return inOwnNetwork(command, args, { root: process.getuid?.() === 0 });
}
