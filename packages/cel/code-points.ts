/** CEL counts a text's characters by code points; JavaScript counts those beyond 16 bits twice. */

const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

/** How many units the character at an offset takes. */
function unitsAt(text: string, offset: number): 1 | 2 {
  return isHigh(text.charCodeAt(offset)) && isLow(text.charCodeAt(offset + 1)) ? 2 : 1;
}

/** The number of characters. */
export function characters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += unitsAt(text, at)) count++;
  return count;
}

/** JavaScript's offset of a character by its number; the length of the text after the last, undefined beyond and below 0. */
export function offsetOf(text: string, index: bigint): number | undefined {
  if (index < 0n || index > BigInt(text.length)) return undefined;
  let at = 0;
  for (let left = Number(index); left > 0; left--) {
    if (at >= text.length) return undefined;
    at += unitsAt(text, at);
  }
  return at;
}
