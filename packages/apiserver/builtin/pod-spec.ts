import { objectMeta } from "../schema/object-meta.ts";
import type { Schema } from "../served.ts";
import { affinity, toleration, topologySpread } from "./affinity.ts";
import {
  container,
  ephemeralContainer,
  resourceRequirements,
  seccompProfile,
  seLinuxOptions,
  windowsOptions,
} from "./container.ts";
import {
  about,
  anyObject,
  bool,
  fields,
  int32,
  int64,
  keyed,
  listOf,
  localReference,
  oneOf,
  quantities,
  retainingKeys,
  text,
  textMap,
  texts,
  withDefault,
} from "./schema-words.ts";
import { volume } from "./volume.ts";

const securityContext = fields({
  seLinuxOptions,
  windowsOptions,
  runAsUser: int64,
  runAsGroup: int64,
  runAsNonRoot: bool,
  supplementalGroups: listOf(int64),
  supplementalGroupsPolicy: text,
  fsGroup: int64,
  sysctls: listOf(fields({ "name!": text, "value!": text })),
  fsGroupChangePolicy: text,
  seccompProfile,
  appArmorProfile: seccompProfile,
  seLinuxChangePolicy: text,
});

/** `v1.PodSpec`, with the defaults that depend on nothing else. */
export const podSpec: Schema = about(
  "What is to run, and how.",
  fields({
    volumes: about("Volumes that containers may mount.", retainingKeys(keyed(volume, "name"))),
    initContainers: about("Containers that run one after the other before the others start.", keyed(container, "name")),
    "containers!": about("The containers of the Pod.", keyed(container, "name")),
    ephemeralContainers: about("Containers added later, to look into the Pod.", keyed(ephemeralContainer, "name")),
    restartPolicy: about(
      "When ended containers start again.",
      withDefault(oneOf("Always", "OnFailure", "Never"), "Always"),
    ),
    terminationGracePeriodSeconds: about("Seconds between the request to end and the kill.", withDefault(int64, 30)),
    activeDeadlineSeconds: int64,
    dnsPolicy: withDefault(oneOf("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"), "ClusterFirst"),
    nodeSelector: about("Labels that the Node must have.", { ...textMap, "x-kubernetes-map-type": "atomic" }),
    serviceAccountName: about("The identity of the Pod towards the API.", text),
    serviceAccount: text,
    automountServiceAccountToken: bool,
    nodeName: about("The Node it runs on; set by the scheduler.", text),
    hostNetwork: bool,
    hostPID: bool,
    hostIPC: bool,
    hostUsers: bool,
    shareProcessNamespace: bool,
    securityContext: about("What all its containers may do.", withDefault(securityContext, {})),
    imagePullSecrets: keyed(localReference, "name"),
    hostname: text,
    subdomain: text,
    hostnameOverride: text,
    setHostnameAsFQDN: bool,
    affinity,
    schedulerName: withDefault(text, "default-scheduler"),
    tolerations: about("Taints of Nodes that do not keep the Pod away.", listOf(toleration)),
    hostAliases: keyed(fields({ "ip!": text, hostnames: texts }), "ip"),
    priorityClassName: text,
    priority: int32,
    preemptionPolicy: text,
    dnsConfig: fields({
      nameservers: texts,
      searches: texts,
      options: listOf(fields({ name: text, value: text })),
    }),
    readinessGates: listOf(fields({ "conditionType!": text })),
    runtimeClassName: text,
    enableServiceLinks: bool,
    overhead: quantities,
    topologySpreadConstraints: topologySpread,
    os: fields({ "name!": text }),
    schedulingGates: keyed(fields({ "name!": text }), "name"),
    resourceClaims: retainingKeys(
      keyed(fields({ "name!": text, resourceClaimName: text, resourceClaimTemplateName: text }), "name"),
    ),
    resources: resourceRequirements,
    schedulingGroup: anyObject,
  }),
);

/** `v1.PodTemplateSpec`. */
export const podTemplate: Schema = about("The Pods to make.", fields({ metadata: objectMeta, spec: podSpec }));
