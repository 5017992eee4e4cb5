const PREFIX = "slipway:claim:";

/** The tag that a device carries from its order on; it is how a machine is found again after a lost answer. */
export function claimTag(claim: string): string {
  return PREFIX + claim;
}

/** The claim among a device's tags; undefined: not bought by Slipway. */
export function claimOf(tags: readonly string[] | null | undefined): string | undefined {
  return tags?.find((tag) => tag.startsWith(PREFIX))?.slice(PREFIX.length);
}
