/**
 * The mark that binds a server to its claim.
 *
 * A server of Latitude.sh can't be ordered with a tag, a description or any free field: besides the hostname, which belongs to the
 * node, the only thing of the caller's that is part of the order is the id of a stored user data object. So each claim has
 * a user data object of its own, made before the order, with claim and hostname in its description; the order names it, and
 * the server's deploy configuration shows it from then on. No mark means no server, and a lost answer loses nothing.
 */
export interface Mark {
  /** Of the user data object. */
  id: string;
  claim: string;
  hostname: string;
  /** ms since the epoch, of the provider's clock. */
  createdAt: number;
  updatedAt: number;
}

/** The description of a claim's user data object. */
export function markText(claim: string, hostname: string): string {
  return `slipway:claim:${encodeURIComponent(claim)} host:${encodeURIComponent(hostname)}`;
}

/** Reads a description; undefined for what Slipway did not write. */
export function readMark(text: string): { claim: string; hostname: string } | undefined {
  const [, claim, hostname] = /^slipway:claim:(\S+) host:(\S+)$/.exec(text) ?? [];
  if (claim === undefined || hostname === undefined) return undefined;
  try {
    return { claim: decodeURIComponent(claim), hostname: decodeURIComponent(hostname) };
  } catch {
    return undefined;
  }
}
