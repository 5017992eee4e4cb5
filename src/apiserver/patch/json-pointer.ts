/** Reads a JSON Pointer (RFC 6901 §3) into its tokens. Undefined: the text is no pointer. */
export function parsePointer(text: string): string[] | undefined {
  if (text === "") return [];
  if (!text.startsWith("/") || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function formatPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** An array position below `length` (RFC 6901 §4: no leading zeros, no sign). Undefined: not one. */
export function arrayIndex(token: string, length: number): number | undefined {
  if (!/^(0|[1-9][0-9]{0,9})$/.test(token)) return undefined;
  const index = Number(token);
  return index < length ? index : undefined;
}
