/** debian-installer as Debian packs it, and a way to Debian's mirror for machines that have no other network than the suite's. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { DEBIAN } from "../../../tools/image/apt.ts";
import { fetched, indexOf, isThere, MIRROR, sha256 } from "./archive.ts";
import { type Built, fitting, kernelsOf } from "./fitting.ts";
import { openProxy } from "./proxy.ts";
import { earlierVersions, fieldsOf, pathOf, readUdebs, stanzaOf, type Udeb, udebOf } from "./udeb-list.ts";
import { udebSuite } from "./udeb-suite.ts";

const run = promisify(execFile);
const PACKAGE = `debian-installer-${DEBIAN.number}-netboot-amd64`;
const PACKAGES = "main/binary-amd64/Packages";
const IMAGE = `usr/lib/debian-installer/images/${DEBIAN.number}/amd64/text/debian-installer/amd64`;
const UDEBS = "main/debian-installer/binary-amd64/Packages";
/** Point releases that are gone back at most. */
const OLDEST = 4;
/** A package's control file is within. */
const HEAD_BYTES = 64 * 1024;

export interface DebianInstaller {
  /** Folder with `linux` and `initrd.gz`. */
  folder: string;
  /** Kernel arguments that it needs on this mirror. */
  arguments: readonly string[];
  /** A Unix socket behind which is Debian's mirror, as a proxy for itself. */
  mirror: string;
  close(): Promise<void>;
}

/**
 * Fetches the newest installer whose kernel's modules the mirror has, and opens the way. Resolves with why that can't be had, where it can't.
 * To be called where the network is.
 */
export async function debianInstaller(): Promise<DebianInstaller | string> {
  const place = await mkdtemp(join(tmpdir(), "slipway-debian-"));
  const drop = (): Promise<void> => rm(place, { recursive: true, force: true });
  try {
    const index = await indexOf(DEBIAN.name, UDEBS);
    const list = readUdebs(index.text);
    const { version, built, linux, initramfs } = await newestFitting(place, await kernelsOf(list));
    const { udebs, earlier, missing } = await fitting(list, built, controlIn(place));
    console.log(`debian-installer ${version} with kernel ${built.kernel}: ${udebs.length} components`);
    // Where nothing had to give way, all is Debian's own, its signature included.
    const changed = !index.signed || earlier.length + missing.length > 0;
    if (changed)
      console.log(
        `their list is ${index.signed ? "" : "not "}the signed one; earlier: ${named(earlier)}; not to be had: ${named(missing)}`,
      );
    const suite = changed ? await udebSuite(place, udebs) : undefined;
    const folder = join(place, "installer");
    await mkdir(folder);
    await writeFile(join(folder, "linux"), linux);
    await writeFile(join(folder, "initrd.gz"), Buffer.concat([initramfs, suite?.overlay ?? Buffer.alloc(0)]));
    const mirror = join(place, "mirror.sock");
    const proxy = await openProxy(mirror, MIRROR, suite?.files ?? new Map());
    const args = suite === undefined ? [] : [suite.argument];
    return { folder, arguments: args, mirror, close: () => proxy.close().then(drop) };
  } catch (error) {
    await drop();
    return `${PACKAGE} and Debian's mirror: ${(error as Error).message.trim().split("\n").at(-1)}`;
  }
}

const named = (udebs: readonly { name: string; version: string }[]): string =>
  udebs.map(({ name, version }) => `${name} ${version}`).join(", ") || "none";

interface Image {
  version: string;
  built: Built;
  linux: Buffer;
  initramfs: Buffer;
}

/**
 * An installer from before the last point release is no longer the list's, and a list can be older than the newest installer: either way the
 * modules of its kernel can't be had. The newest is compared with the signed list; earlier ones are in none any more.
 * `kernels`: packages of kernels that the mirror has.
 */
async function newestFitting(place: string, kernels: readonly Udeb[]): Promise<Image> {
  const { text } = await indexOf(DEBIAN.name, PACKAGES);
  const newest = udebOf(fieldsOf(stanzaOf(text, PACKAGE)));
  const seen: string[] = [];
  for (const version of [newest.version, ...earlierVersions(newest.version).slice(0, OLDEST)]) {
    const path = pathOf(newest, version);
    if (!(await isThere(path))) continue;
    const sources = await builtUsing(place, path);
    const linux = sources.get("linux");
    const kernel = kernels.find((udeb) => udeb.version === linux)?.kernel;
    seen.push(`${version} has ${linux}`);
    if (kernel === undefined) continue;
    const bytes = await fetched(path);
    if (version === newest.version && sha256(bytes) !== newest.fields.get("SHA256"))
      throw new Error(`${path} is not what the list names`);
    return { version, built: { kernel, sources }, ...(await imageIn(bytes, place)) };
  }
  const had = kernels.map(({ version }) => version).join(", ") || "none";
  throw new Error(`no installer whose kernel's modules are there: ${seen.join(", ")}; there are those of ${had}`);
}

/** Versions of what the package was built with, by source package. They stand in its head. */
async function builtUsing(place: string, path: string): Promise<Map<string, string>> {
  const file = join(place, "head.deb");
  await writeFile(file, await fetched(path, HEAD_BYTES));
  const { stdout } = await run("dpkg-deb", ["--field", file, "Built-Using"]);
  return new Map([...stdout.matchAll(/([^\s,]+) \(= ([^)]+)\)/g)].map(([, name = "", of = ""]) => [name, of]));
}

async function imageIn(bytes: Buffer, place: string): Promise<{ linux: Buffer; initramfs: Buffer }> {
  const file = join(place, "installer.deb");
  const unpacked = join(place, "unpacked");
  await writeFile(file, bytes);
  await run("dpkg-deb", ["--extract", file, unpacked]);
  const linux = await readFile(join(unpacked, IMAGE, "linux"));
  const initramfs = await readFile(join(unpacked, IMAGE, "initrd.gz"));
  await Promise.all([rm(unpacked, { recursive: true }), rm(file)]);
  return { linux, initramfs };
}

/** Reads a package's control file by dpkg-deb, which wants a file. */
function controlIn(place: string): (udeb: Buffer) => Promise<string> {
  let count = 0;
  return async (udeb) => {
    const file = join(place, `${count++}.udeb`);
    await writeFile(file, udeb);
    return (await run("dpkg-deb", ["--field", file])).stdout;
  };
}
