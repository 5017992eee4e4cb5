/**
 * Option 77, user class. RFC 3004 §4 has one or more texts, each after its length; iPXE and others send the bare text.
 * Bytes that are exactly such a list are read as one, all others as the bare text, so nothing is malformed.
 */
export function decode(bytes: Uint8Array): string[] {
  return asList(bytes) ?? (bytes.length === 0 ? [] : [textOf(bytes)]);
}

function asList(bytes: Uint8Array): string[] | undefined {
  const classes: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const length = bytes[at]!;
    if (length === 0 || at + 1 + length > bytes.length) return undefined;
    classes.push(textOf(bytes.subarray(at + 1, at + 1 + length)));
    at += 1 + length;
  }
  return classes;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
