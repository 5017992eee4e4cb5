import { Fault } from "@slipway/base";

/** A Harvester release. `number` is undefined for a development build (`master`), which counts as newer than every release. */
export interface HarvesterVersion {
  /** As it stands in file names: `v1.4.0`, `v1.9.0-rc6`, `master`. */
  text: string;
  number: readonly [number, number, number] | undefined;
}

/** Reads `v1.4.0`, `1.4.0-rc2`, `v1.6-head`, `master`. A pre-release has the features of its release. Anything that names no release is a development build. */
export function parseVersion(text: string): HarvesterVersion {
  const match = /^v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:[-+.].*)?$/.exec(text);
  if (match === null) return { text, number: undefined };
  return { text, number: [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] };
}

/** Whether a release is at least `major.minor.patch`. A development build always is. */
export function isAtLeast(version: HarvesterVersion, major: number, minor: number, patch = 0): boolean {
  if (version.number === undefined) return true;
  const wanted = [major, minor, patch];
  for (const [at, part] of version.number.entries()) if (part !== wanted[at]) return part > wanted[at]!;
  return true;
}

/** Since which release the installer knows a thing. */
export const since = {
  /** `scheme_version`, and `install.management_interface` in place of `install.networks`. */
  managementInterface: (version: HarvesterVersion) => isAtLeast(version, 1, 1),
  skipChecks: (version: HarvesterVersion) => isAtLeast(version, 1, 2),
  role: (version: HarvesterVersion) => isAtLeast(version, 1, 3),
  cordoned: (version: HarvesterVersion) => isAtLeast(version, 1, 9),
} as const;

export type Architecture = "amd64" | "arm64";

/** What a machine downloads to install one release. */
export interface Artifacts {
  version: HarvesterVersion;
  arch: Architecture;
  iso: string;
  kernel: string;
  initrd: string;
  rootfs: string;
}

export interface ArtifactSource {
  /** `https://releases.rancher.com/harvester/v1.4.0/harvester-v1.4.0-amd64.iso`. */
  isoUrl: string;
  /** If the name of the ISO does not contain it. */
  version?: string;
  arch?: Architecture;
  /** Folder of kernel, initrd and root file system, when they don't lie beside the ISO. */
  artifactsUrl?: string;
}

/**
 * Where the parts of a release are: named after the ISO (`harvester-<version>-<arch>.iso`), beside it.
 * Throws `Fault` (`Invalid`) for what is no URL or names no version.
 */
export function artifactsOf(source: ArtifactSource): Artifacts {
  const iso = webUrl(source.isoUrl, "isoUrl");
  const file = decodeURIComponent(iso.pathname.slice(iso.pathname.lastIndexOf("/") + 1));
  const named = /^harvester-(.+)-(amd64|arm64)\.iso$/.exec(file);
  const version = source.version ?? named?.[1];
  const arch = source.arch ?? (named?.[2] as Architecture | undefined);
  if (version === undefined || arch === undefined)
    throw new Fault("Invalid", "isoUrl", `${JSON.stringify(file)} is not named harvester-<version>-<arch>.iso`, {
      remedy: "name the version, the architecture and the folder of the other artefacts explicitly",
    });
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(version))
    throw new Fault("Invalid", "version", `${JSON.stringify(version)} can't be part of a file name`);

  const folder = source.artifactsUrl === undefined ? parentOf(iso) : folderOf(source.artifactsUrl);
  const part = (name: string): string => `${folder}harvester-${version}-${name}`;
  return {
    version: parseVersion(version),
    arch,
    iso: source.isoUrl,
    kernel: part(`vmlinuz-${arch}`),
    initrd: part(`initrd-${arch}`),
    rootfs: part(`rootfs-${arch}.squashfs`),
  };
}

function webUrl(text: string, field: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new Fault("Invalid", field, `${JSON.stringify(text)} is not an http or https URL`);
  if (url.username !== "" || url.password !== "")
    throw new Fault("Invalid", field, "a URL that holds a password would be shown on the machine's console", {
      remedy: "serve the artefacts without one",
    });
  return url;
}

function parentOf(file: URL): string {
  return new URL(".", new URL(file.pathname, file.origin)).href;
}

function folderOf(text: string): string {
  const { origin, pathname } = webUrl(text, "artifactsUrl");
  return `${origin}${pathname.endsWith("/") ? pathname : `${pathname}/`}`;
}
