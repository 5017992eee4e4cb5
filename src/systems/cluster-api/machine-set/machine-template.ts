/** What Machines of a set are made of, and what of it reaches Machines that exist. Pure. */
import { isDeepStrictEqual } from "node:util";
import { controllerReference, type KubeObject, type OwnerReference, ownerReference } from "@slipway/kube";
import { ANNOTATIONS, FINALIZERS, LABELS } from "../../../cluster-api/names.ts";
import { at } from "../../../kinds/cluster-api/field-path.ts";
import type { ContractReference } from "../../../kinds/cluster-api/fields.ts";
import type { Machine, MachineSpec } from "../../../kinds/cluster-api/machine.ts";
import { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";

type Texts = Readonly<Record<string, string>>;

/** Labels of Machines of a set. */
export const labelsOf = ({ metadata, spec }: MachineSet): Texts => {
  const deployment = metadata.labels?.[LABELS.deploymentName];
  return {
    ...spec.template.metadata?.labels,
    [LABELS.clusterName]: spec.clusterName,
    [LABELS.setName]: nameAsLabel(metadata.name),
    ...(deployment !== undefined && { [LABELS.deploymentName]: deployment }),
  };
};

/** Annotations of Machines of a set. */
export const annotationsOf = ({ spec }: MachineSet): Texts => spec.template.metadata?.annotations ?? {};

const MAX_LABEL = 63;

/** A name as a label's value: too long ones are cut, and end in a hash of the whole. */
export function nameAsLabel(name: string): string {
  if (name.length <= MAX_LABEL) return name;
  let hash = 0x811c9dc5;
  for (const char of name) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
  const suffix = hash.toString(36);
  return `${name.slice(0, MAX_LABEL - suffix.length - 1)}-${suffix}`;
}

/** Name of a kind that is made of templates of another. */
export const kindOfTemplate = ({
  apiGroup,
  kind,
}: ContractReference): Pick<ContractReference, "apiGroup" | "kind"> => ({
  apiGroup,
  kind: kind.replace(/Template$/, ""),
});

/** A provider's object made of a template, under the Machine's name. */
export function cloneOf(set: MachineSet, template: KubeObject, name: string): { metadata: object; spec: unknown } {
  const inner = at(template, "spec.template.metadata") as { labels?: Texts; annotations?: Texts } | undefined;
  const group = template.apiVersion.split("/")[0];
  return {
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: { ...inner?.labels, ...labelsOf(set) },
      annotations: {
        ...inner?.annotations,
        ...annotationsOf(set),
        [ANNOTATIONS.clonedFromName]: template.metadata.name,
        [ANNOTATIONS.clonedFromGroupKind]: `${template.kind}.${group}`,
      },
      ownerReferences: [ownerReference(MachineSet, set)] satisfies OwnerReference[],
    },
    spec: structuredClone(at(template, "spec.template.spec") ?? {}),
  };
}

/** A Machine of the set. */
export function machineOf(
  set: MachineSet,
  name: string,
  refs: Pick<MachineSpec, "infrastructureRef"> & { configRef: ContractReference | undefined },
) {
  const { bootstrap, infrastructureRef: _, ...spec } = set.spec.template.spec;
  return {
    metadata: {
      name,
      namespace: set.metadata.namespace!,
      labels: { ...labelsOf(set) },
      annotations: { ...annotationsOf(set) },
      finalizers: [FINALIZERS.machine],
      ownerReferences: [controllerReference(MachineSet, set)],
    },
    spec: {
      ...spec,
      bootstrap: refs.configRef === undefined ? bootstrap : { configRef: refs.configRef },
      infrastructureRef: refs.infrastructureRef,
    },
  };
}

/** Fields of the template that reach Machines which exist. */
export const IN_PLACE = ["minReadySeconds", "readinessGates", "deletion", "taints"] as const;

/** Keys of labels and annotations that the template has brought to Machines. */
export interface Propagated {
  labels: readonly string[];
  annotations: readonly string[];
}

/** What the set's template brings to Machines now. */
export const propagatedBy = (set: MachineSet): Propagated => ({
  labels: Object.keys(labelsOf(set)).toSorted(),
  annotations: Object.keys(annotationsOf(set)).toSorted(),
});

/** What is to be changed of an object's labels and annotations; undefined: nothing. `before`: what was brought earlier. */
export function metadataPatch(
  { metadata }: KubeObject,
  set: MachineSet,
  before: Propagated | undefined,
): object | undefined {
  const labels = changes(metadata.labels, labelsOf(set), before?.labels);
  const annotations = changes(metadata.annotations, annotationsOf(set), before?.annotations);
  const body = { ...(labels && { labels }), ...(annotations && { annotations }) };
  return Object.keys(body).length === 0 ? undefined : body;
}

function changes(held: Texts = {}, wanted: Texts, before: readonly string[] = []): object | undefined {
  const changed = Object.entries(wanted).filter(([key, value]) => held[key] !== value);
  const gone = before.filter((key) => !(key in wanted) && key in held).map((key) => [key, null]);
  return changed.length + gone.length === 0 ? undefined : Object.fromEntries([...changed, ...gone]);
}

/** What is to be changed of a Machine of the set; undefined: nothing. */
export function machinePatch(machine: Machine, set: MachineSet, before: Propagated | undefined): object | undefined {
  const metadata = metadataPatch(machine, set, before);
  const wanted = set.spec.template.spec;
  const different = IN_PLACE.filter((field) => !isDeepStrictEqual(machine.spec[field], wanted[field]));
  if (metadata === undefined && different.length === 0) return undefined;
  return {
    ...(metadata && { metadata }),
    ...(different.length > 0 && {
      spec: Object.fromEntries(different.map((field) => [field, replaced(machine.spec[field], wanted[field])])),
    }),
  };
}

/** What puts a value in place of another in a merge patch: fields that go are null. */
export function replaced(held: unknown, wanted: unknown): unknown {
  if (wanted === undefined) return null;
  if (typeof held !== "object" || held === null || Array.isArray(held) || Array.isArray(wanted)) return wanted;
  const gone = Object.keys(held).filter((key) => !(key in (wanted as object)));
  return { ...(wanted as object), ...Object.fromEntries(gone.map((key) => [key, null])) };
}
