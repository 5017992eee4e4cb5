import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { systemClock as clock, Fault } from "@slipway/base";

/** The socket that QEMU orders the TPM over, in its folder. */
const SOCKET = "control";
const LOOK_MS = 20;
/** The TPM of the life before has so long to end by itself; one that no machine ever connected to does not. */
const LAST_MS = 5_000;

/**
 * A TPM 2.0 for one life of a machine (swtpm). Its seeds, and so its endorsement key, are in the folder and the same in every life. It ends when QEMU, which connects to it,
 * has ended; `stop` is for a machine that did not start.
 */
export interface EmulatedTpm {
  /** Path of the socket for QEMU. */
  socket: string;
  stop(): Promise<void>;
}

/** Starts it, and resolves when QEMU may connect. Rejects with a `Fault` that says what swtpm said. */
export async function startTpm(folder: string): Promise<EmulatedTpm> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [socket, pidFile] = [shorter(join(folder, SOCKET)), join(folder, "pid")];
  await endLast(pidFile);
  await rm(socket, { force: true });
  const control = ["--ctrl", `type=unixio,path=${socket}`];
  // The process that we start ends as soon as the socket is there.
  const args = [
    "socket",
    "--tpm2",
    "--tpmstate",
    `dir=${folder}`,
    ...control,
    "--terminate",
    "--daemon",
    "--pid",
    `file=${pidFile}`,
  ];
  await promisify(execFile)("swtpm", args).catch((error: { stderr?: string; message: string }) => {
    throw new Fault("Unavailable", folder, `swtpm: ${(error.stderr || error.message).trim()}`, { cause: error });
  });
  return {
    socket,
    async stop() {
      const pid = Number(await readFile(pidFile, "utf8").catch(() => ""));
      if (pid > 0) process.kill(pid);
    },
  };
}

/** The TPM of the life before has ended: with it goes the path of its socket, whoever listens there by then. */
async function endLast(pidFile: string): Promise<void> {
  const began = clock.monotonic();
  for (;;) {
    const pid = Number(await readFile(pidFile, "utf8").catch(() => ""));
    const program = pid > 0 ? await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "") : "";
    if (program.trim() !== "swtpm") return;
    if (clock.monotonic() - began >= LAST_MS) process.kill(pid, "SIGKILL");
    await clock.sleep(LOOK_MS);
  }
}

/** A Unix socket's path is at most 107 bytes long; from here it may be shorter. */
function shorter(path: string): string {
  const short = relative("", path);
  return short.length < path.length ? short : path;
}
