const DIGITS = /^(0|[1-9][0-9]*)$/;

/**
 * Whether version `a` came after version `b`. Versions of one resource that are decimal numbers are ordered (KEP-5504);
 * any other text is only equal or different, and different counts as newer.
 */
export function isNewer(a: string, b: string): boolean {
  if (a === b) return false;
  if (!DIGITS.test(a) || !DIGITS.test(b)) return true;
  return a.length === b.length ? a > b : a.length > b.length;
}
