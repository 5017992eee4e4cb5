import { asFault, type Clock, type Log, type Timer } from "@slipway/base";
import type { BootSignal } from "./boot-record.ts";
import type { BootOwner } from "./boot-store.ts";

export interface SignalOutboxPorts {
  clock: Pick<Clock, "after">;
  log: Log;
  /** Writes signals of one boot, in their order. */
  write(owner: BootOwner, signals: readonly BootSignal[]): Promise<void>;
}

/**
 * News of how far an installation came. That the configuration was fetched is recorded with the boot before. Whether a boot is sent again
 * is decided a minute after it was sent, or later, and any of these says that it arrived.
 */
const MAY_WAIT: ReadonlySet<BootSignal["kind"]> = new Set(["scriptFetched", "configFetched", "started"]);
const GATHER_MS = 2_000;

interface Waiting {
  owner: BootOwner;
  signals: BootSignal[];
  timer: Timer;
}

/**
 * Gathers signals that follow each other, so that they are one write: news waits for two seconds, or for a signal that does not wait and
 * takes it along. What waits when the process ends is lost.
 */
export class SignalOutbox {
  readonly #ports: SignalOutboxPorts;
  readonly #waiting = new Map<string, Waiting>();

  constructor(ports: SignalOutboxPorts) {
    this.#ports = ports;
  }

  /** Resolves when the signal is written, or waits. Rejects where it can't be written: what waited with it goes with the next one. */
  async tell(owner: BootOwner, signal: BootSignal): Promise<void> {
    const key = keyOf(owner, signal);
    if (MAY_WAIT.has(signal.kind)) return this.#gather(key, owner, [signal]);
    const before = this.#take(key);
    try {
      await this.#ports.write(owner, [...before, signal]);
    } catch (error) {
      if (before.length > 0) this.#gather(key, owner, before);
      throw error;
    }
  }

  /** Drops what waits. */
  close(): void {
    for (const key of [...this.#waiting.keys()]) this.#take(key);
  }

  #gather(key: string, owner: BootOwner, signals: readonly BootSignal[]): void {
    const held = this.#waiting.get(key);
    if (held !== undefined) held.signals.push(...signals);
    else {
      const timer = this.#ports.clock.after(GATHER_MS, () => void this.#send(key));
      this.#waiting.set(key, { owner, signals: [...signals], timer });
    }
  }

  #take(key: string): BootSignal[] {
    const held = this.#waiting.get(key);
    held?.timer.cancel();
    this.#waiting.delete(key);
    return held?.signals ?? [];
  }

  async #send(key: string): Promise<void> {
    const owner = this.#waiting.get(key)?.owner;
    const signals = this.#take(key);
    if (owner === undefined) return;
    try {
      await this.#ports.write(owner, signals);
    } catch (error) {
      const { code, message: reason } = asFault(error, owner.name);
      this.#ports.log.warn({ on: owner.name, code, reason }, "boot signal not noted");
    }
  }
}

function keyOf({ group, kind, namespace = "", name }: BootOwner, { bootId }: BootSignal): string {
  return [group, kind, namespace, name, bootId].join("/");
}
