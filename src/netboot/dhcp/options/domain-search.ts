/** Option 119, domain search list (RFC 3397): names as in DNS, without compression. Throws a `RangeError` on what is no name. */
export function encode(domains: readonly string[]): Uint8Array {
  return Buffer.concat(domains.flatMap((domain) => [...domain.split(".").map(label), Uint8Array.of(0)]));
}

function label(text: string): Buffer {
  if (text.length === 0 || text.length > 63 || /[^\x21-\x7e]/.test(text))
    throw new RangeError(`DNS label ${JSON.stringify(text.slice(0, 64))}`);
  return Buffer.from([text.length, ...Buffer.from(text, "latin1")]);
}
