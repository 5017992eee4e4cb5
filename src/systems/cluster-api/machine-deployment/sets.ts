/** The sets of a MachineDeployment: which one is current, what a new one is like, what reaches existing ones. Pure. */
import { isDeepStrictEqual } from "node:util";
import { controllerReference } from "@slipway/kube";
import { ANNOTATIONS, LABELS } from "../../../cluster-api/names.ts";
import type { MachineDeployment } from "../../../kinds/cluster-api/machine-deployment.ts";
import { MachineDeployment as Kind } from "../../../kinds/cluster-api/machine-deployment.ts";
import type { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import { IN_PLACE, replaced } from "../machine-set/machine-template.ts";
import { paceOf } from "./portions.ts";
import { makeSameMachines } from "./template-equality.ts";
import { isOverdue } from "./up-to-date.ts";

/** The sets that make the Machines the deployment wants now: the one with the most Machines, then the oldest, is the current one. */
export function currentSet(
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  now: number,
): MachineSet | undefined {
  return sets
    .filter(
      (set) =>
        set.metadata.deletionTimestamp === undefined &&
        makeSameMachines(set.spec.template.spec, deployment.spec.template.spec) &&
        !isOverdue(set, deployment, now),
    )
    .toSorted((a, b) => b.spec.replicas - a.spec.replicas || byAge(a, b))[0];
}

/** The oldest first. */
export function byAge(a: MachineSet, b: MachineSet): number {
  return (
    Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
    (a.metadata.name < b.metadata.name ? -1 : 1)
  );
}

/** Number of the revision of a set or a deployment. */
export const revisionOf = ({ metadata }: MachineSet | MachineDeployment): number =>
  Number(metadata.annotations?.[ANNOTATIONS.revision] ?? 0);

/** Revision that the current set must have: above all others. */
export function nextRevision(current: MachineSet | undefined, sets: readonly MachineSet[]): number {
  const others = Math.max(0, ...sets.filter((set) => set !== current).map(revisionOf));
  return current !== undefined && revisionOf(current) > others ? revisionOf(current) : others + 1;
}

const NOT_COPIED = new Set<string>(["kubectl.kubernetes.io/last-applied-configuration", ANNOTATIONS.revision]);

/** Annotations of a set that come from its deployment. */
export function annotationsOf(deployment: MachineDeployment, revision: number): Record<string, string> {
  const { replicas, rollout } = deployment.spec;
  const { maxSurge } = paceOf(rollout?.strategy?.rollingUpdate, replicas);
  const isOnDelete = rollout?.strategy?.type === "OnDelete";
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !NOT_COPIED.has(key));
  return {
    ...Object.fromEntries(own),
    [ANNOTATIONS.revision]: String(revision),
    [ANNOTATIONS.desiredReplicas]: String(replicas),
    [ANNOTATIONS.maxReplicas]: String(replicas + (isOnDelete ? 0 : maxSurge)),
  };
}

/** A new set for the deployment's template. `unique`: letters that no other set of it has. */
export function newSet(
  deployment: MachineDeployment,
  { unique, replicas, revision }: { unique: string; replicas: number; revision: number },
) {
  const { metadata, spec } = deployment;
  const labels = {
    ...spec.template.metadata?.labels,
    [LABELS.deploymentName]: metadata.name,
    [LABELS.templateHash]: unique,
  };
  return {
    metadata: {
      name: `${metadata.name.slice(0, 63 - unique.length - 1)}-${unique}`,
      namespace: metadata.namespace!,
      labels: { ...labels, [LABELS.clusterName]: spec.clusterName },
      annotations: annotationsOf(deployment, revision),
      ownerReferences: [controllerReference(Kind, deployment)],
    },
    spec: {
      clusterName: spec.clusterName,
      replicas,
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [LABELS.templateHash]: unique } },
      template: {
        metadata: { ...spec.template.metadata, labels },
        spec: spec.template.spec,
      },
      ...(spec.machineNaming && { machineNaming: spec.machineNaming }),
      ...(spec.deletion && { deletion: spec.deletion }),
    },
  };
}

/** What changes on a set that exists; undefined: nothing. Labels and annotations of the template reach the current set only. */
export function setPatch(
  set: MachineSet,
  deployment: MachineDeployment,
  {
    isCurrent,
    revision,
    replicas,
    isOff,
  }: { isCurrent: boolean; revision: number; replicas: number | undefined; isOff: boolean },
): object | undefined {
  const annotations = annotationChanges(set, deployment, { isCurrent, revision, isOff });
  const spec = specChanges(set, deployment, isCurrent);
  const body = {
    ...(Object.keys(annotations).length > 0 && { metadata: { annotations } }),
    ...((replicas !== undefined || Object.keys(spec).length > 0) && {
      spec: { ...spec, ...(replicas !== undefined && { replicas }) },
    }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

function annotationChanges(
  set: MachineSet,
  deployment: MachineDeployment,
  { isCurrent, revision, isOff }: { isCurrent: boolean; revision: number; isOff: boolean },
): Record<string, string | null> {
  const held = set.metadata.annotations ?? {};
  const wanted: Record<string, string | null> = {
    ...annotationsOf(deployment, isCurrent ? revision : revisionOf(set)),
    [ANNOTATIONS.disableMachineCreate]: isOff ? "true" : null,
  };
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => (held[key] ?? null) !== value));
}

function specChanges(set: MachineSet, deployment: MachineDeployment, isCurrent: boolean): Record<string, unknown> {
  const { template, machineNaming, deletion } = deployment.spec;
  const held = set.spec.template;
  const spec = Object.fromEntries(
    IN_PLACE.filter((field) => !isDeepStrictEqual(held.spec[field], template.spec[field])).map((field) => [
      field,
      replaced(held.spec[field], template.spec[field]),
    ]),
  );
  const fixed = [LABELS.deploymentName, LABELS.templateHash] as const;
  const kept = Object.fromEntries(
    fixed.flatMap((key) => (held.metadata?.labels?.[key] ? [[key, held.metadata.labels[key]]] : [])),
  );
  const wanted = { labels: { ...template.metadata?.labels, ...kept }, annotations: template.metadata?.annotations };
  const metadata = isCurrent ? metadataChanges(held.metadata, wanted) : {};
  const inner = {
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(Object.keys(spec).length > 0 && { spec }),
  };
  return {
    ...(Object.keys(inner).length > 0 && { template: inner }),
    ...(!isDeepStrictEqual(set.spec.machineNaming, machineNaming) && { machineNaming: machineNaming ?? null }),
    ...(!isDeepStrictEqual(set.spec.deletion, deletion) && { deletion: deletion ?? null }),
  };
}

type Metadata =
  | { labels?: Record<string, string> | undefined; annotations?: Record<string, string> | undefined }
  | undefined;

function metadataChanges(held: Metadata, wanted: NonNullable<Metadata>): object {
  const parts = (["labels", "annotations"] as const).filter(
    (part) => !isDeepStrictEqual(held?.[part] ?? {}, wanted[part] ?? {}),
  );
  return Object.fromEntries(parts.map((part) => [part, replaced(held?.[part], wanted[part])]));
}
