/** A release of Kubernetes, as far as rules on versions look at it. */
export interface KubernetesVersion {
  major: number;
  minor: number;
  patch: number;
}

/** Reads `v1.34.2`, `1.34.2`, `v1.34.2-rc.0+k3s1`. Undefined for anything else: all three numbers must be there, without leading zeros. */
export function parseKubernetesVersion(text: string): KubernetesVersion | undefined {
  const match = /^v?(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(?:[-+][0-9A-Za-z.+-]*)?$/.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

/**
 * How many minor versions lie between two releases: 1 from v1.34.2 to v1.35.0, 0 between patch releases, negative on the way down. A
 * change of the major version is further than any number of minors.
 */
export function minorsBetween(from: KubernetesVersion, to: KubernetesVersion): number {
  if (from.major !== to.major) return from.major < to.major ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return to.minor - from.minor;
}
