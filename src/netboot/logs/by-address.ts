import type { Clock } from "../../base/clock.ts";
import type { Mac } from "../../base/mac.ts";
import type { WhoIs } from "../hosts/who-is.ts";
import type { HostLogs, LogSource } from "./host-logs.ts";

export interface AddressedLogsPorts {
  logs: Pick<HostLogs, "append">;
  whoIs: WhoIs;
  clock: Pick<Clock, "now">;
}

/** A machine that boots says hundreds of lines in a second; who has an address does not change as fast. */
const KNOWN_FOR_MS = 2_000;
const MOST_KNOWN = 1_000;
/** Lines beyond are dropped: whoever floods is not waited for. */
const MOST_WAITING = 5_000;

/** Lines that come with an address instead of a name: HTTP, TFTP and syslog know their clients no better. They keep their order. */
export class AddressedLogs {
  readonly #ports: AddressedLogsPorts;
  readonly #known = new Map<string, { mac: Mac | undefined; until: number }>();
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(ports: AddressedLogsPorts) {
    this.#ports = ports;
  }

  /** Adds a line to the log of whichever host has the address now. Of addresses that nobody knows nothing is kept. */
  append(address: string, source: LogSource, line: string): void {
    if (this.#waiting >= MOST_WAITING) return;
    this.#waiting++;
    const at = this.#ports.clock.now();
    this.#tail = this.#tail
      .then(async () => {
        const mac = await this.#macOf(address);
        if (mac !== undefined) this.#ports.logs.append(mac, source, line, at);
      })
      // A table that can't be read costs this line and no other.
      .catch(() => {})
      .finally(() => {
        this.#waiting--;
      });
  }

  /** Resolves when all lines that came so far are where they belong. */
  settled(): Promise<void> {
    return this.#tail;
  }

  async #macOf(address: string): Promise<Mac | undefined> {
    const now = this.#ports.clock.now();
    const known = this.#known.get(address);
    if (known !== undefined && now < known.until) return known.mac;
    const mac = await this.#ports.whoIs(address);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(address, { mac, until: now + KNOWN_FOR_MS });
    return mac;
  }
}
