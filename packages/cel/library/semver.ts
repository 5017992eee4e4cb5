/** Kubernetes' functions for semantic versions. */
import type { Functions } from "../functions.ts";
import { goQuoted } from "../go-text.ts";
import type { Type } from "../types.ts";
import { CelError, Custom } from "../values.ts";

const TYPE: Type = { kind: "object", name: "kubernetes.Semver", of: [] };

class Semver extends Custom {
  readonly type = TYPE;
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];
  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    super();
    this.numbers = numbers;
    this.prerelease = prerelease;
  }
  equals(other: Semver): boolean {
    return compareVersions(this, other) === 0;
  }
}

const PATTERN = /^(\d+)\.(\d+)\.(\d+)(?:-([^+]*))?(?:\+(.*))?$/s;

/** The version that a text is, or what is wrong with it. `normal`: a leading `v`, leading zeros and missing parts are let be. */
function parseSemver(text: string, normal: boolean): Semver | string {
  if (text === "") return normal ? 'Invalid character(s) found in major number "0"' : "Version string empty";
  const source = normal ? normalized(text) : text;
  if (source === undefined) return "short version cannot contain PreRelease/Build meta data";
  if (source.split(".").length < 3) return "No Major.Minor.Patch elements found";
  const match = PATTERN.exec(source);
  if (match === null) return wrongPart(source);
  const [, major = "", minor = "", patch = "", prerelease, build] = match;
  const identifiers = prerelease?.split(".") ?? [];
  const problem =
    problemOfNumber("Major", major) ??
    problemOfNumber("Minor", minor) ??
    problemOfNumber("Patch", patch) ??
    firstProblem(identifiers, problemOfPrerelease) ??
    firstProblem(build?.split(".") ?? [], problemOfBuild);
  return problem ?? new Semver([BigInt(major), BigInt(minor), BigInt(patch)], identifiers);
}

/** The text without a leading `v` and leading zeros, with three parts; undefined: a text with fewer has a prerelease or build. */
function normalized(text: string): string | undefined {
  const parts = text.replace(/^v/, "").split(".");
  const three = [...parts.slice(0, 2), ...(parts.length > 2 ? [parts.slice(2).join(".")] : [])];
  if (three.length < 3 && /[-+]/.test(three.at(-1)!)) return undefined;
  while (three.length < 3) three.push("0");
  return three.map((part) => part.replace(/^0+(?=\d)/, "")).join(".");
}

function problemOfNumber(name: string, part: string): string | undefined {
  if (/^0\d/.test(part)) return `${name} number must not contain leading zeroes "${part}"`;
  if (part.length <= 20 && BigInt(part) < 1n << 64n) return undefined;
  return `strconv.ParseUint: parsing ${goQuoted(part)}: value out of range`;
}

function problemOfPrerelease(part: string): string | undefined {
  if (part === "") return "Prerelease is empty";
  if (/^0\d+$/.test(part)) return `Numeric PreRelease version must not contain leading zeroes "${part}"`;
  return /^[0-9A-Za-z-]+$/.test(part) ? undefined : `Invalid character(s) found in prerelease "${part}"`;
}

function problemOfBuild(part: string): string | undefined {
  if (part === "") return "Build meta data is empty";
  return /^[0-9A-Za-z-]+$/.test(part) ? undefined : `Invalid character(s) found in build meta data "${part}"`;
}

function firstProblem(parts: readonly string[], problemOf: (part: string) => string | undefined): string | undefined {
  for (const part of parts) {
    const problem = problemOf(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** What is wrong with a text of three parts at least, one of which is no number. */
function wrongPart(source: string): string {
  const [major = "", minor = "", ...rest] = source.split(".");
  const named = { major, minor, patch: rest.join(".").replace(/[-+].*$/s, "") };
  const [name, part] = Object.entries(named).find(([, part]) => !/^\d+$/.test(part))!;
  return `Invalid character(s) found in ${name} number "${part}"`;
}

function compareVersions(a: Semver, b: Semver): number {
  for (let i = 0; i < 3; i++) if (a.numbers[i] !== b.numbers[i]) return a.numbers[i]! < b.numbers[i]! ? -1 : 1;
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return Math.sign(Number(a.prerelease.length === 0) - Number(b.prerelease.length === 0));
  return comparePrereleases(a.prerelease, b.prerelease);
}

function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [x, y] = [a[i], b[i]];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    if (x !== y) return compareIdentifiers(x, y);
  }
  return 0;
}

/** Which of two different identifiers of prereleases is greater: numbers by their value, and less than texts. */
function compareIdentifiers(x: string, y: string): number {
  const [m, n] = [/^\d+$/.test(x), /^\d+$/.test(y)];
  if (m !== n) return m ? -1 : 1;
  return (m ? BigInt(x) < BigInt(y) : x < y) ? -1 : 1;
}

/** Adds Kubernetes' `semver` library. */
export function registerSemver(functions: Functions): void {
  const parsed = (text: string, normal = false): Semver => {
    const version = parseSemver(text, normal);
    if (typeof version === "string") throw new CelError(version);
    return version;
  };
  const is = (text: string, normal = false): boolean => typeof parseSemver(text, normal) !== "string";
  const named = "kubernetes.Semver";
  functions
    .type(TYPE)
    .add("semver", "string_to_semver", `(string) -> ${named}`, (text: string) => parsed(text))
    .add("semver", "string_bool_to_semver", `(string, bool) -> ${named}`, parsed)
    .add("isSemver", "is_semver_string", "(string) -> bool", (text: string) => is(text))
    .add("isSemver", "is_semver_string_bool", "(string, bool) -> bool", is)
    .add(
      "isGreaterThan",
      "semver_is_greater_than",
      `${named}.(${named}) -> bool`,
      (a: Semver, b: Semver) => compareVersions(a, b) > 0,
    )
    .add(
      "isLessThan",
      "semver_is_less_than",
      `${named}.(${named}) -> bool`,
      (a: Semver, b: Semver) => compareVersions(a, b) < 0,
    )
    .add("compareTo", "semver_compare_to", `${named}.(${named}) -> int`, (a: Semver, b: Semver) =>
      BigInt(compareVersions(a, b)),
    )
    .add("major", "semver_major", `${named}.() -> int`, ({ numbers }: Semver) => BigInt.asIntN(64, numbers[0]))
    .add("minor", "semver_minor", `${named}.() -> int`, ({ numbers }: Semver) => BigInt.asIntN(64, numbers[1]))
    .add("patch", "semver_patch", `${named}.() -> int`, ({ numbers }: Semver) => BigInt.asIntN(64, numbers[2]));
}
