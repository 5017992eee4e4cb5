/** Which version a tenant is to run now: the wanted one, or a release on the way to it (B16). Pure. */
import { problemsOfVersionChange } from "../../kinds/kamaji/check.ts";
import { minorsBetween, parseKubernetesVersion } from "../../kinds/kamaji/version.ts";

export type Step =
  | { is: "run"; version: string }
  /** A release of this minor (`v1.35`) is needed, and none can be run. */
  | { is: "missing"; minor: string }
  | { is: "refused"; because: string };

/** The minors (`v1.35`) between what is installed and what is wanted, in order. */
export function minorsBefore(wanted: string, installed: string): string[] {
  const [from, to] = [parseKubernetesVersion(installed), parseKubernetesVersion(wanted)];
  if (from === undefined || to === undefined || from.major !== to.major) return [];
  const between = Math.max(0, minorsBetween(from, to) - 1);
  return Array.from({ length: between }, (_, at) => `v${from.major}.${from.minor + 1 + at}`);
}

/**
 * The next version on the way from `installed` to `wanted`: API servers go up one minor at a time
 * (https://kubernetes.io/releases/version-skew-policy/). `releases`: of each minor on the way one that can be run. All are looked at before
 * the first step, so that no tenant stops half-way for want of one.
 */
export function stepTo(wanted: string, installed: string, releases: ReadonlyMap<string, string>): Step {
  const [problem] = problemsOfVersionChange(installed, wanted);
  if (problem !== undefined) return { is: "refused", because: problem.message };
  if (parseKubernetesVersion(installed)?.major !== parseKubernetesVersion(wanted)?.major)
    return { is: "refused", because: `${installed} can't go up to ${wanted}: it is another major version` };
  const minors = minorsBefore(wanted, installed);
  const missing = minors.find((minor) => !releases.has(minor));
  if (missing !== undefined) return { is: "missing", minor: missing };
  return { is: "run", version: releases.get(minors[0] ?? "") ?? wanted };
}

/** Whether two texts name the same release, whatever a build has behind its numbers. */
export function isSameRelease(one: string | undefined, other: string): boolean {
  const [a, b] = [parseKubernetesVersion(one ?? ""), parseKubernetesVersion(other)];
  return a !== undefined && b !== undefined && minorsBetween(a, b) === 0 && a.patch === b.patch;
}

const REQUESTED = /^apiserver_requested_deprecated_apis\{(.*)\} (\S+)$/;

/**
 * The APIs that clients of the tenant use and that `version` no longer has, a name each: `flowcontrol.apiserver.k8s.io/v1beta3 flowschemas
 * (gone in 1.32)`. `metrics`: of its API server, which counts since its start what was asked for and will go
 * (https://kubernetes.io/docs/reference/using-api/deprecation-policy/).
 */
export function removedApis(version: string, metrics: string): string[] {
  const wanted = parseKubernetesVersion(version);
  if (wanted === undefined) return [];
  const found = metrics.split("\n").flatMap((line) => {
    const [, labels = "", value] = REQUESTED.exec(line) ?? [];
    const of = new Map([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, text]) => [name!, text!]));
    const gone = of.get("removed_release") ?? "";
    const release = parseKubernetesVersion(`v${gone}.0`);
    if (release === undefined || !(Number(value) > 0) || minorsBetween(release, wanted) < 0) return [];
    const [group, itsVersion, resource] = ["group", "version", "resource"].map((name) => of.get(name) ?? "");
    return [`${group === "" ? "" : `${group}/`}${itsVersion} ${resource} (gone in ${gone})`];
  });
  return [...new Set(found)].sort();
}

/** So many minors may a kubelet be behind its API server; two below 1.28. */
const BEHIND = 3;
const BEHIND_BEFORE_28 = 2;

/** What of the tenant's nodes would not work with an API server of this version, a sentence each. `kubelets`: versions by node. */
export function nodeProblems(version: string, kubelets: ReadonlyMap<string, string>): string[] {
  const server = parseKubernetesVersion(version);
  if (server === undefined) return [];
  const oldest = server.minor - (server.minor < 28 ? BEHIND_BEFORE_28 : BEHIND);
  return [...kubelets].flatMap(([node, kubelet]) => {
    const own = parseKubernetesVersion(kubelet);
    if (own === undefined || (own.major === server.major && own.minor >= oldest)) return [];
    return [`node ${node} has kubelet ${kubelet}, ${version} works with v${server.major}.${oldest} and later`];
  });
}
