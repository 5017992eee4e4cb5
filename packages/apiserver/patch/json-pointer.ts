/** No document has more levels (`MAX_LEVELS`). */
const MAX_TOKENS = 1000;

/**
 * Reads a JSON Pointer (RFC 6901 §3) into its tokens, at least one. As kube-apiserver's library does, what stands before the first
 * slash is ignored, and a tilde that escapes nothing is a tilde. Undefined: the text has no slash, or more than
 * lead to anything.
 */
export function parsePointer(text: string): [string, ...string[]] | undefined {
  const [, first, ...rest] = text
    .split("/", MAX_TOKENS + 2)
    .map((token) => token.replace(/~[01]/g, (e) => (e === "~1" ? "/" : "~")));
  return first === undefined || rest.length >= MAX_TOKENS ? undefined : [first, ...rest];
}

/** The pointer (RFC 6901) of these steps. */
export function formatPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** A position in a list of `length`, in decimal with or without a sign; negative ones count from the end. Undefined: not one. */
export function listIndex(token: string, length: number): number | undefined {
  if (!/^[-+]?[0-9]{1,10}$/.test(token)) return undefined;
  const index = Number(token);
  if (index < 0) return index < -length ? undefined : index + length;
  return index < length ? index : undefined;
}
