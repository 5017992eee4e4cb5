/** Which Pods a DaemonSet has on which nodes, as kube-controller-manager's daemonset controller places them. Pure. */
import { createHash } from "node:crypto";
import { controllerReference, type Draft, isControlledBy, type KubeObject, type Resource } from "@slipway/kube";
import type { Node, Pod, Taint } from "@slipway/kube/core";

type PodSpec = NonNullable<Pod["spec"]>;

export interface DaemonSet extends KubeObject {
  spec?: {
    template?: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec?: PodSpec };
  };
  status?: object;
}
export const DaemonSet: Resource<DaemonSet> = {
  ...{ group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true },
};

/** The label by which a Pod is known to be of an older template. */
const REVISION = "controller-revision-hash";

/** Taints that every Pod of a DaemonSet tolerates (Kubernetes' documentation, DaemonSet, taints and tolerations). */
const TOLERATED = [
  ["not-ready", "NoExecute"],
  ["unreachable", "NoExecute"],
  ["disk-pressure", "NoSchedule"],
  ["memory-pressure", "NoSchedule"],
  ["pid-pressure", "NoSchedule"],
  ["unschedulable", "NoSchedule"],
].map(([key, effect]) => ({ key: `node.kubernetes.io/${key}`, operator: "Exists", effect: effect! }));
const NETWORK_DOWN = { key: "node.kubernetes.io/network-unavailable", operator: "Exists", effect: "NoSchedule" };

export interface DaemonPods {
  create: readonly Draft<Pod>[];
  remove: readonly Pod[];
  status: object;
}

/** What is to be made and removed, and what the DaemonSet's status says. */
export function daemonPods(set: DaemonSet, nodes: readonly Node[], pods: readonly Pod[]): DaemonPods {
  const revision = hash(JSON.stringify(set.spec?.template ?? {}));
  const own = pods.filter((pod) => isControlledBy(pod, set));
  const wanted = nodes.filter((node) => isPlaced(set, node));
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const held = new Map<string, Pod>();
  const remove = own.filter((pod) => {
    const node = pod.spec?.nodeName ?? "";
    const stays = names.has(node) && !held.has(node) && pod.metadata.labels?.[REVISION] === revision;
    if (stays) held.set(node, pod);
    return !stays && pod.metadata.deletionTimestamp === undefined;
  });
  const taken = new Set(own.map(({ spec }) => spec?.nodeName));
  const ready = [...held.values()].filter(isReady).length;
  const desired = wanted.length;
  return {
    create: wanted.filter(({ metadata }) => !taken.has(metadata.name)).map((node) => podOf(set, node, revision)),
    remove,
    status: {
      ...{ desiredNumberScheduled: desired, currentNumberScheduled: held.size, numberMisscheduled: 0 },
      ...{ numberReady: ready, updatedNumberScheduled: held.size, observedGeneration: set.metadata.generation },
      ...(ready > 0 && { numberAvailable: ready }),
      ...(desired > ready && { numberUnavailable: desired - ready }),
    },
  };
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;

function isPlaced({ spec }: DaemonSet, node: Node): boolean {
  const template = spec?.template?.spec;
  const labels = node.metadata.labels ?? {};
  if (Object.entries(template?.nodeSelector ?? {}).some(([key, value]) => labels[key] !== value)) return false;
  const tolerations = tolerationsOf(template);
  return (node.spec?.taints ?? []).every(
    (taint) => taint.effect === "PreferNoSchedule" || tolerations.some((each) => tolerates(each, taint)),
  );
}

type Toleration = NonNullable<PodSpec["tolerations"]>[number];

const tolerationsOf = (spec: PodSpec | undefined): readonly Toleration[] => [
  ...(spec?.tolerations ?? []),
  ...TOLERATED,
  ...(spec?.hostNetwork === true ? [NETWORK_DOWN] : []),
];

/** Whether a taint is tolerated (Kubernetes' documentation, Taints and Tolerations). */
function tolerates({ key, operator = "Equal", value = "", effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== "" && effect !== taint.effect) return false;
  if (key === undefined || key === "") return operator === "Exists";
  return key === taint.key && (operator === "Exists" || value === (taint.value ?? ""));
}

function podOf(set: DaemonSet, node: Node, revision: string): Draft<Pod> {
  const { metadata = {}, spec = {} } = set.spec?.template ?? {};
  const { name } = node.metadata;
  return {
    metadata: {
      namespace: set.metadata.namespace!,
      name: `${set.metadata.name}-${hash(`${name}/${node.metadata.uid}/${revision}`)}`,
      labels: { ...metadata.labels, [REVISION]: revision },
      ...(metadata.annotations && { annotations: metadata.annotations }),
      ownerReferences: [controllerReference(DaemonSet, set)],
    },
    spec: { ...spec, nodeName: name, tolerations: [...tolerationsOf(spec)] },
  } as Draft<Pod>;
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);
