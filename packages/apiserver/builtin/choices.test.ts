/** Fields that take one of a few words: each word of Kubernetes' API reference is taken, any other is refused with the whole list. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { EXTRAS } from "../extras.ts";
import { allPasses } from "../json/turns.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { ownErrors } from "../rules/own.ts";
import { builtinResources } from "./resources.ts";

const ALL = [...builtinResources(), ...EXTRAS.flatMap(({ resources = [] }) => resources)];
const served = (kind: string): ServedResource => ALL.find((resource) => resource.kind === kind)!;

const TEMPLATE = { spec: { containers: [{ name: "c", image: "a" }], restartPolicy: "Never" } };
const MODES = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

type Choice = readonly [kind: string, field: string, make: (word: string) => object, words: readonly string[]];
const spec =
  (field: string, more: object = {}) =>
  (word: string) => ({ spec: { ...more, [field]: word } });
const pod = (field: string) => spec(field, { containers: [{ name: "c", image: "a" }] });
const job = (field: string) => (word: string) => ({ spec: { template: TEMPLATE, [field]: word } });

const CHOICES: readonly Choice[] = [
  ["EndpointSlice", "addressType", (addressType) => ({ addressType }), ["FQDN", "IPv4", "IPv6"]],
  ["EndpointSlice", "ports[0].protocol", (protocol) => ({ addressType: "IPv4", ports: [{ protocol }] }), PROTOCOLS],
  ["Service", "spec.sessionAffinity", spec("sessionAffinity"), ["ClientIP", "None"]],
  ["Service", "spec.type", spec("type"), ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]],
  ["Service", "spec.ipFamilies[0]", (word) => ({ spec: { ipFamilies: [word] } }), ["IPv4", "IPv6"]],
  ["Service", "spec.ipFamilyPolicy", spec("ipFamilyPolicy"), ["PreferDualStack", "RequireDualStack", "SingleStack"]],
  ["Service", "spec.internalTrafficPolicy", spec("internalTrafficPolicy"), ["Cluster", "Local"]],
  ["PersistentVolume", "spec.accessModes", (word) => ({ spec: { accessModes: [word] } }), MODES],
  ["PersistentVolume", "spec.volumeMode", spec("volumeMode"), ["Block", "Filesystem"]],
  [
    ...(["PersistentVolume", "spec.persistentVolumeReclaimPolicy", spec("persistentVolumeReclaimPolicy")] as const),
    ["Delete", "Recycle", "Retain"],
  ],
  ["PersistentVolumeClaim", "spec.accessModes", (word) => ({ spec: { accessModes: [word] } }), MODES],
  ["PersistentVolumeClaim", "spec.volumeMode", spec("volumeMode"), ["Block", "Filesystem"]],
  ["StorageClass", "reclaimPolicy", (reclaimPolicy) => ({ reclaimPolicy }), ["Delete", "Retain"]],
  ["StorageClass", "volumeBindingMode", (word) => ({ volumeBindingMode: word }), ["Immediate", "WaitForFirstConsumer"]],
  ["CSIDriver", "spec.fsGroupPolicy", spec("fsGroupPolicy"), ["File", "None", "ReadWriteOnceWithFSType"]],
  [
    "CSIDriver",
    "spec.volumeLifecycleModes",
    (word) => ({ spec: { volumeLifecycleModes: [word] } }),
    ["Persistent", "Ephemeral"],
  ],
  ["Pod", "spec.restartPolicy", pod("restartPolicy"), ["Always", "OnFailure", "Never"]],
  ["Pod", "spec.preemptionPolicy", pod("preemptionPolicy"), ["PreemptLowerPriority", "Never"]],
  ["Pod", "spec.dnsPolicy", pod("dnsPolicy"), ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]],
  ["Job", "spec.completionMode", job("completionMode"), ["NonIndexed", "Indexed"]],
  [
    ...(["CronJob", "spec.concurrencyPolicy"] as const),
    spec("concurrencyPolicy", { schedule: "* * * * *", jobTemplate: { spec: { template: TEMPLATE } } }),
    ["Allow", "Forbid", "Replace"],
  ],
  ["Node", "metadata.taints[0].effect", (effect) => ({ spec: { taints: [{ key: "a", effect }] } }), EFFECTS],
  [
    "PriorityClass",
    "preemptionPolicy",
    (preemptionPolicy) => ({ preemptionPolicy }),
    ["PreemptLowerPriority", "Never"],
  ],
  [
    ...(["PodDisruptionBudget", "spec.unhealthyPodEvictionPolicy", spec("unhealthyPodEvictionPolicy")] as const),
    ["AlwaysAllow", "IfHealthyBudget"],
  ],
];

/** Why the choice of a field is refused; undefined: it is not. */
function refusal(kind: string, field: string, parts: object): string | undefined {
  const object = { apiVersion: "v1", kind, metadata: { name: "x", namespace: "default" }, ...parts } as unknown as Body;
  const errors = allPasses(ownErrors(served(kind), object)) ?? [];
  return errors.find((error) => error.field === field && error.reason === "FieldValueNotSupported")?.message;
}

for (const [kind, field, make, words] of CHOICES)
  test(`${kind} ${field}: ${words.join(", ")}`, () => {
    for (const word of words) assert.equal(refusal(kind, field, make(word)), undefined, word);
    const refused = refusal(kind, field, make("Other")) ?? assert.fail("any word is taken");
    for (const word of words) assert.ok(refused.includes(`"${word}"`), refused);
  });
