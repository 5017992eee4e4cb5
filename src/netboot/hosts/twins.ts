/** Two records of one machine, as versions that knew each card by itself have left them, and what one record has of both. Pure. */
import type { Inventory } from "../protocol/messages.ts";
import { type HostRecord, openInstall, openOrder } from "./host.ts";
import { ALIVE_MS } from "./registration.ts";

/** A record, what its machine reported, and for how long its agent has said nothing. */
export interface Twin {
  record: HostRecord;
  inventory: Inventory | undefined;
  silentMs: number;
}

/**
 * Whether `other`, a record of a card that the machine has just spoken by, is of the same machine: both report the same system, each names the
 * other's card, and nothing is under way with the other, whose agent is silent.
 */
export function isTwin({ record, inventory }: Omit<Twin, "silentMs">, other: Twin): boolean {
  const { host } = other.record;
  if (other.silentMs < ALIVE_MS || openOrder(host) !== undefined || openInstall(host) !== undefined) return false;
  if (inventory === undefined || other.inventory === undefined) return false;
  const [one, two] = [inventory.system, other.inventory.system];
  const isSame = one.manufacturer === two.manufacturer && one.product === two.product && one.serial === two.serial;
  return isSame && names(inventory, host.mac) && names(other.inventory, record.host.mac);
}

function names({ cards }: Inventory, card: string): boolean {
  return cards.some(({ mac }) => mac === card);
}

/** The machine's record with what users and networks have set on its twin. A key that was demanded of either is demanded. */
export function united(record: HostRecord, { host, bootChosen }: HostRecord): HostRecord {
  const { approval = host.approval, ports, firstSeen, boot } = record.host;
  const demanded = approval?.key === undefined && host.approval?.key !== undefined ? host.approval : approval;
  return {
    ...record,
    bootChosen: record.bootChosen || bootChosen,
    host: {
      ...record.host,
      firstSeen: Math.min(firstSeen, host.firstSeen),
      boot: !record.bootChosen && bootChosen ? host.boot : boot,
      ...(demanded !== undefined && { approval: demanded }),
      ...((ports ?? host.ports) && { ports: { ...host.ports, ...ports } }),
    },
  };
}
