import { rfc3339 } from "@slipway/base";
import { admit, approve } from "../core/admit.ts";
import { type Call, isDryRun, noteWrite } from "../core/call.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { conflict, forbidden, MODIFIED, notFound, type Status } from "../model/status.ts";
import { type DeleteOptions, deleteOptions } from "./delete-options.ts";
import { placeOf, toStorage } from "./object.ts";
import { isFinished } from "./update.ts";

const ATTEMPTS = 8;
export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";

/** DELETE of one object. Answers the object while something holds it, else a Status that names what went. */
export async function remove(call: Call): Promise<Body | Omit<Status, "code">> {
  const outcome = await removeObject(call, deleteOptions(call));
  return outcome.gone && call.resource.answersDeleted !== true ? success(call, outcome.object) : outcome.object;
}

/** Whether the object is gone, and the object as it went or stays. */
interface Outcome {
  gone: boolean;
  object: Body;
}

/** Deletes the call's object as far as its finalizers and grace allow. */
export async function removeObject(call: Call, options: DeleteOptions): Promise<Outcome> {
  const { core, resource } = call;
  const { collection, key } = placeOf(call);
  let { admitted = false } = options;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stored = core.store.get(collection, key);
    if (stored === undefined) throw notFound(resource, call.name);
    await core.registry.ready(resource, [stored]);
    const live = core.registry.view(resource, stored);
    checkPreconditions(call, live, options);
    const refusal = resource.deletion?.refuses?.(call.name);
    if (refusal !== undefined) throw forbidden(resource, call.name, refusal);
    if (!admitted) {
      await admit(call, { operation: "DELETE", old: live });
      await approve(call, { operation: "DELETE", old: live });
      admitted = true;
      if (core.store.get(collection, key) !== stored) continue;
    }
    const outcome = await ended(call, {
      live,
      marked: mark(call, live, options),
      version: stored.metadata.resourceVersion,
    });
    if (outcome !== undefined) return outcome;
  }
  throw conflict(resource, call.name, MODIFIED);
}

/** Writes that the object goes or is gone, unless it is a dry run or it is marked already; undefined: it has changed meanwhile. */
async function ended(
  call: Call,
  { live, marked, version }: { live: Body; marked: Body | undefined; version: string },
): Promise<Outcome | undefined> {
  if (isDryRun(call)) return { gone: marked === undefined || isFinished(marked), object: marked ?? live };
  if (marked === undefined) return { gone: false, object: live };
  return isFinished(marked) ? takeAway(call, live, marked, version) : await keep(call, marked, version);
}

/** Removes what nothing holds any more; undefined: it has changed meanwhile. */
function takeAway(call: Call, live: Body, marked: Body, version: string): Outcome | undefined {
  const { collection, key } = placeOf(call);
  const last = call.core.store.remove(collection, key, version);
  noteWrite(call);
  // What had time to wind down is shown as marked, though it had none left.
  const shown = call.resource.gracePeriodSeconds === undefined ? last?.metadata : marked.metadata;
  if (last === undefined || shown === undefined) return undefined;
  return { gone: true, object: { ...live, metadata: { ...shown, resourceVersion: last.metadata.resourceVersion } } };
}

/** Stores what is to go and is still held; undefined: it has changed meanwhile. */
async function keep(call: Call, marked: Body, version: string): Promise<Outcome | undefined> {
  const { core, resource } = call;
  const { collection, key } = placeOf(call);
  const kept = await toStorage(call, marked);
  if (core.store.put(collection, key, kept, version) === undefined) return undefined;
  noteWrite(call);
  await core.registry.ready(resource, [kept]);
  return { gone: false, object: core.registry.view(resource, kept) };
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
  const { deletion } = resource;
  const metadata = { ...live.metadata };
  const already = metadata.deletionTimestamp !== undefined;
  const finalizers = finalizersFor(call, live, options.propagation);
  const grace = graceOf(resource, live, options);
  if (!already || grace < (metadata.deletionGracePeriodSeconds ?? 0)) {
    metadata.deletionTimestamp = rfc3339(core.clock.now() + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
  }
  if (deletion !== undefined) delete metadata.deletionGracePeriodSeconds;
  if (!already && metadata.generation !== undefined && deletion?.counts !== false) metadata.generation++;
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const next: Body = { ...live, metadata };
  if (deletion !== undefined) next.status = deletion.status(live.status, rfc3339(core.clock.now()), already);
  const same =
    already &&
    live.metadata.deletionGracePeriodSeconds === grace &&
    String(live.metadata.finalizers ?? []) === String(finalizers);
  return same && !isFinished(next) ? undefined : next;
}

/** The seconds that the object has left to wind down. A second deletion may only shorten them. */
function graceOf({ gracePeriodSeconds }: ServedResource, live: Body, options: DeleteOptions): number {
  if (gracePeriodSeconds === undefined) return 0;
  const normal = gracePeriodSeconds(live);
  const wanted = Math.max(0, options.gracePeriodSeconds ?? normal);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = live.metadata;
  if (deletionTimestamp !== undefined) return Math.min(wanted, deletionGracePeriodSeconds);
  return normal === 0 ? 0 : wanted;
}

function finalizersFor(call: Call, live: Body, propagation: DeleteOptions["propagation"]): string[] {
  const present = live.metadata.finalizers ?? [];
  const policy =
    propagation ?? (present.includes(ORPHAN) ? "Orphan" : present.includes(FOREGROUND) ? "Foreground" : "Background");
  const others = present.filter((f) => f !== ORPHAN && f !== FOREGROUND);
  if (policy === "Orphan") others.push(ORPHAN);
  if (policy === "Foreground") others.push(FOREGROUND);
  const held = call.resource.deletion?.finalizer;
  const isFirst = live.metadata.deletionTimestamp === undefined;
  if (held !== undefined && isFirst && !others.includes(held)) others.push(held);
  return others;
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
