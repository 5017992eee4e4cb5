import type { Admission } from "../core/admission.ts";
import { membersAt, numberAt, objectsAt, textAt } from "../model/read.ts";
import type { Body } from "../model/served.ts";
import { forbidden } from "../model/status.ts";
import type { Store } from "../storage/store.ts";

type Fields = Record<string, unknown>;

const PRIORITY_CLASSES = "scheduling.k8s.io/priorityclasses";
const STORAGE_CLASSES = "storage.k8s.io/storageclasses";

/** What upstream's default admission plugins fill in: priorities and tolerations of Pods, taints of new Nodes, guards of volumes. */
export function defaultAdmission(store: Store): Admission {
  return ({ resource, subresource, operation, object, old, name }) => {
    if (object === undefined || subresource !== "" || resource.group !== "") return;
    const spec = membersAt(object, "spec");
    if (resource.plural === "pods") {
      if (operation === "CREATE") setPriority(store, spec, (why) => forbidden(resource, name, why));
      else keepPriority(spec, membersAt(old, "spec"));
      tolerate(spec);
    } else if (operation === "CREATE") completeNew(store, resource.plural, object);
  };
}

function completeNew(store: Store, plural: string, object: Body): void {
  if (plural === "nodes") taintNew(object);
  if (plural === "persistentvolumes") guard(object, "kubernetes.io/pv-protection");
  if (plural === "persistentvolumeclaims") {
    guard(object, "kubernetes.io/pvc-protection");
    nameStorageClass(store, membersAt(object, "spec"));
  }
}

/** A Pod's priority is that of its class, or of the default one (`Priority`). */
function setPriority(store: Store, spec: Fields, refuse: (why: string) => Error): void {
  const named = textAt(spec, "priorityClassName");
  const found = named === "" ? defaultPriority(store) : store.get(PRIORITY_CLASSES, named);
  if (named !== "" && found === undefined) throw refuse(`no PriorityClass with name ${named} was found`);
  const value = numberAt(found, "value");
  const policy = textAt(found, "preemptionPolicy") || "PreemptLowerPriority";
  const computed = (what: string, given: unknown, is: unknown) =>
    refuse(
      `the ${what} (${given}) must not be provided in pod spec; priority admission controller computed ${is} from the given PriorityClass name`,
    );
  if (found !== undefined) spec.priorityClassName = found.metadata.name;
  if (spec.priority !== undefined && spec.priority !== value)
    throw computed("integer value of priority", spec.priority, value);
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy)
    throw computed("string value of PreemptionPolicy", spec.preemptionPolicy, policy);
  spec.priority = value;
  spec.preemptionPolicy = policy;
}

function allOf(store: Store, collection: string): Body[] {
  return Array.from(store.collection(collection).range("", ""), ([, object]) => object);
}

/** Of several default classes the least important counts. */
function defaultPriority(store: Store): Body | undefined {
  const defaults = allOf(store, PRIORITY_CLASSES).filter((c) => c.globalDefault === true);
  return defaults.sort((a, b) => numberAt(a, "value") - numberAt(b, "value"))[0];
}

function keepPriority(spec: Fields, old: Fields): void {
  for (const name of ["priority", "preemptionPolicy"]) if (old[name] !== undefined) spec[name] ??= old[name];
}

/** Pods bear a Node that is not ready or not reachable for five minutes (`DefaultTolerationSeconds`). */
function tolerate(spec: Fields): void {
  const tolerations = objectsAt(spec, "tolerations");
  const missing = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].filter(
    (wanted) =>
      !tolerations.some(
        ({ key = "", effect = "" }) => (key === wanted || key === "") && (effect === "NoExecute" || effect === ""),
      ),
  );
  const added = missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
  if (added.length > 0) spec.tolerations = [...tolerations, ...added];
}

/** A new Node takes no Pods before it is ready (`TaintNodesByCondition`). */
function taintNew(node: Body): void {
  const spec = membersAt(node, "spec");
  const taints = objectsAt(spec, "taints");
  const key = "node.kubernetes.io/not-ready";
  if (taints.some((taint) => taint.key === key && taint.effect === "NoSchedule")) return;
  node.spec = { ...spec, taints: [...taints, { key, effect: "NoSchedule" }] };
}

/** Volumes and claims are not removed while they are in use (`StorageObjectInUseProtection`). */
function guard({ metadata }: Body, finalizer: string): void {
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
}

/** A claim that names no class gets the default one (`DefaultStorageClass`): the youngest, of several. */
function nameStorageClass(store: Store, spec: Fields): void {
  if (spec.storageClassName !== undefined) return;
  const isDefault = ({ metadata }: Body) =>
    metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true";
  const defaults = allOf(store, STORAGE_CLASSES).filter(isDefault);
  const youngest = defaults.sort((a, b) =>
    (b.metadata.creationTimestamp ?? "").localeCompare(a.metadata.creationTimestamp ?? ""),
  )[0];
  if (youngest !== undefined) spec.storageClassName = youngest.metadata.name;
}
