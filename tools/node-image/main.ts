/**
 * `make node-image`: writes a live image that becomes a Kubernetes node: kernel and initramfs, from Debian's packages and programs that
 * are built from Go modules. Same inputs, same bytes; nothing is done when nothing has changed. Needs apt-get, dpkg-deb (Debian or Ubuntu), xz, depmod,
 * mksquashfs and Go, no rights. `VERSION`: minor of Kubernetes. `ARCHITECTURE`: of Debian. `FORM=disk`: as a disk, too; `FORM=cloud-init`: that, and a disk on which
 * cloud-init carries out the bootstrap data. `SLIPWAY_NODE_IMAGE`: another folder.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Fault, systemClock } from "@slipway/base";
import { nodeImageFolder } from "../../src/kubernetes/node-image-folder.ts";
import { BINARIES } from "../../test/kubernetes/assets/binaries.ts";
import {
  IMAGE_STORE,
  NODE_ARCHITECTURES,
  NODE_PROGRAMS,
  NODE_VERSIONS,
  type NodeArchitecture,
  type NodeProgram,
  type NodeVersion,
  nodeBinary,
} from "../../test/kubernetes/assets/node-binaries.ts";
import { provide } from "../../test/kubernetes/assets/provide.ts";
import { oneAtATime } from "../agent/one-at-a-time.ts";
import { FIRMWARE, TARGETS } from "../agent/packages.ts";
import { Apt, type Candidate } from "../image/apt.ts";
import { build } from "./build.ts";
import { LAYER, writeLayer } from "./cloud-init-layer.ts";
import { LOADERS, writeDisk } from "./disk.ts";
import { keyOf } from "./key.ts";
import { CLOUD_INIT, PACKAGES } from "./packages.ts";

/** Debian's lists are read again after a day: a security update is not missed for longer. */
const LISTS_AGE_MS = 24 * 3600_000;

const cache = join(process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), ".cache"), "slipway/node-image");
oneAtATime(cache, () => {
  main().catch((error: unknown) => {
    if (!(error instanceof Fault)) throw error;
    console.error(`node-image: ${error.message}${error.remedy === undefined ? "" : `; ${error.remedy}`}`);
    process.exitCode = 1;
  });
});

async function main(): Promise<void> {
  const minor = chosen("VERSION", Object.keys(NODE_VERSIONS) as NodeVersion[], "1.36");
  const architecture = chosen<NodeArchitecture>("ARCHITECTURE", NODE_ARCHITECTURES, "amd64");
  const folder = nodeImageFolder(process.env, minor, architecture);
  const say = (text: string): void => console.log(`node-image: ${minor} ${architecture}: ${text}`);
  const binary = (name: NodeProgram): string => nodeBinary(name, minor, architecture);
  const assets = await provide({
    binaries: BINARIES,
    names: [...NODE_PROGRAMS.map(binary), IMAGE_STORE],
    sources: join(import.meta.dirname, "../../test/kubernetes/assets"),
    env: process.env,
    clock: systemClock,
    say,
  });
  const program = (name: NodeProgram): string => join(assets, binary(name));

  const home = join(cache, architecture);
  const apt = new Apt(home, architecture, "main non-free-firmware");
  refresh(apt, home, say);
  const kernel = apt.alone([apt.pointedToBy(TARGETS[architecture].kernel, /^linux-image-\d/)]);
  const packages = apt.withDependencies(PACKAGES);
  const firmware = apt.alone(FIRMWARE);
  const all = [...kernel, ...packages, ...firmware];
  const imageStore = join(assets, IMAGE_STORE);
  const key = keyOf(all, [...NODE_PROGRAMS.map(program), imageStore]);
  const list = join(folder, "packages.json");
  if (madeWith(list) === key) say("up to date");
  else {
    say(`fetching ${all.length} packages, about 100 MB, and packing them with what Go builds: half an hour, once`);
    const files = apt.fetch(all);
    const pick = (some: readonly Candidate[]): string[] => some.map((one) => files[all.indexOf(one)]!);
    const debs = { kernel: pick(kernel), packages: pick(packages), firmware: pick(firmware) };
    await build(folder, {
      architecture,
      version: NODE_VERSIONS[minor],
      ...debs,
      ...{ program, imageStore },
      work: join(home, "work"),
      say,
    });
    // Last: whatever is said to be there is there.
    const versions = Object.fromEntries(all.map(({ name, version }) => [name, version]));
    writeFileSync(list, `${JSON.stringify({ key, packages: versions }, null, 2)}\n`);
  }
  const form = chosen("FORM", ["live", "disk", "cloud-init"], "live");
  const wish = { architecture, key, home, say };
  if (form !== "live") makeDisk(apt, folder, { ...wish, name: "disk.img.zst", layers: [] });
  if (form === "cloud-init") {
    const more = apt
      .withDependencies([...PACKAGES, ...CLOUD_INIT])
      .filter((one) => !packages.some(({ name }) => name === one.name));
    const disk = {
      ...wish,
      name: "disk-cloud-init.img.zst",
      layers: [LAYER],
      key: `${key} ${more.map(({ sha256 }) => sha256).join(" ")}`,
    };
    makeDisk(apt, folder, disk, () => {
      say(`fetching ${more.length} packages for cloud-init, about 30 MB`);
      const files = apt.fetch([...packages, ...more]);
      const [base, added] = [files.slice(0, packages.length), files.slice(packages.length)];
      writeLayer(folder, { architecture, base, packages: added, work: join(home, "work-layer"), say });
    });
  }
  console.log(folder);
}

interface DiskWish {
  name: string;
  layers: readonly string[];
  architecture: NodeArchitecture;
  /** Of the live image that is on it, and of the layers. */
  key: string;
  home: string;
  say(text: string): void;
}

/** The same as a disk, where it is not there yet. `prepare`: makes the layers. */
function makeDisk(
  apt: Apt,
  folder: string,
  { name, layers, architecture, key, home, say }: DiskWish,
  prepare = (): void => {},
): void {
  const loaders = apt.alone(LOADERS[architecture]);
  const made = `${key} ${loaders.map(({ version }) => version).join(" ")}`;
  const stamp = join(folder, name.replace(/\.img\.zst$/, ".key"));
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === made) return;
  prepare();
  say(`writing ${name}`);
  writeDisk(folder, { architecture, loaders: apt.fetch(loaders), work: join(home, "work-disk"), name, layers, say });
  writeFileSync(stamp, made);
}

function refresh(apt: Apt, home: string, say: (text: string) => void): void {
  const stamp = join(home, "lists-read");
  const age = systemClock.now() - (statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  if (age < LISTS_AGE_MS) return;
  say("reading Debian's lists of packages");
  mkdirSync(home, { recursive: true });
  apt.update();
  writeFileSync(stamp, "");
}

function madeWith(list: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(list, "utf8")) as { key: string }).key;
  } catch {
    return undefined;
  }
}

function chosen<T extends string>(variable: string, allowed: readonly T[], otherwise: T): T {
  const name = process.env[variable] || otherwise;
  const found = allowed.find((each) => each === name);
  if (found === undefined)
    throw new Fault("Invalid", variable, `there is no ${name}`, { remedy: `take of ${allowed.join(", ")}` });
  return found;
}
