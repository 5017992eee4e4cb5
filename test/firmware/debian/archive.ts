/** Debian's archive as a mirror serves it: what its signed release names, and whether a file is there. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { gunzipSync } from "node:zlib";

export const MIRROR = { host: "deb.debian.org", root: "/debian" };
const ARCHIVE = `http://${MIRROR.host}${MIRROR.root}`;
/** Of the package debian-archive-keyring. */
export const KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg";
const PATIENCE_MS = 300_000;
/** Questions at once. */
const AT_ONCE = 16;

/** A file's bytes, or the first of them, by its path below the archive's root. Throws where the mirror does not have it. */
export async function fetched(path: string, first?: number): Promise<Buffer> {
  const headers = first === undefined ? {} : { range: `bytes=0-${first - 1}` };
  const answer = await fetch(`${ARCHIVE}/${path}`, { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!answer.ok) throw new Error(`${ARCHIVE}/${path}: ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

/** Whether the mirror has the file. */
export async function isThere(path: string): Promise<boolean> {
  const { status } = await fetch(`${ARCHIVE}/${path}`, { method: "HEAD", signal: AbortSignal.timeout(PATIENCE_MS) });
  return status === 200;
}

/** Asks about many, some at once; the answers are in the order of what was asked. */
export async function asked<T, A>(about: readonly T[], ask: (one: T) => Promise<A>): Promise<A[]> {
  const answers: A[] = [];
  let next = 0;
  const askOn = async (): Promise<void> => {
    for (let at = next++; at < about.length; at = next++) answers[at] = await ask(about[at]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askOn));
  return answers;
}

export interface Index {
  /** Unpacked. */
  text: string;
  /** Whether it is the one that the suite's release names, which Debian has signed. */
  signed: boolean;
}

/** An index of a suite: the one that is signed, where the mirror has it, else the one that is there. `index`: such as `main/binary-amd64/Packages`. */
export async function indexOf(suite: string, index: string): Promise<Index> {
  const release = execFileSync("gpgv", ["--quiet", "--keyring", KEYS, "--output", "-", "-"], {
    input: await fetched(`dists/${suite}/InRelease`),
    stdio: ["pipe", "pipe", "pipe"],
  }).toString();
  const sums = new Map([...release.matchAll(/^ ([0-9a-f]{64}) +\d+ (\S+)$/gm)].map(([, sum, path]) => [path, sum]));
  const sum = sums.get(`${index}.gz`);
  const byHash = `dists/${suite}/${dirname(index)}/by-hash/SHA256/${sum}`;
  const packed = await fetched((await isThere(byHash)) ? byHash : `dists/${suite}/${index}.gz`);
  return { text: gunzipSync(packed).toString(), signed: sha256(packed) === sum };
}

/** SHA-256 in hexadecimal. */
export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
