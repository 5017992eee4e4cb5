/**
 * The order of a merged list: elements the patch names come in the patch's order, the others keep the server's, and the two are woven
 * together: an element that only the server has comes first only where the server had it before the next of the patch's.
 */
export function mergeOrder(
  merged: readonly unknown[],
  wanted: readonly unknown[],
  server: readonly unknown[],
  idOf: (item: unknown) => unknown,
): unknown[] {
  const wantedAt = positions(wanted, idOf);
  const serverAt = positions(server, idOf);
  const named = merged.filter((item) => wantedAt.has(idOf(item)));
  const others = merged.filter((item) => !wantedAt.has(idOf(item)));
  named.sort((a, b) => wantedAt.get(idOf(a))! - wantedAt.get(idOf(b))!);
  const woven: unknown[] = [];
  let next = 0;
  for (const other of others) {
    const at = serverAt.get(idOf(other)) ?? 0;
    while (next < named.length && !(at < (serverAt.get(idOf(named[next])) ?? -1))) woven.push(named[next++]);
    woven.push(other);
  }
  return [...woven, ...named.slice(next)];
}

function positions(items: readonly unknown[], idOf: (item: unknown) => unknown): Map<unknown, number> {
  const found = new Map<unknown, number>();
  for (const [i, item] of items.entries()) if (!found.has(idOf(item))) found.set(idOf(item), i);
  return found;
}
