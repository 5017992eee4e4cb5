/** Where the servers' programs are, and how one is started in a folder of its own that goes with it. */
import {
  accessSync,
  chownSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock } from "@slipway/base";
import { assetsFolder } from "../../../src/kubernetes/assets.ts";
import { KeptProcess } from "../../../src/kubernetes/kept-process.ts";
import { type Authority, createAuthority, type Issued, issueServer } from "../../../src/pki/authority.ts";

const LOOKS = 600;
const LOOK_MS = 100;

/** Folders that Debian keeps off the PATH. */
function folders(): string[] {
  const versions = "/usr/lib/postgresql";
  let postgresql: string[] = [];
  try {
    postgresql = readdirSync(versions).map((version) => join(versions, version, "bin"));
  } catch {
    // There is none.
  }
  return [
    ...(process.env.PATH ?? "").split(delimiter),
    "/usr/sbin",
    ...postgresql.sort().reverse(),
    assetsFolder(process.env),
  ];
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Undefined: it is not installed. Debian's own folders come first where `beside` names a program that must lie in the same one. */
export function findProgram(name: string, beside?: string): string | undefined {
  const folder = folders().find(
    (each) => executable(join(each, name)) && (beside === undefined || executable(join(each, beside))),
  );
  return folder === undefined ? undefined : join(folder, name);
}

/** Why these tests are skipped, which is printed; false: all programs are there. `from`: what brings them. */
export function skipWithout(names: readonly string[], from: string): string | false {
  const missing = names.filter((name) => findProgram(name) === undefined);
  if (missing.length === 0) return false;
  const reason = `no ${missing.join(", ")} here (${from})`;
  console.log(`test-datastores: skipped: ${reason}`);
  return reason;
}

export interface Folder {
  path: string;
  /** Writes a file that the server's own user alone may read. */
  write(name: string, text: string): string;
}

/** The unprivileged user that databases insist on; undefined: we are one. */
const NOBODY = process.getuid?.() === 0 ? ids() : undefined;

function ids(): { uid: number; gid: number } {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((each) => each.startsWith("nobody:"));
  const [, , uid, gid] = line!.split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

export function serverFolder(name: string): Folder {
  const path = mkdtempSync(join(tmpdir(), `slipway-${name}-`));
  if (NOBODY !== undefined) chownSync(path, NOBODY.uid, NOBODY.gid);
  return {
    path,
    write(file, text) {
      writeFileSync(join(path, file), text, { mode: 0o600 });
      if (NOBODY !== undefined) chownSync(join(path, file), NOBODY.uid, NOBODY.gid);
      return join(path, file);
    },
  };
}

/** A command as the unprivileged user. */
export function asNobody(command: string, args: readonly string[]): [string, string[]] {
  if (NOBODY === undefined) return [command, [...args]];
  const { uid, gid } = NOBODY;
  return ["setpriv", [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", command, ...args]];
}

export interface Started {
  process: KeptProcess;
  stop(): Promise<void>;
}

/** Starts a server as nobody, waits until `up` resolves, and ends it after the test. Its folder is removed with it. */
export async function startServer(
  t: TestContext,
  folder: Folder,
  { command, args, up }: { command: string; args: readonly string[]; up: () => Promise<unknown> },
): Promise<Started> {
  const logs = mkdtempSync(join(tmpdir(), "slipway-server-log-"));
  const [program, all] = asNobody(command, args);
  const process = new KeptProcess({
    command: program,
    args: all,
    logFile: join(logs, "log"),
    removeAfter: folder.path,
  });
  t.after(async () => {
    await process.stop("KILL");
    rmSync(logs, { recursive: true });
  });
  for (let look = 0; ; look++) {
    const problem = await up().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (problem === undefined) break;
    if (!process.running || look === LOOKS)
      throw new Error(`${command} does not come up: ${String(problem)}\n${await process.lastWords()}`);
    await systemClock.sleep(LOOK_MS);
  }
  return { process, stop: () => process.stop("TERM") };
}

export interface Certificates {
  authority: Authority;
  server: Issued;
}

/** An authority and a certificate for servers on loopback. */
export async function certificates(): Promise<Certificates> {
  const authority = await createAuthority({ commonName: "datastores", clock: systemClock });
  const server = await issueServer(authority, {
    commonName: "server",
    hosts: ["127.0.0.1", "localhost"],
    clock: systemClock,
  });
  return { authority, server };
}
