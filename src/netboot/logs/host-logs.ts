import type { Hosts } from "../hosts/hosts.ts";
import { keptLine } from "./line.ts";

export type LogSource = "dhcp" | "tftp" | "http" | "syslog" | "agent";

export interface LogLine {
  /** When it came, in milliseconds since 1970. */
  at: number;
  source: LogSource;
  line: string;
}

export interface HostLogsOptions {
  hosts: Pick<Hosts, "get" | "onChange">;
  /** Default: 256 KiB; the oldest lines are dropped. */
  bytesPerHost?: number;
  /** Default: 64 MiB; the log of the host that was silent longest is dropped. */
  bytesInAll?: number;
}

interface HostLog {
  lines: LogLine[];
  /** How many ever came. */
  count: number;
  bytes: number;
  /** Resolved when there is something to see, then replaced. */
  news: PromiseWithResolvers<void>;
}

/**
 * What each host logged while it booted, in memory and bounded. Lines of machines that are not known are dropped; those of a host that
 * turns out to be another join that one's.
 */
export class HostLogs {
  readonly #hosts: HostLogsOptions["hosts"];
  readonly #bytesPerHost: number;
  readonly #bytesInAll: number;
  /** By host name; the one that spoke last is the last. */
  readonly #logs = new Map<string, HostLog>();
  readonly #stop: () => void;
  #bytes = 0;
  #closed = false;

  constructor({ hosts, bytesPerHost = 256 * 1024, bytesInAll = 64 * 1024 * 1024 }: HostLogsOptions) {
    this.#hosts = hosts;
    this.#bytesPerHost = bytesPerHost;
    this.#bytesInAll = bytesInAll;
    this.#stop = hosts.onChange((change) => {
      if (change.is === "gone") this.#leave(change.name, change.into);
    });
  }

  /** Adds a line to a host's log, by its name or any of its cards. Secrets of ours and what could steer a terminal are taken out. */
  append(nameOrMac: string, source: LogSource, line: string, at: number): void {
    const name = this.#hosts.get(nameOrMac)?.name;
    if (name === undefined || this.#closed) return;
    const log = this.#logOf(name);
    this.#logs.delete(name);
    this.#logs.set(name, log);
    this.#add(log, { at, source, line: keptLine(line) });
    log.count++;
    wake(log);
    for (const silent of this.#logs.keys()) {
      if (this.#bytes <= this.#bytesInAll || silent === name) break;
      this.#leave(silent);
    }
  }

  /**
   * A host's lines, oldest first; with `follow`, then each as it comes, until the signal is aborted, the log is gone or this is closed. A
   * reader that is slower than the log misses what has left meanwhile. Of a host that is not known there are none.
   */
  async *read(
    nameOrMac: string,
    { follow = false, signal }: { follow?: boolean; signal?: AbortSignal } = {},
  ): AsyncGenerator<LogLine, void, void> {
    const name = this.#hosts.get(nameOrMac)?.name;
    if (name === undefined) return;
    const log = this.#logOf(name);
    const wakeUp = (): void => wake(log);
    signal?.addEventListener("abort", wakeUp);
    try {
      for (let seen: number | undefined; ; ) {
        // Counted from the end: older lines of another log may have joined in front.
        const fresh = log.lines.slice(seen === undefined ? 0 : Math.max(0, log.lines.length - (log.count - seen)));
        seen = log.count;
        yield* fresh;
        if (!follow || signal?.aborted || this.#closed || this.#logs.get(name) !== log) return;
        if (log.count === seen) await log.news.promise;
        if (signal?.aborted) return;
      }
    } finally {
      signal?.removeEventListener("abort", wakeUp);
    }
  }

  /** Ends every reading. */
  close(): void {
    this.#closed = true;
    this.#stop();
    for (const log of this.#logs.values()) wake(log);
  }

  #logOf(name: string): HostLog {
    const log = this.#logs.get(name) ?? { lines: [], count: 0, bytes: 0, news: Promise.withResolvers<void>() };
    this.#logs.set(name, log);
    return log;
  }

  /** Forgets a log, or joins it with another's in the order of time. */
  #leave(name: string, into?: string): void {
    const log = this.#logs.get(name);
    if (log === undefined) return;
    this.#logs.delete(name);
    const lines = this.#empty(log);
    wake(log);
    if (into === undefined) return;
    const other = this.#logOf(into);
    for (const line of [...lines, ...this.#empty(other)].sort((a, b) => a.at - b.at)) this.#add(other, line);
  }

  #add(log: HostLog, line: LogLine): void {
    log.lines.push(line);
    this.#grow(log, cost(line));
    while (log.bytes > this.#bytesPerHost) this.#grow(log, -cost(log.lines.shift()!));
  }

  #empty(log: HostLog): LogLine[] {
    this.#grow(log, -log.bytes);
    return log.lines.splice(0);
  }

  #grow(log: HostLog, bytes: number): void {
    log.bytes += bytes;
    this.#bytes += bytes;
  }
}

/** What a line takes in memory, about: a letter beyond ISO 8859-1 makes every letter take two bytes. */
function cost({ line }: LogLine): number {
  return (/[^\0-\xff]/.test(line) ? 2 : 1) * line.length + 64;
}

function wake(log: HostLog): void {
  log.news.resolve();
  log.news = Promise.withResolvers<void>();
}
