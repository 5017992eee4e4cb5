/** Six bytes as twelve lower-case hex digits in pairs with colons: `52:54:00:12:34:56`. */
export type Mac = string;

/**
 * Reads a 48-bit MAC address in any notation people use, `52:54:0:12:34:56`, `52-54-00-12-34-56`, `5254.0012.3456` or
 * `525400123456` in either case, and returns the canonical one. Throws a `RangeError` that names the text.
 */
export function parseMac(text: string): Mac {
  const hex = digits(text.trim());
  if (hex === undefined) {
    throw new RangeError(`MAC address ${JSON.stringify(text.slice(0, 64))}: not six bytes such as 52:54:00:12:34:56`);
  }
  return pairs(hex.toLowerCase());
}

/** Whether the text is a MAC address in some notation. */
export function isMac(text: string): boolean {
  return digits(text.trim()) !== undefined;
}

/** The address's bytes, in the order they travel. */
export function macBytes(mac: Mac): Uint8Array {
  return Uint8Array.from(parseMac(mac).split(":"), (pair) => Number.parseInt(pair, 16));
}

/** The address of six bytes. Throws a `RangeError` on another length. */
export function macFromBytes(bytes: Uint8Array): Mac {
  if (bytes.length !== 6) throw new RangeError(`MAC address of ${bytes.length} bytes`);
  return pairs(Buffer.from(bytes).toString("hex"));
}

function digits(text: string): string | undefined {
  if (/^[0-9a-f]{12}$/i.test(text)) return text;
  if (/^[0-9a-f]{4}(\.[0-9a-f]{4}){2}$/i.test(text)) return text.replaceAll(".", "");
  // The separator must be the same throughout; single digits are how BSDs print a small byte.
  if (!/^[0-9a-f]{1,2}([:-])[0-9a-f]{1,2}(\1[0-9a-f]{1,2}){4}$/i.test(text)) return undefined;
  return text
    .split(/[:-]/)
    .map((pair) => pair.padStart(2, "0"))
    .join("");
}

function pairs(hex: string): Mac {
  return hex.match(/../g)!.join(":");
}
