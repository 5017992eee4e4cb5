import type { Clock, Mac } from "@slipway/base";
import type { DhcpListener } from "../dhcp/event.ts";

/** iPXE asks for routers within a second of asking for an address, and gives up after fifteen. */
const RECENTLY_MS = 30_000;
const MOST = 4096;

/** Which machines have just asked DHCP for an address as iPXE: what asks later is another system on them. */
export class RecentIpxe {
  readonly #clock: Pick<Clock, "monotonic">;
  /** When each was last seen; the one seen longest ago is first. */
  readonly #seen = new Map<Mac, number>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Takes note of DHCP's clients. */
  readonly notify: DhcpListener = (event) => {
    if (event.is !== "seen" || event.client.mac === undefined) return;
    this.#seen.delete(event.client.mac);
    if (event.client.ipxe === undefined) return;
    this.#seen.set(event.client.mac, this.#clock.monotonic());
    if (this.#seen.size > MOST) this.#seen.delete(this.#seen.keys().next().value!);
  };

  has(mac: Mac): boolean {
    const at = this.#seen.get(mac);
    return at !== undefined && this.#clock.monotonic() - at < RECENTLY_MS;
  }
}
