/**
 * The readers of what installers are given, where they can be had: pykickstart and PyYAML from PyPI in a venv, cloud-init from Debian's
 * package, unpacked and not installed. They are kept in the user's cache.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@slipway/base";
import { withLock } from "../kubernetes/assets/lock.ts";

const run = promisify(execFile);

/** The first two judge; the rest is what cloud-init imports. */
const PACKAGES = [
  "pykickstart==3.78",
  "PyYAML==6.0.3",
  "jsonschema==4.26.0",
  "Jinja2==3.1.6",
  "configobj==5.0.9",
  "requests==2.34.2",
  "oauthlib==4.0.1",
  "jsonpatch==1.47",
];
const MODULES = "usr/lib/python3/dist-packages";
const JUDGE = join(import.meta.dirname, "judge.py");

/** A tool, or why there is none. */
export type Tool<T> = { tool: T } | { missing: string };
/** Answers a question by one of `judge.py`'s readers. */
export type Ask = <Answer>(reader: string, question: object) => Promise<Answer>;

/** pykickstart and PyYAML. */
export function pythonReaders(env: NodeJS.ProcessEnv): Promise<Tool<Ask>> {
  return tried("python3 with packages from PyPI", async () => {
    const venv = await made(env, `venv-${keyOf(PACKAGES)}`, async (folder) => {
      await run("python3", ["-m", "venv", folder]);
      // pip's scripts name the folder that they were made in; it is called as a module.
      await run(join(folder, "bin/python"), ["-m", "pip", "install", "-q", "--disable-pip-version-check", ...PACKAGES]);
    });
    return asking(join(venv, "bin/python"), env);
  });
}

/** The same with cloud-init's modules. */
export function cloudInit(env: NodeJS.ProcessEnv): Promise<Tool<Ask>> {
  return tried("cloud-init", async () => {
    const python = await pythonReaders(env);
    if ("missing" in python) throw new Error(python.missing);
    const unpacked = await made(env, "cloud-init", async (folder) => {
      const downloads = join(folder, "download");
      mkdirSync(downloads);
      await run("sh", ["-c", "apt-get download -qq cloud-init && dpkg-deb -x cloud-init_*.deb .."], { cwd: downloads });
    });
    return asking(join(cacheOf(env), `venv-${keyOf(PACKAGES)}`, "bin/python"), {
      ...env,
      PYTHONPATH: join(unpacked, MODULES),
    });
  });
}

/** HAProxy and OpenSSH's server from Debian's packages, unpacked and not installed: the folder that `usr/sbin` is in, and where their libraries are. */
export function servicePrograms(env: NodeJS.ProcessEnv): Promise<Tool<{ folder: string; libraries: string }>> {
  return tried("haproxy and sshd", async () => {
    const packages = "haproxy openssh-server liblua5.3-0 libwrap0 libopentracing-c-wrapper0 libopentracing1";
    const folder = await made(env, "service-programs", async (into) => {
      await run("sh", ["-c", `apt-get download -qq ${packages} && for f in *.deb; do dpkg-deb -x "$f" .; done`], {
        cwd: into,
      });
    });
    const libraries = join(folder, "usr/lib/x86_64-linux-gnu");
    await run(join(folder, "usr/sbin/haproxy"), ["-v"], { env: { ...env, LD_LIBRARY_PATH: libraries } });
    return { folder, libraries };
  });
}

/** Debian's own reader of preseed files, which keeps the answers in a file of its own. */
export async function debconf(): Promise<Tool<(preseed: string, database: string) => Promise<void>>> {
  const program = "/usr/bin/debconf-set-selections";
  if (!existsSync(program)) return { missing: `${program} is not there (Debian's package debconf)` };
  return {
    tool: async (preseed, database) => {
      await run(program, ["-c", preseed]);
      await run(program, [preseed], { env: { ...process.env, DEBCONF_DB_REPLACE: `File{filename:${database}}` } });
    },
  };
}

async function tried<T>(what: string, make: () => Promise<T>): Promise<Tool<T>> {
  try {
    return { tool: await make() };
  } catch (error) {
    const { message, stderr = "" } = error as Error & { stderr?: string };
    const lines = (stderr.trim() || message).split("\n");
    return { missing: `${what} can't be had: ${lines.at(-1)}` };
  }
}

/** The folder, made by one process when it is not there yet. What was not finished is not taken for it. */
async function made(env: NodeJS.ProcessEnv, name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheOf(env), name);
  const mark = join(folder, "complete");
  if (existsSync(mark)) return folder;
  const wait = (): void => console.error(`formats: another process makes ${name}; waiting for it`);
  await withLock(cacheOf(env), systemClock, wait, async () => {
    if (existsSync(mark)) return;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await make(folder);
    writeFileSync(mark, "");
  });
  return folder;
}

function asking(python: string, env: NodeJS.ProcessEnv): Ask {
  return (reader, question) =>
    new Promise((resolve, reject) => {
      const limits = { env, maxBuffer: 64 * 2 ** 20 };
      const child = execFile(python, [JUDGE, reader], limits, (error, stdout, stderr) => {
        if (error === null) resolve(JSON.parse(stdout));
        else reject(new Error(`${reader}: ${stderr.trim() || error.message}`));
      });
      child.stdin!.end(JSON.stringify(question));
    });
}

function cacheOf({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string {
  return join(XDG_CACHE_HOME || join(HOME || homedir(), ".cache"), "slipway/formats");
}

function keyOf(packages: readonly string[]): string {
  return createHash("sha256").update(packages.join()).digest("hex").slice(0, 12);
}
