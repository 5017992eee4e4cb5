import type { Clock } from "../../base/clock.ts";
import type { Mac } from "../../base/mac.ts";
import type { Tell } from "../dhcp/event.ts";

/** iPXE asks for routers within a second of asking for an address, and gives up after fifteen. */
const RECENTLY_MS = 30_000;
const MOST = 4096;

/** Which machines have just asked DHCP for an address as iPXE: what asks later is another system on them. */
export class RecentIpxe {
  readonly #clock: Pick<Clock, "now">;
  /** When each was heard last; who was heard longest ago stands first. */
  readonly #heard = new Map<Mac, number>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Takes note of what DHCP hears. */
  readonly tell: Tell = (event) => {
    if (event.is !== "heard" || event.client.mac === undefined) return;
    this.#heard.delete(event.client.mac);
    if (event.client.ipxe === undefined) return;
    this.#heard.set(event.client.mac, this.#clock.now());
    if (this.#heard.size > MOST) this.#heard.delete(this.#heard.keys().next().value!);
  };

  has(mac: Mac): boolean {
    const at = this.#heard.get(mac);
    return at !== undefined && this.#clock.now() - at < RECENTLY_MS;
  }
}
