/** Whether the control plane is fit for new workers. Pure. */
import type { controlPlaneOf } from "../../../cluster-api/contract.ts";
import { ANNOTATIONS } from "../../../cluster-api/names.ts";
import type { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";

type ControlPlane = Pick<ReturnType<typeof controlPlaneOf>, "version" | "versions">;

/** How many minors a kubelet may be behind. */
const SKEW = 3;

interface Version {
  major: number;
  minor: number;
  patch: number;
  text: string;
}

function versionOf(text: string | undefined): Version | undefined {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text ?? "") ?? [];
  return major === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor), patch: Number(patch), text: text! };
}

const isBelow = (a: Version, b: Version): boolean =>
  a.major - b.major < 0 || (a.major === b.major && (a.minor < b.minor || (a.minor === b.minor && a.patch < b.patch)));

/**
 * What keeps a set from making Machines now, one sentence each. `controlPlane`: undefined where the Cluster names none; `kind`: what the message
 * calls it. `templateAnnotations`: of the bootstrap template, which may name checks to skip, too.
 */
export function preflight(
  set: MachineSet,
  controlPlane: ControlPlane | undefined,
  { kind, templateAnnotations }: { kind: string; templateAnnotations: Readonly<Record<string, string>> | undefined },
): string[] {
  if (controlPlane?.version === undefined) return [];
  const skipped = [set.metadata.annotations, templateAnnotations]
    .flatMap((annotations) => annotations?.[ANNOTATIONS.skipPreflightChecks]?.split(",") ?? [])
    .map((name) => name.trim());
  const problems: [check: string, problem: string | undefined][] = [
    ["ControlPlaneIsStable", stability(controlPlane, kind)],
    ["KubernetesVersionSkew", skew(set, controlPlane.version, kind)],
    ["KubeadmVersionSkew", kubeadmSkew(set, controlPlane.version, kind)],
  ];
  return problems.flatMap(([check, problem]) =>
    problem === undefined || skipped.includes(check) || skipped.includes("All")
      ? []
      : [`${problem} ("${check}" preflight check failed)`],
  );
}

function stability({ version, versions }: ControlPlane, kind: string): string | undefined {
  if (versions.length === 0) return `${kind} is provisioning`;
  const wanted = versionOf(version);
  const behind = versions.map(versionOf).find((running) => running && wanted && isBelow(running, wanted));
  return behind === undefined ? undefined : `${kind} is upgrading from ${behind.text} to ${version}`;
}

function skew(set: MachineSet, planeVersion: string, kind: string): string | undefined {
  const [own, plane] = [versionOf(set.spec.template.spec.version), versionOf(planeVersion)];
  if (own === undefined || plane === undefined) return undefined;
  const isGood = own.major === plane.major && own.minor <= plane.minor && own.minor >= plane.minor - SKEW;
  return isGood
    ? undefined
    : `MachineSet version ${own.text} must be at most ${SKEW} minors behind ${kind} version ${planeVersion}, and not ahead of it`;
}

function kubeadmSkew(set: MachineSet, planeVersion: string, kind: string): string | undefined {
  const { bootstrap, version } = set.spec.template.spec;
  if (bootstrap.configRef?.kind !== "KubeadmConfigTemplate") return undefined;
  const [own, plane] = [versionOf(version), versionOf(planeVersion)];
  if (own === undefined || plane === undefined) return undefined;
  return own.major === plane.major && own.minor === plane.minor
    ? undefined
    : `MachineSet version ${own.text} and ${kind} version ${planeVersion} must have the same minor, since kubeadm bootstraps the Machines`;
}
