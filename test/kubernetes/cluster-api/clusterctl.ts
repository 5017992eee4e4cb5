/** The real clusterctl, where its Go module can be had. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { asFault, systemClock } from "@slipway/base";
import { BINARIES } from "../assets/binaries.ts";
import { provide } from "../assets/provide.ts";

const SOURCES = join(import.meta.dirname, "..", "assets");
const WITHIN_MS = 180_000;

/** The folder with programs of these names, built where they are missing (minutes, once); or, as `Error`, why they can't be had. */
export async function programs(...names: string[]): Promise<string | Error> {
  try {
    const say = (line: string): void => console.error(line);
    return await provide({ binaries: BINARIES, names, sources: SOURCES, env: process.env, clock: systemClock, say });
  } catch (error) {
    return new Error(`${names.join(", ")}: ${asFault(error, "kube-assets").message.split("\n")[0]}`);
  }
}

/** A folder that is removed when the test ends. */
export async function scratch(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-clusterctl-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Writes a kubeconfig for clusterctl, readable by its owner only; gives its path. */
export async function kubeconfigIn(dir: string, name: string, text: string): Promise<string> {
  const file = join(dir, `${name}.kubeconfig`);
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

export type Clusterctl = (...args: string[]) => Promise<{ out: string; said: string }>;

/** Runs clusterctl with nothing of the user's own around it. Rejects with all that it said when it fails. */
export function clusterctlOf(folder: string, dir: string, config?: string): Clusterctl {
  const env = { PATH: process.env.PATH, HOME: dir, XDG_CONFIG_HOME: dir, CLUSTERCTL_DISABLE_VERSIONCHECK: "true" };
  return async (...args) => {
    const all = config === undefined ? args : [...args, "--config", config];
    try {
      const options = { env, timeout: WITHIN_MS, maxBuffer: 64 << 20 };
      const { stdout, stderr } = await promisify(execFile)(join(folder, "clusterctl"), all, options);
      return { out: stdout, said: stderr };
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      throw new Error(`clusterctl ${all.join(" ")}\n${stderr}${stdout}`, { cause: error });
    }
  };
}
