import type { Mac } from "../../base/mac.ts";
import type { Inventory } from "../agent/protocol.ts";
import { type GivenOrder, type HostRecord, isMerelyHeard } from "./host.ts";

/** Which machine a report is of, as far as the records tell. */
export interface Identity {
  /** The record that goes on; undefined: it is new. */
  record: HostRecord | undefined;
  /** Records of its other cards, which were heard before anybody knew whose they are. */
  absorbed: readonly HostRecord[];
  /** Its cards, the one it came up with first. */
  macs: readonly Mac[];
}

/**
 * Finds the machine behind a report. `mac` is proven, the cards are only claimed: a card whose record tells of more than that it was
 * heard stays where it is, or any machine could take the place, the orders and the secrets of another by naming its card.
 */
export function identify(
  mac: Mac,
  inventory: Pick<Inventory, "cards">,
  recordOf: (mac: Mac) => HostRecord | undefined,
): Identity {
  const own = recordOf(mac);
  const cards = [...new Set([mac, ...inventory.cards.map((card) => card.mac).filter(isOfOneCard)])];
  const others = new Set(
    cards.map(recordOf).filter((record) => record !== undefined && record !== own),
  ) as Set<HostRecord>;
  const heard = [...others].filter(isMerelyHeard);
  const same = own === undefined ? heard : [own, ...heard];
  const record =
    own !== undefined && !isMerelyHeard(own) ? own : same.sort((a, b) => a.host.firstSeen - b.host.firstSeen)[0];
  const macs = cards.filter((card) => {
    const holder = recordOf(card);
    return holder === undefined || same.includes(holder);
  });
  return { record, absorbed: same.filter((each) => each !== record), macs };
}

/** The address that a card reports when it has none of its own, and group addresses, tell machines apart no better than nothing. */
function isOfOneCard(mac: Mac): boolean {
  return mac !== "00:00:00:00:00:00" && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0;
}

/**
 * What a machine that begins anew says about the order it had taken: a restart that was asked for has come about, everything else
 * was broken off. It is not given again, or an order that ends every machine it is given to would do so for ever.
 */
export function afterRestart(order: GivenOrder, now: number): GivenOrder {
  if (order.takenAt === undefined || order.result !== undefined) return order;
  const kind = order.is.order;
  const ok = kind === "reboot" || kind === "inspect";
  const message =
    kind === "inspect"
      ? "reported"
      : ok
        ? "it has started again"
        : `the machine started again before it told how "${kind}" ended`;
  return { ...order, result: { ok, message }, endedAt: now };
}
