import type { Pace, Passes } from "../json/turns.ts";

/**
 * The order of a merged list: elements the patch names come in the patch's order, the others keep the server's, and the two are woven
 * together: an element that only the server has comes first only where the server had it before the next of the patch's.
 */
export function* mergeOrder(
  merged: readonly unknown[],
  wanted: readonly unknown[],
  server: readonly unknown[],
  { idOf, pace }: { idOf: (item: unknown) => unknown; pace: Pace },
): Passes<unknown[]> {
  const wantedAt = yield* positions(wanted, idOf, pace);
  const serverAt = yield* positions(server, idOf, pace);
  const named: Named[] = [];
  const others: { item: unknown; server: number }[] = [];
  for (const item of merged) {
    if (pace.isOver()) yield;
    const id = idOf(item);
    const at = wantedAt.get(id);
    if (at === undefined) others.push({ item, server: serverAt.get(id) ?? 0 });
    else named.push({ item, at, server: serverAt.get(id) ?? -1 });
  }
  named.sort((a, b) => a.at - b.at);
  const woven: unknown[] = [];
  let next = 0;
  for (const { item, server } of others) {
    while (next < named.length && server >= named[next]!.server) woven.push(named[next++]!.item);
    woven.push(item);
  }
  while (next < named.length) woven.push(named[next++]!.item);
  return woven;
}

/** An element that the patch names, at its place in the patch's order and in the server's. */
interface Named {
  item: unknown;
  at: number;
  server: number;
}

function* positions(
  items: readonly unknown[],
  idOf: (item: unknown) => unknown,
  pace: Pace,
): Passes<Map<unknown, number>> {
  const found = new Map<unknown, number>();
  for (const [i, item] of items.entries()) {
    if (pace.isOver()) yield;
    const id = idOf(item);
    if (!found.has(id)) found.set(id, i);
  }
  return found;
}
