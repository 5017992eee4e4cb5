import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, Fault } from "@slipway/base";
import { assetsFolder } from "../../../src/kubernetes/assets.ts";
import type { Binary } from "./binary.ts";
import { buildKey, goBuild } from "./go.ts";
import { withLock } from "./lock.ts";

export interface ProvideOptions {
  /** Every binary there is. */
  binaries: readonly Binary[];
  /** The wanted ones; none: all but those built on demand. */
  names: readonly string[];
  /** The folder with the Go modules. */
  sources: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Takes a line of progress. */
  say(line: string): void;
  /** The `go` command. */
  go?: string;
}

/** How often a build that goes on says so. */
const STILL_MS = 30_000;

/**
 * Sees to it that the wanted binaries are there, and answers in which folder. What is there and current costs nothing.
 * A folder named by KUBEBUILDER_ASSETS is foreign: it is used as it is, and rejected when a named binary is not in it.
 */
export async function provide(options: ProvideOptions): Promise<string> {
  const { binaries, names, env, clock, say, sources, go = "go" } = options;
  const folder = assetsFolder(env);
  const unknown = names.find((name) => !binaries.some((binary) => binary.name === name));
  if (unknown !== undefined)
    throw new Fault("BadRequest", unknown, `there are ${binaries.map((each) => each.name).join(", ")}`);
  const wanted = binaries.filter((each) => (names.length === 0 ? !each.onDemand : names.includes(each.name)));

  if (env.KUBEBUILDER_ASSETS) {
    const missing = wanted.filter(({ name }) => !existsSync(join(folder, name))).map(({ name }) => name);
    if (missing.length > 0 && names.length > 0)
      throw new Fault("NotFound", folder, `KUBEBUILDER_ASSETS names it, and it has no ${missing.join(", ")}`, {
        remedy: "unset KUBEBUILDER_ASSETS to have them built",
      });
    if (missing.length > 0)
      say(`${folder} (KUBEBUILDER_ASSETS) has no ${missing.join(", ")}: what needs them is skipped`);
    return folder;
  }

  const isStale = (each: Binary): boolean =>
    keyIn(folder, each.name) !== buildKey(each, sources) || !existsSync(placeInRelease(each, env) ?? folder);
  const stale = (): Binary[] => wanted.filter(isStale);
  if (stale().length === 0) return folder;
  const wait = (): void => say(`another process builds in ${folder}; waiting for it`);
  await withLock(folder, clock, wait, async () => {
    const todo = stale();
    if (todo.length > 1)
      say(
        `${todo.length} programs to build from Go modules: one to four minutes each, once, and up to 13 GB in Go's caches`,
      );
    for (const [index, binary] of todo.entries()) {
      const what = `[${index + 1}/${todo.length}] ${binary.name}`;
      const began = clock.now();
      const seconds = (): string => `${Math.round((clock.now() - began) / 1000)} s`;
      say(`${what}: building`);
      const stopTelling = every(clock, STILL_MS, () => say(`${what}: still building after ${seconds()}`));
      try {
        await build(binary, folder, sources, go);
        const place = placeInRelease(binary, env);
        if (place !== undefined) linkTo(join(folder, binary.name), place);
      } finally {
        stopTelling();
      }
      say(`${what}: built in ${seconds()}`);
    }
  });
  return folder;
}

/** The binary comes into being as a whole; its key after it, so what is interrupted is built again. */
async function build(binary: Binary, folder: string, sources: string, go: string): Promise<void> {
  const key = buildKey(binary, sources);
  const fresh = join(folder, `.${binary.name}.new`);
  await goBuild(binary, { sources, output: fresh, go });
  renameSync(fresh, join(folder, binary.name));
  writeFileSync(keyFile(folder, binary.name), key);
}

/** The same file by its plain name in the folder of its version, where whoever runs that version looks. Undefined: it has none. */
function placeInRelease({ ofRelease, kubernetes }: Binary, env: ProvideOptions["env"]): string | undefined {
  return ofRelease === undefined ? undefined : join(assetsFolder(env, kubernetes), ofRelease);
}

function linkTo(file: string, place: string): void {
  mkdirSync(dirname(place), { recursive: true });
  rmSync(place, { force: true });
  symlinkSync(file, place);
}

/** What the binary in the folder was built from; undefined when it is not there. */
function keyIn(folder: string, name: string): string | undefined {
  const file = keyFile(folder, name);
  return existsSync(join(folder, name)) && existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function keyFile(folder: string, name: string): string {
  return join(folder, `.${name}.key`);
}

function every(clock: Clock, ms: number, tell: () => void): () => void {
  const again = (): void => {
    tell();
    timer = clock.after(ms, again);
  };
  let timer = clock.after(ms, again);
  return () => timer.cancel();
}
