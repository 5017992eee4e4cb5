/** What the core writes on the Node of a Machine. Pure. */
import { isDeepStrictEqual } from "node:util";
import { controllerOf } from "@slipway/kube";
import type { Node, Taint } from "@slipway/kube/core";
import { LABELS, NODE_ANNOTATIONS, TAINTS } from "../../../cluster-api/names.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";

type Texts = Readonly<Record<string, string>>;

export interface NodeWishes {
  isInterruptible: boolean;
  /** The Machine is of an earlier revision of its deployment than the newest. */
  isOutdated: boolean;
}

/** A merge patch that brings labels, annotations and taints of the Machine onto its Node; undefined where they are there. */
export function nodePatch(
  node: Node,
  machine: Machine,
  { isInterruptible, isOutdated }: NodeWishes,
): object | undefined {
  const labels = filtered(machine.metadata.labels, isManagedLabel);
  const annotations = filtered(machine.metadata.annotations, isManagedAnnotation);
  const before = node.metadata.annotations ?? {};
  const wantedLabels = {
    ...removed(before[NODE_ANNOTATIONS.labelsFromMachine], labels),
    ...labels,
    ...(isInterruptible && { [LABELS.interruptible]: "" }),
  };
  const wantedAnnotations = {
    ...removed(before[NODE_ANNOTATIONS.annotationsFromMachine], annotations),
    ...annotations,
    ...identity(machine),
    [NODE_ANNOTATIONS.labelsFromMachine]: names(labels),
    [NODE_ANNOTATIONS.annotationsFromMachine]: names(annotations),
  };
  const taints = taintsOf(node.spec?.taints, isOutdated);
  const changed = {
    labels: changes(node.metadata.labels, wantedLabels),
    annotations: changes(before, wantedAnnotations),
  };
  const metadata = Object.fromEntries(Object.entries(changed).filter(([, of]) => Object.keys(of).length > 0));
  const hasTaints = isDeepStrictEqual(taints, node.spec?.taints ?? []);
  if (hasTaints && Object.keys(metadata).length === 0) return undefined;
  const { resourceVersion } = node.metadata;
  return { metadata: { resourceVersion, ...metadata }, ...(!hasTaints && { spec: { taints } }) };
}

function identity(machine: Machine): Texts {
  const owner = controllerOf(machine);
  return {
    [NODE_ANNOTATIONS.clusterName]: machine.spec.clusterName,
    [NODE_ANNOTATIONS.clusterNamespace]: machine.metadata.namespace ?? "",
    [NODE_ANNOTATIONS.machine]: machine.metadata.name,
    ...(owner && { [NODE_ANNOTATIONS.ownerKind]: owner.kind, [NODE_ANNOTATIONS.ownerName]: owner.name }),
  };
}

const domainOf = (key: string): string => key.split("/")[0]!;
const isWithin = (domain: string, of: string): boolean => domain === of || domain.endsWith(`.${of}`);

/** Labels that the core brings from Machines to Nodes. */
export function isManagedLabel(key: string): boolean {
  if (!key.includes("/")) return false;
  const domain = domainOf(key);
  return (
    domain === "node-role.kubernetes.io" ||
    isWithin(domain, "node-restriction.kubernetes.io") ||
    isWithin(domain, "node.cluster.x-k8s.io")
  );
}

const isManagedAnnotation = (key: string): boolean =>
  key.includes("/") && isWithin(domainOf(key), "node.cluster.x-k8s.io");

const filtered = (all: Texts | undefined, isManaged: (key: string) => boolean): Texts =>
  Object.fromEntries(Object.entries(all ?? {}).filter(([key]) => isManaged(key)));

const names = (all: Texts): string => Object.keys(all).toSorted().join(",");

/** Null for what was brought before and is no longer wanted. */
const removed = (held: string | undefined, wanted: Texts): Record<string, null> =>
  Object.fromEntries(
    (held ?? "")
      .split(",")
      .filter((key) => key !== "" && !(key in wanted))
      .map((key) => [key, null]),
  );

function changes(held: Texts | undefined, wanted: Readonly<Record<string, string | null>>): object {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => (held?.[key] ?? null) !== value));
}

function taintsOf(held: readonly Taint[] = [], isOutdated: boolean): Taint[] {
  const kept = held.filter(
    ({ key, effect }) =>
      key !== TAINTS.uninitialized &&
      !(key === TAINTS.outdatedRevision && effect === "PreferNoSchedule" && !isOutdated),
  );
  const isMarked = kept.some(({ key }) => key === TAINTS.outdatedRevision);
  return isOutdated && !isMarked ? [...kept, { key: TAINTS.outdatedRevision, effect: "PreferNoSchedule" }] : kept;
}
