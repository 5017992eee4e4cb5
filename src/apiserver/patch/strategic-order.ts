/**
 * The order of a merged list: elements the patch names come in the patch's order, the others keep the server's order,
 * and the two are woven together so that an element the server had before another stays before it where both are known.
 */
export function mergeOrder(
  merged: readonly unknown[],
  wanted: readonly unknown[],
  server: readonly unknown[],
  idOf: (item: unknown) => unknown,
): unknown[] {
  const wantedAt = positions(wanted, idOf);
  const serverAt = positions(server, idOf);
  const at = (item: unknown, where: Map<unknown, number>): number => where.get(idOf(item)) ?? Number.POSITIVE_INFINITY;

  const named = merged.filter((item) => wantedAt.has(idOf(item)));
  const others = merged.filter((item) => !wantedAt.has(idOf(item)));
  named.sort((a, b) => at(a, wantedAt) - at(b, wantedAt));

  const woven: unknown[] = [];
  for (const other of others) {
    while (named.length > 0 && at(named[0], serverAt) < at(other, serverAt)) woven.push(named.shift());
    woven.push(other);
  }
  return [...woven, ...named];
}

function positions(items: readonly unknown[], idOf: (item: unknown) => unknown): Map<unknown, number> {
  const found = new Map<unknown, number>();
  for (const [i, item] of items.entries()) if (!found.has(idOf(item))) found.set(idOf(item), i);
  return found;
}
