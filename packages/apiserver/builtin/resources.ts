/**
 * The kinds that the embedded API always serves: enough of Kubernetes' own for kubectl, the controller runtime,
 * and clusters that machines join. Field names, merge keys, columns and messages are those of Kubernetes.
 *
 * Each kind is data (`serve.ts`): schema with defaults, printed columns, selectable fields, and the few rules a schema can't
 * say. Nothing here stores, lists or watches; nothing acts on the objects (no scheduler, no Deployment controller).
 */
import type { ServedResource } from "../model/served.ts";
import { certificateSigningRequest } from "./certificates.ts";
import { daemonSet, statefulSet } from "./daemon-set.ts";
import { deployment, replicaSet } from "./deployment.ts";
import { endpointSlice, endpoints } from "./endpoints.ts";
import { coreEvent, event } from "./event.ts";
import {
  apiService,
  customResourceDefinition,
  mutatingWebhooks,
  priorityClass,
  runtimeClass,
  validatingWebhooks,
} from "./extensions.ts";
import { cronJob, job } from "./job.ts";
import { lease } from "./lease.ts";
import { namespace } from "./namespace.ts";
import { networkPolicy } from "./network-policy.ts";
import { node } from "./node.ts";
import { pod } from "./pod.ts";
import { podDisruptionBudget } from "./policy.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./rbac.ts";
import { configMap, secret } from "./secret.ts";
import { service } from "./service.ts";
import { serviceAccount } from "./service-account.ts";
import type { ServiceRanges } from "./service-allocation.ts";
import { persistentVolume, persistentVolumeClaim, storageClass } from "./storage.ts";

export interface BuiltinOptions {
  /** Gives out addresses and ports; unset: an address from a hash of the Service's name, which two Services may share. */
  serviceRanges?: ServiceRanges;
}

/** The core's built-in resources, core group first; `extras.ts` has the others. Frozen by convention: one server's list may be another's. */
export function builtinResources({ serviceRanges }: BuiltinOptions = {}): ServedResource[] {
  return [
    namespace,
    node,
    pod,
    secret,
    configMap,
    service(serviceRanges),
    serviceAccount,
    coreEvent,
    endpoints,
    persistentVolume,
    persistentVolumeClaim,
    deployment,
    replicaSet,
    daemonSet,
    statefulSet,
    job,
    cronJob,
    role,
    roleBinding,
    clusterRole,
    clusterRoleBinding,
    event,
    lease,
    podDisruptionBudget,
    networkPolicy,
    endpointSlice,
    customResourceDefinition,
    apiService,
    validatingWebhooks,
    mutatingWebhooks,
    certificateSigningRequest,
    runtimeClass,
    priorityClass,
    storageClass,
  ];
}
