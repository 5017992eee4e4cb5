const KUBE_VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const STABILITY: Readonly<Record<string, number>> = { alpha: 0, beta: 1 };

/**
 * Orders API versions with the preferred first, as Kubernetes does: stable before beta before alpha, higher numbers first,
 * anything else last and by name.
 */
export function compareVersions(a: string, b: string): number {
  const left = rank(a);
  const right = rank(b);
  if (left === undefined && right === undefined) return a < b ? -1 : a > b ? 1 : 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  for (const [i, value] of left.entries()) if (value !== right[i]) return (right[i] ?? 0) - value;
  return 0;
}

function rank(version: string): readonly number[] | undefined {
  const parts = KUBE_VERSION.exec(version);
  if (!parts) return undefined;
  return [parts[2] === undefined ? 2 : (STABILITY[parts[2]] ?? 0), Number(parts[1]), Number(parts[3] ?? 0)];
}
