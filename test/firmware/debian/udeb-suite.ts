/**
 * A suite of nothing but an installer's components, signed by a key of the run's own, which the installer's initramfs is given beside Debian's.
 * The installer reads its components from it by debian-installer's own setting `mirror/udeb/suite`. Debian's suites stay as they are:
 * debootstrap and apt check what they install against Debian's signatures.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { packCpio } from "../../../src/netboot/agent/cpio.ts";
import { KEYS, sha256 } from "./archive.ts";
import { type Udeb, writeUdebs } from "./udeb-list.ts";

const run = promisify(execFile);
/** Its name, below `dists`. */
const SUITE = "slipway";
const INDEX = "main/debian-installer/binary-amd64/Packages.gz";
/** Where the installer looks for keys (net-retriever, bootstrap-base). */
const KEYS_OF_INSTALLER = "usr/share/keyrings/archive.gpg";

export interface UdebSuite {
  /** Kernel argument by which the installer reads its components from it. */
  argument: string;
  /** By path below the archive's root. */
  files: ReadonlyMap<string, Buffer>;
  /** What is put behind the installer's initramfs. */
  overlay: Buffer;
}

/** Makes the suite. Needs gpg and Debian's keys. `place`: a folder to work in. */
export async function udebSuite(place: string, udebs: readonly Udeb[]): Promise<UdebSuite> {
  const index = gzipSync(writeUdebs(udebs));
  const release = [
    `Suite: ${SUITE}`,
    `Codename: ${SUITE}`,
    "Architectures: amd64",
    "Components: main",
    "SHA256:",
    ` ${sha256(index)} ${index.length} ${INDEX}`,
    "",
  ].join("\n");
  const { signature, key } = await signed(join(place, "gnupg"), release);
  const content = Buffer.concat([await readFile(KEYS), key]);
  return {
    argument: `mirror/udeb/suite=${SUITE}`,
    files: new Map([
      [`dists/${SUITE}/Release`, Buffer.from(release)],
      [`dists/${SUITE}/Release.gpg`, signature],
      [`dists/${SUITE}/${INDEX}`, index],
    ]),
    overlay: gzipSync(packCpio(new Map([[KEYS_OF_INSTALLER, { is: "file", content, executable: false }]]))),
  };
}

/** A new key's signature of the text, and the key's public half. */
async function signed(home: string, release: string): Promise<{ signature: Buffer; key: Buffer }> {
  await mkdir(home, { mode: 0o700 });
  const gpg = async (...args: string[]): Promise<Buffer> => {
    const all = ["--homedir", home, "--batch", "--quiet", "--passphrase", "", ...args];
    return (await run("gpg", all, { encoding: "buffer" })).stdout;
  };
  try {
    await gpg("--quick-generate-key", "firmware suite", "ed25519", "sign", "never");
    const text = join(home, "Release");
    await writeFile(text, release);
    return { signature: await gpg("--armor", "--detach-sign", "--output", "-", text), key: await gpg("--export") };
  } finally {
    await run("gpgconf", ["--homedir", home, "--kill", "all"]);
    await rm(home, { recursive: true });
  }
}
