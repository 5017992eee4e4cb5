/** Where a text stands that stood before. */
export function laterOnes(texts: readonly string[]): ReadonlySet<number> {
  const met = new Set<string>();
  const later = new Set<number>();
  for (const [i, text] of texts.entries()) {
    if (met.has(text)) later.add(i);
    met.add(text);
  }
  return later;
}
