import { Fault, type Mac } from "@slipway/base";
import type { Inventory } from "../protocol/messages.ts";
import { type GivenOrder, type HostRecord, openOrder, withAgentKey } from "./host.ts";
import { portOf, type Session } from "./presence.ts";

/** Where an agent registers from, and how its card was shown to be its own. `capability`: of its boot; without one it came by its token. */
export type Arrival = Pick<Session, "card" | "address" | "proof" | "via" | "isAsked"> & { capability?: string };

/** What a registration leaves in the record. */
export type NewSession = Pick<HostRecord, "tokenHash" | "cameBy"> & { session: Session | undefined };

/** An agent that works reports more often than this; one that was silent for so long may have started again. */
export const ALIVE_MS = 60_000;

/**
 * Throws a `Fault` where this registration must not take the place of the session that there is: `Forbidden` for a capability that was
 * used from elsewhere, `Conflict` while an agent that speaks carries out an order. `silentMs`: for how long it has said nothing.
 */
export function mayReplace(
  { host, cameBy }: HostRecord,
  by: Arrival,
  capabilityHash: string | undefined,
  silentMs: number,
): void {
  const { session } = host;
  // Who has the token is the session's own agent.
  if (session === undefined || capabilityHash === undefined) return;
  if (cameBy === capabilityHash && session.address !== by.address)
    throw new Fault(
      "Forbidden",
      host.name,
      `it has registered from ${session.address} by this boot's capability, not from ${by.address}`,
    );
  const order = openOrder(host);
  if (order?.takenAt !== undefined && silentMs < ALIVE_MS)
    throw new Fault(
      "Conflict",
      host.name,
      `a registration from ${by.address} was refused: its agent at ${session.address} carries out "${order.is.order}"`,
    );
}

/** The record with the session that begins, and nothing left of the one before; but who comes again by its token is still the same boot's. */
export function begun(record: HostRecord, anew: NewSession, agentKey: string | undefined): HostRecord {
  const { session, ...rest } = anew;
  const { session: _session, ...host } = withAgentKey(record.host, agentKey);
  if (session === undefined) return { ...record, ...rest, host };
  const ports = { ...portsOf(session), ...host.ports };
  const known = Object.keys(ports).length > 0 && { ports };
  return { ...record, ...rest, host: { ...host, ...known, session, address: session.address } };
}

/** The relay's port that the session's card was seen at, by that card; nothing where no port is named. */
export function portsOf({ card, via }: Session): Record<Mac, string> {
  const port = portOf(via);
  return port === undefined ? {} : { [card]: port };
}

/** The session that begins with a registration, after the one `before`. `now`: ms since 1970. */
export function sessionOf(by: Arrival, now: number, before?: Session): Session {
  const { card, address, proof, via } = by;
  // Who comes again by its token is still the same boot's.
  const isAsked = by.isAsked ?? (by.capability === undefined ? before?.isAsked : undefined);
  const how = { ...(via !== undefined && { via }), ...(isAsked && { isAsked }) };
  return { card, address, proof, ...how, registeredAt: now, spokeAt: now };
}

/** The cards that a report names beside those that are known to be the machine's own. They are only claimed. */
export function claimedCardsOf({ cards }: Pick<Inventory, "cards">, own: readonly Mac[]): Mac[] {
  const named = cards.map(({ mac }) => mac).filter((mac) => isOfOneCard(mac) && !own.includes(mac));
  return [...new Set(named)];
}

/** The address that a card reports when it has none of its own, and group addresses, do not distinguish machines. */
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
        : `the machine started again before it reported how "${kind}" ended`;
  return { ...order, result: { ok, message }, endedAt: now };
}
