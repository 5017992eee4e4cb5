import type { Journal } from "./lifecycle.ts";
import type { MachineDriver, Order } from "./machine.ts";

export interface Refused {
  journal: Journal;
  driver: MachineDriver;
  /** What may be ordered, in the order of preference. */
  orders(): readonly Order[];
  /** No refusal is over before it is this old. */
  pollMs: number;
  now: number;
}

/** Whether the claim waits for capacity of a provider that knows without an order whether there is some: it is to be looked at often. */
export function awaitsKnownCapacity({ purchase }: Journal, driver: MachineDriver): boolean {
  return purchase?.state === "Refused" && driver.couldServe !== undefined;
}

/** The journal as it counts now: the refusal of a provider that could serve one of the orders by now is over. */
export async function withoutOldRefusal({ journal, driver, orders, pollMs, now }: Refused): Promise<Journal> {
  if (!awaitsKnownCapacity(journal, driver) || now - journal.purchase!.at < pollMs) return journal;
  for (const order of orders()) if (await driver.couldServe!(order)) return { ...journal, purchase: undefined };
  return journal;
}
