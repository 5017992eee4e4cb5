import type { Schema } from "../served.ts";
import {
  about,
  atomic,
  fields,
  int32,
  int64,
  keyed,
  labelSelector,
  listOf,
  oneOf,
  text,
  texts,
} from "./schema-words.ts";

const nodeRequirement = fields({
  "key!": text,
  "operator!": oneOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
  values: texts,
});

const nodeTerm = atomic({ matchExpressions: listOf(nodeRequirement), matchFields: listOf(nodeRequirement) });

const podTerm = fields({
  labelSelector,
  namespaces: texts,
  "topologyKey!": text,
  namespaceSelector: labelSelector,
  matchLabelKeys: texts,
  mismatchLabelKeys: texts,
});

const podRules = fields({
  requiredDuringSchedulingIgnoredDuringExecution: listOf(podTerm),
  preferredDuringSchedulingIgnoredDuringExecution: listOf(fields({ "weight!": int32, "podAffinityTerm!": podTerm })),
});

/** `v1.Affinity`. */
export const affinity: Schema = about(
  "Nodes and neighbours that the Pod prefers, needs or avoids.",
  fields({
    nodeAffinity: fields({
      requiredDuringSchedulingIgnoredDuringExecution: atomic({ "nodeSelectorTerms!": listOf(nodeTerm) }),
      preferredDuringSchedulingIgnoredDuringExecution: listOf(fields({ "weight!": int32, "preference!": nodeTerm })),
    }),
    podAffinity: podRules,
    podAntiAffinity: podRules,
  }),
);

/** `v1.Toleration`. */
export const toleration: Schema = fields({
  key: text,
  operator: oneOf("Exists", "Equal", "Lt", "Gt"),
  value: text,
  effect: oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"),
  tolerationSeconds: int64,
});

/** `v1.TopologySpreadConstraint`s. */
export const topologySpread: Schema = keyed(
  fields({
    "maxSkew!": int32,
    "topologyKey!": text,
    "whenUnsatisfiable!": oneOf("DoNotSchedule", "ScheduleAnyway"),
    labelSelector,
    minDomains: int32,
    nodeAffinityPolicy: text,
    nodeTaintsPolicy: text,
    matchLabelKeys: texts,
  }),
  "topologyKey",
  "whenUnsatisfiable",
);
