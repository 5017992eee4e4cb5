/**
 * The controller runtime: a typed client, caches that follow the API, a work queue, controllers that are plain data, leader election, events
 * and conditions. Everything goes through a `Transport`, so the same controllers run on a real cluster, in tests and in virtual time.
 * Knows no kinds but those of `core.ts`, and no metal.
 */

export { boundClient } from "./bound-client.ts";
export type { Cache } from "./cache.ts";
export type { Client, JsonPatchOperation, Patch } from "./client.ts";
export { type ConditionUpdate, conditionOf, isTrue, setCondition } from "./conditions.ts";
export { type Access, type Context, type Controller, DONE, type Outcome, source } from "./controller.ts";
export { ANY, declaredClient } from "./declared-client.ts";
export { Definitions, type DefinitionWatch } from "./definitions.ts";
export { Discovery } from "./discovery.ts";
export { drainStep } from "./drain.ts";
export { EventPipe } from "./event-pipe.ts";
export { addFinalizer, removeFinalizer } from "./finalizers.ts";
export { type Health, problemsOf, type SystemHealth, waitingText } from "./health.ts";
export { type LabelSelector, matchesLabels, selectorText, selects } from "./label-selector.ts";
export { LEASE_TIMES } from "./leader.ts";
export type { LeaderElection } from "./managed-system.ts";
export { createManager, DEFINITIONS_ACCESS, type Manager, runtimeAccess } from "./manager.ts";
export { type RuntimeMetrics, runtimeMetrics } from "./metrics.ts";
export {
  type Condition,
  type Draft,
  type KubeObject,
  keyOf,
  metadataOf,
  nameOf,
  type ObjectMeta,
  type OwnerReference,
  pathOf,
  type Ref,
  type Resource,
  refOf,
} from "./object.ts";
export { controllerOf, controllerReference, isControlledBy, ownerReference, withOwner } from "./owners.ts";
export { WorkQueue } from "./queue.ts";
export { TokenBucket } from "./rate-limit.ts";
export { type PolicyRule, type RbacRules, rulesOf } from "./rbac.ts";
export { reflect } from "./reflector.ts";
export { createClient } from "./rest-client.ts";
export { CREW_LABEL } from "./shard-keeper.ts";
export { MOST_SHARDS } from "./shard-of.ts";
export { isStalled, recovered, stalled, stalledBy, type Waiting, waitFor } from "./stalled.ts";
export { type Reported, type StatusFields, StatusRecord } from "./status-record.ts";
export { Store } from "./store.ts";
export type { ApiAnswer, ApiRequest, Transport, WatchEvent, WatchStream } from "./transport.ts";
