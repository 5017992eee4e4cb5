/** What the Harvester installer asks of a machine, by release: one table in place of conditions all over. */

export interface InstallerRules {
  /** `scheme_version: 1` is compulsory (1.1). */
  schemeVersion: boolean;
  /** Where the management network is configured: `install.networks.harvester-mgmt` up to 1.0, `install.management_interface` from 1.1 on. */
  management: "networks" | "management_interface";
  /** Automatic installs accept a server URL only with port 443 or none, and without a path (1.1.3). */
  strictServerUrl: boolean;
  /** Smallest only disk; smallest system disk beside a data disk; smallest data disk. GiB. */
  minOnlyDiskGiB: number;
  minSystemDiskGiB: number;
  minDataDiskGiB: number;
  /** `install.skipchecks` and the preflight checks it skips exist (1.2). */
  preflight: boolean;
  /** `install.role` exists (1.3). */
  roles: boolean;
  /** Legacy BIOS is refused, whatever `skipchecks` says (1.8). */
  uefiOnly: boolean;
  /** `install.cordoned` exists (1.9). */
  cordoned: boolean;
}

const FIRST: InstallerRules = {
  schemeVersion: false,
  management: "networks",
  strictServerUrl: false,
  minOnlyDiskGiB: 60,
  minSystemDiskGiB: 60,
  minDataDiskGiB: 0,
  preflight: false,
  roles: false,
  uefiOnly: false,
  cordoned: false,
};

/** What each release changed, oldest first. */
const CHANGES: readonly (readonly [since: string, change: Partial<InstallerRules>])[] = [
  ["1.1.0", { schemeVersion: true, management: "management_interface" }],
  ["1.1.3", { strictServerUrl: true }],
  ["1.2.0", { minOnlyDiskGiB: 250, minSystemDiskGiB: 180, minDataDiskGiB: 50, preflight: true }],
  ["1.3.0", { roles: true }],
  ["1.8.0", { uefiOnly: true }],
  ["1.9.0", { cordoned: true }],
];

/** A release's number, pre-release suffix dropped: `v1.9.0-rc6` counts as 1.9.0. */
export type Version = readonly [major: number, minor: number, patch: number];

/** The newest release that is known; `master` builds count as it. */
export const NEWEST: Version = [1, 9, 0];

/** Reads a version out of an artefact's URL or name: `…/harvester-v1.0.3-vmlinuz-amd64`. Undefined: it names no Harvester. */
export function versionIn(text: string): Version | undefined {
  const found = /harvester-v(\d+)\.(\d+)\.(\d+)/.exec(text) ?? /harvester[^\s]*\/v(\d+)\.(\d+)\.(\d+)/.exec(text);
  if (found !== null) return [Number(found[1]), Number(found[2]), Number(found[3])];
  return /harvester-(master|head|main|v\d+\.\d+-head)/.test(text) ? NEWEST : undefined;
}

/** The rules of a release. */
export function installerRules(version: Version): InstallerRules {
  const known = CHANGES.filter(([since]) => compare(parse(since), version) <= 0).map(([, change]) => change);
  return Object.assign({}, FIRST, ...known) as InstallerRules;
}

/** Reads `v1.4.0` or `1.4.0-rc2`; the pre-release is dropped, missing parts are 0. */
export function parse(version: string): Version {
  const [major = 0, minor = 0, patch = 0] = version.replace(/^v/, "").split("-")[0]!.split(".").map(Number);
  return [major, minor, patch];
}

/** Below 0 if `a` is older, above 0 if it is newer. */
export function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
