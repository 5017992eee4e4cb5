import type { Clock, Mac } from "@slipway/base";
import { cardOf, type Presences } from "../hosts/presence.ts";
import type { HostLogs, LogSource } from "./host-logs.ts";

export interface AddressedLogsPorts {
  logs: Pick<HostLogs, "append">;
  presences: Presences;
  clock: Pick<Clock, "now" | "monotonic">;
}

/** A machine that boots says hundreds of lines in a second; who has an address does not change as fast. */
const KNOWN_FOR_MS = 2_000;
const MOST_KNOWN = 1_000;

/** Lines that come with an address instead of a name: HTTP, TFTP and syslog know their clients no better. */
export class AddressedLogs {
  readonly #ports: AddressedLogsPorts;
  readonly #known = new Map<string, { mac: Mac | undefined; until: number }>();

  constructor(ports: AddressedLogsPorts) {
    this.#ports = ports;
  }

  /** Adds a line to the log of the host that has the address now. Lines of unknown addresses are dropped. */
  append(address: string, source: LogSource, line: string): void {
    const mac = this.#macOf(address);
    if (mac !== undefined) this.#ports.logs.append(mac, source, line, this.#ports.clock.now());
  }

  #macOf(address: string): Mac | undefined {
    const now = this.#ports.clock.monotonic();
    const known = this.#known.get(address);
    if (known !== undefined && now < known.until) return known.mac;
    const mac = this.#lookUp(address);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(address, { mac, until: now + KNOWN_FOR_MS });
    return mac;
  }

  #lookUp(address: string): Mac | undefined {
    try {
      return cardOf(this.#ports.presences.of(address));
    } catch {
      // The kernel's table can't be read now: what comes in the next seconds is not kept.
      return undefined;
    }
  }
}
