/**
 * What may be on a disk after a loss of power, made from a trace of what a process did to its files (strace): what was synced is there;
 * of the rest, each write is there, is not, or is there in part (by sectors of 512 bytes), in any combination, and so are names.
 */
import { basename, dirname } from "node:path";
import type { Random } from "@slipway/base";

const SECTOR = 512;

export type Step =
  | { is: "open"; path: string }
  | { is: "write"; path: string; at: number; bytes: Buffer }
  | { is: "truncate"; path: string; size: number }
  | { is: "sync"; path: string }
  | { is: "unlink"; path: string }
  | { is: "rename"; path: string; to: string }
  /** A line on the process's standard output. */
  | { is: "said"; text: string };

/** For `strace`: every call that `stepsOf` knows. */
export const TRACED = "trace=openat,pwrite64,write,fsync,fdatasync,ftruncate,unlink,rename";

/** The steps that concern files in `folder`, from the output of `strace -f -y -xx -s 10000000 -e TRACED`. */
export function stepsOf(trace: string, folder: string): Step[] {
  const steps: Step[] = [];
  for (const line of linesOf(trace)) {
    const [, call, rest] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? [];
    if (call === undefined || / = -1 /.test(line.slice(-60))) continue;
    const on = textOf(/^\d+<([^>]*)>/.exec(rest!)?.[1]);
    const quoted = [...rest!.matchAll(/"([^"]*)"/g)].map(([, hex]) => bytesOf(hex!));
    const path = quoted[0]?.toString() ?? "";
    const done = rest!.endsWith(" = 0");
    if (call === "write" && rest!.startsWith("1<")) steps.push({ is: "said", text: path.trim() });
    else if (call === "openat" && dirname(path) === folder && rest!.includes("O_CREAT"))
      steps.push({ is: "open", path });
    else if (call === "unlink" && done && dirname(path) === folder) steps.push({ is: "unlink", path });
    else if (call === "rename" && done && dirname(path) === folder)
      steps.push({ is: "rename", path, to: quoted[1]!.toString() });
    else if ((call === "fsync" || call === "fdatasync") && done && (on === folder || dirname(on) === folder))
      steps.push({ is: "sync", path: on });
    else if (dirname(on) === folder && call === "pwrite64")
      steps.push({ is: "write", path: on, at: Number(/, (\d+)\)/.exec(rest!.slice(-60))![1]), bytes: quoted[0]! });
    else if (dirname(on) === folder && call === "ftruncate")
      steps.push({ is: "truncate", path: on, size: Number(/, (\d+)\)/.exec(rest!)![1]) });
    else if (dirname(on) === folder && call === "write")
      throw new Error(`a write without a place: ${line.slice(0, 80)}`);
  }
  return steps;
}

/** The lines of a trace. A call that another thread's came between stands in two; it is put together where it ended. */
function* linesOf(trace: string): Generator<string> {
  const begun = new Map<string, string>();
  for (const line of trace.split("\n")) {
    const [, thread, start] = /^(\d+) +(.*) <unfinished \.\.\.>$/.exec(line) ?? [];
    if (thread !== undefined) {
      begun.set(thread, `${thread} ${start}`);
      continue;
    }
    const [, of, end] = /^(\d+) +<\.\.\. \w+ resumed> ?(.*)$/.exec(line) ?? [];
    yield of === undefined ? line : `${begun.get(of)}${end}`;
  }
}

interface Inode {
  synced: Content;
  open: Change[];
}

type Change = { at: number; bytes: Buffer } | { size: number };
type Naming = (names: Map<string, Inode>) => void;

/** The files of one folder while steps are played. */
export class Disk {
  readonly #names = new Map<string, Inode>();
  #syncedNames = new Map<string, Inode>();
  #openNamings: Naming[] = [];
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  play(step: Step): void {
    if (step.is === "said") return;
    if (step.is === "sync" && step.path === this.#folder) {
      this.#syncedNames = new Map(this.#names);
      this.#openNamings = [];
    } else if (step.is === "sync") {
      const inode = this.#names.get(step.path);
      for (const change of inode?.open.splice(0) ?? []) inode!.synced.change(change, () => true);
    } else if (step.is === "open") {
      if (this.#names.has(step.path)) return;
      const inode: Inode = { synced: new Content(), open: [] };
      this.#name((names) => void names.set(step.path, inode));
    } else if (step.is === "unlink") this.#name((names) => void names.delete(step.path));
    else if (step.is === "rename") {
      const inode = this.#names.get(step.path)!;
      this.#name((names) => {
        names.delete(step.path);
        names.set(step.to, inode);
      });
    } else if (step.is === "truncate") this.#names.get(step.path)!.open.push({ size: step.size });
    else this.#names.get(step.path)!.open.push({ at: step.at, bytes: step.bytes });
  }

  /** One of the states that a loss of power may leave now: contents by file name. */
  afterPowerLoss(random: Random): Map<string, Buffer> {
    const names = new Map(this.#syncedNames);
    for (const naming of this.#openNamings) if (random.int(2) === 0) naming(names);
    const files = new Map<string, Buffer>();
    for (const [path, inode] of names) files.set(basename(path), contentOf(inode, random));
    return files;
  }

  #name(naming: Naming): void {
    naming(this.#names);
    this.#openNamings.push(naming);
  }
}

function contentOf({ synced, open }: Inode, random: Random): Buffer {
  const content = new Content(synced.bytes);
  for (const change of open) {
    const fate = (["kept", "lost", "torn"] as const)[random.int(3)];
    if (fate !== "lost") content.change(change, () => fate === "kept" || random.int(2) === 0);
  }
  return content.bytes;
}

/** The bytes of a file, which grows in place. */
class Content {
  #room: Buffer;
  #size: number;

  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.#room = Buffer.from(bytes);
    this.#size = bytes.length;
  }

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#size);
  }

  /** `keeps`: asked of each sector that is written. */
  change(change: Change, keeps: () => boolean): void {
    if ("size" in change) {
      this.#grow(change.size);
      this.#room.fill(0, change.size, Math.max(change.size, this.#size));
      this.#size = change.size;
      return;
    }
    const { at, bytes } = change;
    const end = at + bytes.length;
    this.#grow(end);
    this.#size = Math.max(this.#size, end);
    for (let from = at; from < end; ) {
      const to = Math.min(end, (Math.floor(from / SECTOR) + 1) * SECTOR);
      if (keeps()) bytes.copy(this.#room, from, from - at, to - at);
      from = to;
    }
  }

  #grow(size: number): void {
    if (size <= this.#room.length) return;
    const room = Buffer.alloc(2 * size);
    this.bytes.copy(room);
    this.#room = room;
  }
}

function textOf(hex: string | undefined): string {
  return hex === undefined ? "" : bytesOf(hex).toString();
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll("\\x", ""), "hex");
}
