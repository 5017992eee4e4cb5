import { rfc3339 } from "@slipway/base";
import { admit, approve, type Call, isDryRun, noteWrite } from "../core.ts";
import type { Body } from "../served.ts";
import { conflict, forbidden, MODIFIED, notFound, type Status } from "../status.ts";
import { type DeleteOptions, deleteOptions } from "./delete-options.ts";
import { placeOf, toStorage } from "./object.ts";
import { isFinished } from "./update.ts";

const ATTEMPTS = 8;
/** Namespaces that every cluster needs. */
const IMMORTAL: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);
export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";
const CRD_CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

/** DELETE of one object. Answers the object while something holds it, else a Status that names what went. */
export async function remove(call: Call): Promise<Body | Omit<Status, "code">> {
  const outcome = await removeObject(call, deleteOptions(call));
  return outcome.gone && call.resource.answersDeleted !== true ? success(call, outcome.object) : outcome.object;
}

/** Deletes the call's object as far as its finalizers and grace allow. */
export async function removeObject(call: Call, options: DeleteOptions): Promise<{ gone: boolean; object: Body }> {
  const { core, resource } = call;
  const { collection, key } = placeOf(call);
  let { admitted = false } = options;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stored = core.store.get(collection, key);
    if (stored === undefined) throw notFound(resource, call.name);
    await core.registry.ready(resource, [stored]);
    const live = core.registry.view(resource, stored);
    checkPreconditions(call, live, options);
    if (isNamespace(call) && IMMORTAL.has(call.name))
      throw forbidden(resource, call.name, "this namespace may not be deleted");
    if (!admitted) {
      await admit(call, "DELETE", undefined, live);
      await approve(call, "DELETE", undefined, live);
      admitted = true;
      if (core.store.get(collection, key) !== stored) continue;
    }
    const marked = mark(call, live, options);
    if (isDryRun(call)) return { gone: marked === undefined || isFinished(marked), object: marked ?? live };
    const version = stored.metadata.resourceVersion;
    if (marked !== undefined && isFinished(marked)) {
      const last = core.store.remove(collection, key, version);
      noteWrite(call);
      // What had time to wind down is shown as marked, though it had none left.
      const shown = resource.gracePeriodSeconds === undefined ? last?.metadata : marked.metadata;
      if (last !== undefined && shown !== undefined)
        return {
          gone: true,
          object: { ...live, metadata: { ...shown, resourceVersion: last.metadata.resourceVersion } },
        };
    } else if (marked === undefined) return { gone: false, object: live };
    else {
      const kept = await toStorage(call, marked);
      if (core.store.put(collection, key, kept, version) !== undefined) {
        noteWrite(call);
        await core.registry.ready(resource, [kept]);
        return { gone: false, object: core.registry.view(resource, kept) };
      }
    }
  }
  throw conflict(resource, call.name, MODIFIED);
}

function checkPreconditions(call: Call, live: Body, { uid, resourceVersion }: DeleteOptions): void {
  const { uid: liveUid, resourceVersion: liveVersion } = live.metadata;
  // Upstream names the kind here, where other conflicts name the resource.
  const named = { ...call.resource, plural: call.resource.kind };
  if (uid !== undefined && uid !== liveUid)
    throw conflict(
      named,
      call.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${liveUid}). The object might have been deleted and then recreated`,
    );
  if (resourceVersion !== undefined && resourceVersion !== liveVersion)
    throw conflict(
      named,
      call.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${liveVersion}). The object might have been modified`,
    );
}

/** The object as deletion leaves it; undefined when it already stands so and something still holds it. */
function mark(call: Call, live: Body, options: DeleteOptions): Body | undefined {
  const { resource, core } = call;
  const metadata = { ...live.metadata };
  const already = metadata.deletionTimestamp !== undefined;
  const finalizers = finalizersFor(call, live, options.propagation);
  const normal = resource.gracePeriodSeconds?.(live) ?? 0;
  const wanted = resource.gracePeriodSeconds === undefined ? 0 : Math.max(0, options.gracePeriodSeconds ?? normal);
  const grace = already ? Math.min(wanted, metadata.deletionGracePeriodSeconds ?? 0) : normal === 0 ? 0 : wanted;
  if (!already || grace < (metadata.deletionGracePeriodSeconds ?? 0)) {
    metadata.deletionTimestamp = rfc3339(core.clock.now() + grace * 1000);
    if (!isNamespace(call)) metadata.deletionGracePeriodSeconds = grace;
  }
  const isCrd = isDefinition(call);
  if (!already && metadata.generation !== undefined && !isCrd) metadata.generation++;
  if (isCrd) delete metadata.deletionGracePeriodSeconds;
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const next: Body = { ...live, metadata };
  if (isCrd && !already) next.status = withTerminating(live.status, rfc3339(core.clock.now()));
  if (isNamespace(call)) next.status = { ...(live.status as object | undefined), phase: "Terminating" };
  const same =
    already &&
    live.metadata.deletionGracePeriodSeconds === grace &&
    String(live.metadata.finalizers ?? []) === String(finalizers);
  return same && !isFinished(next) ? undefined : next;
}

function finalizersFor(call: Call, live: Body, propagation: DeleteOptions["propagation"]): string[] {
  const present = live.metadata.finalizers ?? [];
  const policy =
    propagation ?? (present.includes(ORPHAN) ? "Orphan" : present.includes(FOREGROUND) ? "Foreground" : "Background");
  const others = present.filter((f) => f !== ORPHAN && f !== FOREGROUND);
  if (policy === "Orphan") others.push(ORPHAN);
  if (policy === "Foreground") others.push(FOREGROUND);
  const isCrd = isDefinition(call);
  // The definition stays until its objects are gone; they would be unreachable without it.
  if (isCrd && live.metadata.deletionTimestamp === undefined && !others.includes(CRD_CLEANUP)) others.push(CRD_CLEANUP);
  return others;
}

function isDefinition({ resource }: Call): boolean {
  return resource.group === "apiextensions.k8s.io" && resource.plural === "customresourcedefinitions";
}

/** The status of a definition that is to go once its objects are gone. */
function withTerminating(status: unknown, lastTransitionTime: string): unknown {
  const { conditions, ...rest } = (status ?? {}) as { conditions?: { type: string }[] | null };
  const terminating = {
    type: "Terminating",
    status: "True",
    lastTransitionTime,
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  };
  return { ...rest, conditions: [...(conditions ?? []).filter((c) => c.type !== "Terminating"), terminating] };
}

function isNamespace(call: Call): boolean {
  return call.resource.group === "" && call.resource.plural === "namespaces";
}

function success(call: Call, object: Body): Omit<Status, "code"> {
  const { group, plural } = call.resource;
  const details = {
    name: object.metadata.name,
    ...(group === "" ? {} : { group }),
    kind: plural,
    uid: object.metadata.uid,
  };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
