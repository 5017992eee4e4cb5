import type { Report } from "./parlay.ts";

export type LogState = "Running" | "Completed" | "Failed";

export interface LogEntry {
  /** RFC 3339. */
  created: string;
  task: string;
  /** What it printed. */
  entry: string;
  /** Empty: none. */
  error: string;
}

export interface HostLog {
  state: LogState;
  entries: readonly LogEntry[];
}

const MOST_HOSTS = 2_000;
const MOST_ENTRIES = 500;
/** Of all hosts, in characters. */
const MOST_CHARACTERS = 32 * 1024 * 1024;

interface Kept {
  state: LogState;
  entries: LogEntry[];
  characters: number;
}

/** What was done on each host, as plunder's clients read it: bounded, the oldest entries go first. */
export class ParlayLogs {
  readonly #hosts = new Map<string, Kept>();
  #characters = 0;

  /** A map begins on the host. What earlier ones told goes: a client that waits for the end is to see this one's. */
  begin(host: string): void {
    this.delete(host);
    this.#hosts.set(host, { state: "Running", entries: [], characters: 0 });
    for (const name of this.#hosts.keys()) {
      if (this.#hosts.size <= MOST_HOSTS) return;
      this.delete(name);
    }
  }

  add({ host, deployment, action, output, error, isIgnored }: Report, now: number): void {
    const kept = this.#hosts.get(host);
    if (kept === undefined) return;
    const created = new Date(now).toISOString();
    const said = error === undefined ? "" : `${isIgnored ? "ignored: " : ""}${error.advice}`;
    const entry = { created, task: `${deployment}: ${action}`, entry: output, error: said };
    this.#count(kept, sizeOf(entry));
    kept.entries.push(entry);
    while (kept.entries.length > MOST_ENTRIES) this.#count(kept, -sizeOf(kept.entries.shift()!));
    for (const [name, other] of this.#hosts)
      while (this.#characters > MOST_CHARACTERS && (other.entries.length > 1 || name !== host)) {
        const oldest = other.entries.shift();
        if (oldest === undefined) break;
        this.#count(other, -sizeOf(oldest));
      }
  }

  end(host: string, state: Exclude<LogState, "Running">): void {
    const kept = this.#hosts.get(host);
    if (kept !== undefined) kept.state = state;
  }

  get(host: string): HostLog | undefined {
    const kept = this.#hosts.get(host);
    return kept && { state: kept.state, entries: kept.entries };
  }

  /** False: there is none. */
  delete(host: string): boolean {
    const kept = this.#hosts.get(host);
    if (kept === undefined) return false;
    this.#characters -= kept.characters;
    return this.#hosts.delete(host);
  }

  /** Hosts on which one runs. */
  running(): readonly string[] {
    return [...this.#hosts].flatMap(([host, { state }]) => (state === "Running" ? [host] : []));
  }

  #count(kept: Kept, characters: number): void {
    kept.characters += characters;
    this.#characters += characters;
  }
}

function sizeOf({ task, entry, error }: LogEntry): number {
  return task.length + entry.length + error.length;
}
