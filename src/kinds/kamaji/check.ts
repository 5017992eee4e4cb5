/**
 * What is wrong with a tenant, field by field, with what to do: the rules of Kamaji's webhooks, on the new object (B22). Pure. The API
 * refuses most of it by the definition's rules (`tenant-rules.ts`) with fixed texts; a controller puts these into the status.
 */
import { overrideProblems } from "./check-data-stores.ts";
import { nameProblems, repeatedNames } from "./check-names.ts";
import { certSanProblems, cidrProblems, dnsProblems } from "./check-network.ts";
import { type Problem, quoted } from "./problem.ts";
import type { TenantControlPlaneSpec } from "./tenant-control-plane.ts";
import type { NetworkProfile } from "./tenant-kubernetes.ts";
import { minorsBetween, parseKubernetesVersion } from "./version.ts";

/** All that is wrong with a tenant by itself. Empty: it can be run. */
export function problemsOf(tenant: { metadata: { name: string }; spec: TenantControlPlaneSpec }): Problem[] {
  const { spec } = tenant;
  const network: Partial<NetworkProfile> = spec.networkProfile ?? {};
  return [
    ...nameProblems(tenant.metadata.name),
    ...versionProblems(spec.kubernetes.version),
    ...cidrProblems(network),
    ...dnsProblems(network),
    ...certSanProblems(network.certSANs ?? []),
    ...overrideProblems(spec.dataStoreOverrides ?? []),
    ...repeatedNames(spec),
  ];
}

const VERSION = "spec.kubernetes.version";

function versionProblems(version: string): Problem[] {
  if (parseKubernetesVersion(version) !== undefined) return [];
  return [{ field: VERSION, message: `${quoted(version)} is no version: write all three numbers, such as v1.34.2` }];
}

/**
 * What is wrong with a change of version; patch releases may go either way. `minorsAtOnce`: how many minors one change may span; without
 * it any number, for who takes them one by one (B16). A text that is no version is `problemsOf`'s.
 */
export function problemsOfVersionChange(
  before: string,
  after: string,
  minorsAtOnce = Number.POSITIVE_INFINITY,
): Problem[] {
  const [from, to] = [parseKubernetesVersion(before), parseKubernetesVersion(after)];
  if (from === undefined || to === undefined) return [];
  const distance = minorsBetween(from, to);
  if (distance < 0) {
    const message = `${before} can't go down to ${after}, which can't read what ${before} has stored: set a release of v${from.major}.${from.minor} or later`;
    return [{ field: VERSION, message }];
  }
  if (distance <= minorsAtOnce) return [];
  const next = `v${from.major}.${from.minor + minorsAtOnce}`;
  return [
    { field: VERSION, message: `${before} can't go up to ${after} at once: upgrade to a release of ${next} first` },
  ];
}
