/** debian-installer as Debian packs it, and a way to Debian's mirror for machines that have no other network than the suite's. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDoor } from "../../../src/lab/door.ts";

const run = promisify(execFile);
const PACKAGE = "debian-installer-12-netboot-amd64";
const IMAGE = "usr/lib/debian-installer/images/12/amd64/text/debian-installer/amd64";
const MIRROR = { host: "deb.debian.org", port: 80 };
const RELEASE = "http://deb.debian.org/debian/dists/bookworm/Release";
const PATIENCE_MS = 60_000;

export interface DebianInstaller {
  /** Folder with `linux` and `initrd.gz`. */
  folder: string;
  /** A Unix socket behind which is Debian's mirror, as a proxy for itself. */
  mirror: string;
  close(): Promise<void>;
}

/** Fetches the installer with apt-get, and opens the way. Resolves with why that can't be had, where it can't. To be called where the network is. */
export async function debianInstaller(): Promise<DebianInstaller | string> {
  const place = await mkdtemp(join(tmpdir(), "slipway-debian-"));
  const drop = (): Promise<void> => rm(place, { recursive: true });
  try {
    await fetch(RELEASE, { method: "HEAD", signal: AbortSignal.timeout(PATIENCE_MS) });
    await run("apt-get", ["download", "-qq", PACKAGE], { cwd: place });
    const [file] = (await readdir(place)).filter((name) => name.endsWith(".deb"));
    await run("dpkg-deb", ["--extract", join(place, file!), join(place, "unpacked")]);
    const folder = join(place, "installer");
    await mkdir(folder);
    for (const name of ["linux", "initrd.gz"]) await copyFile(join(place, "unpacked", IMAGE, name), join(folder, name));
    await rm(join(place, "unpacked"), { recursive: true });
    const mirror = join(place, "mirror.sock");
    const door = await openDoor({ path: mirror }, MIRROR);
    return { folder, mirror, close: () => door.close().then(drop) };
  } catch (error) {
    await drop();
    return `${PACKAGE} and Debian's mirror: ${(error as Error).message.trim().split("\n").at(-1)}`;
  }
}
