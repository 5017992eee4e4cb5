import { mkdir } from "node:fs/promises";
import { get as getPlain, type IncomingMessage } from "node:http";
import { get as getSecure } from "node:https";
import { join } from "node:path";
import { type Clock, deadline, Fault } from "@slipway/base";
import { KeptProcess } from "../../kubernetes/kept-process.ts";
import { LAB } from "../rack.ts";
import type { PodProgram } from "./pod-files.ts";
import { cable, inRoom } from "./room.ts";

export interface PodOptions {
  address: string;
  /** Of its files. */
  folder: string;
  program: PodProgram;
  /** Where the program is on this machine, and its arguments. */
  command: readonly [file: string, ...args: string[]];
  volumes: readonly [from: string, to: string][];
  clock: Clock;
}

const READY_MS = 120_000;
const LOOK_MS = 200;
const ANSWER_MS = 5_000;
/** Nobody's, as these Pods run. */
const USER = "65534:65534";
const PLACE = "/usr/local/bin/program";

const LINES = [
  "root=$1 link=$2 address=$3 file=$4 count=$5; shift 5",
  cable("eth0", '"$link"', `link set "$link" master ${LAB.bridge}`),
  "ip link set lo up",
  `ip address add "$address/${LAB.prefix}" dev eth0`,
  'mount -t tmpfs -o mode=755 none "$root"',
  'for name in usr proc dev etc tmp; do mkdir "$root/$name"; done',
  'mount --rbind /usr "$root/usr"',
  'mount -t tmpfs -o mode=755 none "$root/usr/local"',
  'for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done',
  'mount -t proc none "$root/proc"',
  'for name in null zero urandom; do touch "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done',
  `mkdir "$root/usr/local/bin"; touch "$root${PLACE}"; mount --bind "$file" "$root${PLACE}"`,
  'while [ "$count" -gt 0 ]; do mkdir -p "$root$2"; mount --bind "$1" "$root$2"; shift 2; count=$((count-1)); done',
  `exec chroot --userspec=${USER} "$root" ${PLACE} "$@" 9<&-`,
];

/** A Pod on the lab's network: the program of its container in a room, with an address of its own and little more of this machine than its libraries. */
export class LabPod {
  readonly address: string;
  readonly #process: KeptProcess;

  private constructor(address: string, process: KeptProcess) {
    this.address = address;
    this.#process = process;
  }

  /** Resolves once its readiness probe is answered. Rejects with what the program said when it is not, or the signal is aborted; nothing is left open then. */
  static async start(options: PodOptions, signal: AbortSignal): Promise<LabPod> {
    const { address, folder, program, command, volumes, clock } = options;
    const [file, ...args] = command;
    const root = join(folder, "root");
    await mkdir(root, { recursive: true });
    const link = `pod-${address.split(".").at(-1)}`;
    const places = [String(volumes.length), ...volumes.flat()];
    const process = new KeptProcess({
      ...inRoom(LINES, [root, link, address, file, ...places, ...args]),
      ...{ logFile: join(folder, "log"), orphaned: "KILL" },
    });
    const pod = new LabPod(address, process);
    const { signal: late, done } = deadline(clock, READY_MS);
    try {
      while (!(await isReady(address, program))) {
        signal.throwIfAborted();
        if (late.aborted || !process.running)
          throw new Fault("Unavailable", program.name, `it is not ready:\n${await process.lastWords()}`);
        await clock.sleep(LOOK_MS, signal);
      }
      return pod;
    } catch (error) {
      await pod.stop();
      throw error;
    } finally {
      done();
    }
  }

  async stop(): Promise<void> {
    await this.#process.stop("KILL");
  }
}

/** Whether the probe of the container is answered as kubelet has it. Without one it is. */
async function isReady(host: string, { readinessProbe }: PodProgram): Promise<boolean> {
  const asked = readinessProbe?.httpGet;
  if (asked === undefined) return true;
  const { path, port, scheme } = asked;
  const options = { host, port, path, timeout: ANSWER_MS, agent: false as const };
  return await new Promise((resolve) => {
    const heard = (answer: IncomingMessage): void => {
      answer.resume();
      const { statusCode = 0 } = answer;
      resolve(statusCode >= 200 && statusCode < 400);
    };
    const request =
      scheme === "HTTPS" ? getSecure({ ...options, rejectUnauthorized: false }, heard) : getPlain(options, heard);
    request.on("error", () => resolve(false)).on("timeout", () => request.destroy());
  });
}
