/**
 * `make agent`: writes what blank machines boot into the assets folder, from Debian's packages: kernel and initramfs of the agent, and
 * the signed loaders. Same packages, same bytes; nothing is done when nothing has changed. Needs apt-get, dpkg-deb (Debian or Ubuntu)
 * and xz, no rights. `ARCHITECTURES`: of Debian, default both. `SLIPWAY_NETBOOT_ASSETS`: another folder.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Fault } from "@slipway/base";
import { assetsFolder } from "../../src/netboot/agent/assets-folder.ts";
import { Apt, type Candidate } from "../image/apt.ts";
import { build } from "./build.ts";
import { keyOf } from "./key.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { type Architecture, FIRMWARE, PROGRAMS, TARGETS } from "./packages.ts";

/** Debian's lists are read again after a day: a security update is not missed for longer. */
const LISTS_AGE_MS = 24 * 3600_000;

/** What `packages.json` says, by machine. */
type Made = Record<string, { key: string; packages: Record<string, string>; seen: string }>;

const assets = assetsFolder(process.env);
const cache = join(process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), ".cache"), "slipway/agent");
try {
  oneAtATime(cache, () => {
    for (const architecture of architectures()) make(architecture);
    console.log(`agent: ${assets}`);
  });
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  console.error(`agent: ${error.message}${error.remedy === undefined ? "" : `; ${error.remedy}`}`);
  process.exitCode = 1;
}

function make(architecture: Architecture): void {
  const { machine, kernel, boot } = TARGETS[architecture];
  const say = (text: string): void => console.log(`agent: ${machine}: ${text}`);
  const home = join(cache, architecture);
  const apt = new Apt(home, architecture, "main non-free-firmware");
  const list = join(assets, "packages.json");
  const made = read(list);
  // With the same lists and the same program nothing can have changed, and apt need not be asked.
  const seen = `${refresh(apt, home, say)} ${keyOf([])}`;
  if (made[machine]?.seen === seen) {
    say("up to date");
    return;
  }
  const kernels = apt.alone([apt.pointedToBy(kernel, /^linux-image-\d/)]);
  const loaders = apt.alone([...new Set(Object.values(boot).map(([name]) => name))]);
  const programs = apt.withDependencies(Object.keys(PROGRAMS));
  const firmware = apt.alone(FIRMWARE);
  const all = [...kernels, ...loaders, ...programs, ...firmware];
  const key = keyOf(all);
  if (made[machine]?.key === key) {
    write(list, json({ ...made, [machine]: { ...made[machine], seen } }));
    say("up to date");
    return;
  }

  say(`fetching ${all.length} packages, about 160 MB, and packing them: a few minutes, once`);
  const files = apt.fetch(all);
  const debs = new Map(all.map((one, i) => [one, files[i]!]));
  const pick = (some: readonly Candidate[]): string[] => some.map((one) => debs.get(one)!);
  const written = build(architecture, {
    kernel: pick(kernels),
    boot: pick(loaders),
    programs: pick(programs),
    firmware: pick(firmware),
    work: join(home, "work"),
    say,
  });
  for (const [name, content] of written) write(join(assets, name), content);
  // Last: whatever is said to be there is there.
  const versions = Object.fromEntries(all.map(({ name, version }) => [name, version]));
  write(list, json({ ...made, [machine]: { key, packages: versions, seen } }));
}

/** Reads the lists when those that are here are old, of other parts of the archive, or were never read to the end. When that was. */
function refresh(apt: Apt, home: string, say: (text: string) => void): number {
  const stamp = join(home, "lists-read");
  const age = Date.now() - (statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const sources = readFileSync(join(home, "sources.list"), "utf8");
  if (age < LISTS_AGE_MS && readFileSync(stamp, "utf8") === sources) return statSync(stamp).mtimeMs;
  say("reading Debian's lists of packages");
  apt.update();
  writeFileSync(stamp, sources);
  return statSync(stamp).mtimeMs;
}

function json(made: Made): string {
  return `${JSON.stringify(made, null, 2)}\n`;
}

function read(file: string): Made {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Made;
  } catch {
    return {};
  }
}

/** In one step: a service that is running reads the old file or the new one. */
function write(file: string, content: Buffer | string): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

function architectures(): Architecture[] {
  const names = (process.env.ARCHITECTURES || Object.keys(TARGETS).join(" ")).split(/[\s,]+/).filter(Boolean);
  return names.map((name) => {
    if (name in TARGETS) return name as Architecture;
    throw new Fault("Invalid", "ARCHITECTURES", `there is no ${name}`, {
      remedy: `take of ${Object.keys(TARGETS).join(", ")}`,
    });
  });
}
