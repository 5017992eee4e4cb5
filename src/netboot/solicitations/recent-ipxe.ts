import type { Clock, Mac } from "@slipway/base";
import type { Tell } from "../dhcp/event.ts";

/** iPXE asks for routers within a second of asking for an address, and gives up after fifteen. */
const RECENTLY_MS = 30_000;
const MOST = 4096;

/** Which machines have just asked DHCP for an address as iPXE: what asks later is another system on them. */
export class RecentIpxe {
  readonly #clock: Pick<Clock, "monotonic">;
  /** When each was last seen; the one seen longest ago is first. */
  readonly #heard = new Map<Mac, number>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Takes note of DHCP's clients. */
  readonly tell: Tell = (event) => {
    if (event.is !== "heard" || event.client.mac === undefined) return;
    this.#heard.delete(event.client.mac);
    if (event.client.ipxe === undefined) return;
    this.#heard.set(event.client.mac, this.#clock.monotonic());
    if (this.#heard.size > MOST) this.#heard.delete(this.#heard.keys().next().value!);
  };

  has(mac: Mac): boolean {
    const at = this.#heard.get(mac);
    return at !== undefined && this.#clock.monotonic() - at < RECENTLY_MS;
  }
}
