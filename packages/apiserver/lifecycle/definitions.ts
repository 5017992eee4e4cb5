import { isFault, rfc3339, sameJson } from "@slipway/base";
import { DEFINITION_CLEANUP } from "../builtin/extensions.ts";
import type { Core } from "../core/call.ts";
import type { Registry } from "../core/registry.ts";
import { copyJson, isRecord } from "../json/value.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { ownErrors } from "../rules/own.ts";
import { defaultCrd, servedFromCrd, unknownFormats, validateCrd } from "../schema/crd.ts";
import { storedVersionErrors } from "../schema/crd-rules.ts";
import { collectionOf } from "../storage/keys.ts";
import { rewrite } from "../verbs/update.ts";
import { deleteQuietly, ownCall, Work } from "./work.ts";

export const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";

interface Condition {
  type: string;
  status: "True" | "False";
  reason: string;
  message: string;
  lastTransitionTime: string;
}

/** The built-in CustomResourceDefinition resource with its own rules: defaults, validation, and the part of its status that upstream writes at once. */
export function withDefinitionRules(resource: ServedResource): ServedResource {
  return {
    ...resource,
    setDefaults(crd) {
      resource.setDefaults?.(crd);
      defaultCrd(crd);
      const storage = storageOf(crd);
      const status = isRecord(crd.status) ? (crd.status as Status) : undefined;
      if (status !== undefined && storage !== undefined && (status.storedVersions ?? []).length === 0)
        crd.status = { ...status, storedVersions: [storage] };
    },
    prepareCreate(crd, now) {
      resource.prepareCreate?.(crd, now);
      const storage = storageOf(crd);
      const storedVersions = storage === undefined ? null : [storage];
      crd.status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions };
    },
    prepareUpdate(crd, old, now) {
      resource.prepareUpdate?.(crd, old, now);
      const storage = storageOf(crd);
      const status = crd.status as Status | undefined;
      const stored = status?.storedVersions ?? [];
      if (status !== undefined && storage !== undefined && !stored.includes(storage))
        crd.status = { ...status, storedVersions: [...stored, storage] };
    },
    *validate(crd, old) {
      const errors = yield* ownErrors(resource, crd, old);
      // A status that is written by itself is not judged, as upstream.
      if (old !== undefined && sameJson(crd.spec, old.spec)) return errors;
      return [...errors, ...(yield* validateCrd(crd, old)), ...storedVersionErrors(crd)];
    },
    warnings(crd, old) {
      const before = new Set(old === undefined ? [] : unknownFormats(old));
      return unknownFormats(crd)
        .filter((format) => !before.has(format))
        .map((format) => `unrecognized format ${JSON.stringify(format)}`);
    },
  };
}

interface Status {
  conditions?: Condition[] | null;
  storedVersions?: string[] | null;
  acceptedNames?: unknown;
}

function storageOf(crd: Body): string | undefined {
  const { versions } = (isRecord(crd.spec) ? crd.spec : {}) as Spec;
  return (Array.isArray(versions) ? versions : []).find((v) => v?.storage === true)?.name;
}

interface Spec {
  group?: string;
  names?: { plural?: string; kind?: string; listKind?: string; singular?: string; shortNames?: string[] };
  versions?: { name: string; storage?: boolean }[];
}

/** The status that says whether a definition's names are its own, and so whether it is served. */
function statusFor(registry: Registry, crd: Body, now: number): Status {
  const spec = (isRecord(crd.spec) ? crd.spec : {}) as Spec;
  const before = (crd.status ?? {}) as Status;
  const clash = clashOf(registry, spec);
  const condition = (type: string, holds: boolean, reason: string, message: string): Condition => {
    const status = holds ? "True" : "False";
    const was = before.conditions?.find((c) => c.type === type);
    const lastTransitionTime = was?.status === status ? was.lastTransitionTime : rfc3339(now);
    return { type, status, reason, message, lastTransitionTime };
  };
  const conditions =
    clash === undefined
      ? [
          condition("NamesAccepted", true, "NoConflicts", "no conflicts found"),
          condition("Established", true, "InitialNamesAccepted", "the initial names have been accepted"),
        ]
      : [
          condition("NamesAccepted", false, clash.reason, clash.message),
          condition("Established", false, "NotAccepted", "not all names are accepted"),
        ];
  if (crd.metadata.deletionTimestamp !== undefined)
    conditions.push(
      condition("Terminating", true, "InstanceDeletionInProgress", "CustomResource deletion is in progress"),
    );
  return {
    conditions,
    acceptedNames:
      clash === undefined
        ? copyJson(spec.names ?? {})
        : { plural: clash.reason === "PluralConflict" ? "" : (spec.names?.plural ?? ""), kind: "" },
    storedVersions: before.storedVersions ?? null,
  };
}

/** The last of a definition's names that another resource of its group already has: that is the one upstream names. */
function clashOf(registry: Registry, { group, names = {} }: Spec): { reason: string; message: string } | undefined {
  const others = registry.all().filter((r) => r.group === group && r.plural !== names.plural);
  const taken = (name: string | undefined): boolean =>
    name !== undefined && others.some((r) => r.plural === name || r.singular === name || r.shortNames.includes(name));
  const clashes: [reason: string, name: string | undefined, taken: boolean][] = [
    ["PluralConflict", names.plural, taken(names.plural)],
    ["SingularConflict", names.singular, taken(names.singular)],
    ["ShortNamesConflict", names.shortNames?.find(taken), names.shortNames?.some(taken) ?? false],
    ["KindConflict", names.kind, others.some((r) => r.kind === names.kind)],
    ["ListKindConflict", names.listKind, others.some((r) => r.listKind === names.listKind)],
  ];
  const last = clashes.findLast(([, , isTaken]) => isTaken);
  return last && { reason: last[0], message: `${JSON.stringify(last[1])} is already in use` };
}

interface Declared {
  uid: string | undefined;
  generation: number | undefined;
  resources: readonly ServedResource[];
}

/** Serves what the stored definitions declare as they come and go, and empties a definition that is being deleted before it goes. */
export function definitionLifecycle(core: Core): { close(): Promise<void> } {
  const { store, registry } = core;
  const served = new Map<string, readonly ServedResource[]>();
  const declared = new Map<string, Declared>();
  /** The same resources for the same spec: watches end with the resource they were opened on. */
  const resourcesOf = (name: string, crd: Body): readonly ServedResource[] => {
    const { uid, generation } = crd.metadata;
    const known = declared.get(name);
    if (known?.uid === uid && known?.generation === generation) return known!.resources;
    const resources = servedFromCrd(crd, core.converterOf(crd));
    declared.set(name, { uid, generation, resources });
    return resources;
  };
  const work = new Work<string>(core, "definitions", async (name) => {
    await cleanUp(core, served, name);
    await writeStatus(core, name);
  });
  const note = (name: string, crd: Body | undefined): void => {
    const before = served.get(name) ?? [];
    // A definition whose names are free is served at once; its status says so a moment later.
    const accepted = crd !== undefined && (isEstablished(crd) || clashOf(registry, crd.spec as Spec) === undefined);
    const after = crd === undefined ? [] : accepted ? resourcesOf(name, crd) : before;
    served.set(name, after);
    if (crd === undefined) declared.delete(name);
    if (after !== before) registry.replace(before, after);
    if (crd !== undefined) work.add(name);
    // Names that are free again may be what another definition waits for.
    else for (const [other] of store.collection(DEFINITIONS).range("", "")) work.add(other);
  };
  for (const [name, crd] of store.collection(DEFINITIONS).range("", "")) note(name, crd);
  const stops = [
    store.listen(DEFINITIONS, ({ key, object, before, type }) => {
      const same = type === "MODIFIED" && before !== undefined && sameDeclaration(before, object);
      if (!same) note(key, type === "DELETED" ? undefined : object);
      else if (object.metadata.deletionTimestamp !== undefined) work.add(key);
    }),
    store.listen("*", ({ collection, type }) => {
      if (type !== "DELETED") return;
      for (const [name, resources] of served)
        if (
          resources.some((r) => collectionOf(r) === collection) &&
          store.get(DEFINITIONS, name)?.metadata.deletionTimestamp !== undefined
        )
          work.add(name);
    }),
  ];
  return {
    close: () => {
      for (const stop of stops) stop();
      return work.close();
    },
  };
}

/** Writes what a definition's status is to say, as upstream's controllers do. */
async function writeStatus(core: Core, name: string): Promise<void> {
  const definitions = core.registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")!;
  const stored = core.store.get(DEFINITIONS, name);
  if (stored === undefined || sameJson(statusFor(core.registry, stored, core.clock.now()), stored.status)) return;
  try {
    await rewrite(
      ownCall(core, definitions, { name, manager: "kube-apiserver" }),
      (live) => ({
        ...copyJson(live),
        status: statusFor(core.registry, live, core.clock.now()),
      }),
      { subresource: "status" },
    );
  } catch (error) {
    if (!isFault(error, "NotFound")) throw error;
  }
}

function sameDeclaration(a: Body, b: Body): boolean {
  return (
    a.metadata.generation === b.metadata.generation &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    isEstablished(a) === isEstablished(b)
  );
}

function isEstablished(crd: Body): boolean {
  const status = crd.status as { conditions?: Condition[] } | undefined;
  return status?.conditions?.some((c) => c.type === "Established" && c.status === "True") ?? false;
}

async function cleanUp(
  core: Core,
  served: ReadonlyMap<string, readonly ServedResource[]>,
  name: string,
): Promise<void> {
  const crd = core.store.get(DEFINITIONS, name);
  if (crd?.metadata.deletionTimestamp === undefined) return;
  const spec = crd.spec as Spec;
  const collection = `${spec.group}/${spec.names?.plural}`;
  const resource = core.registry.collections().get(collection) ?? served.get(name)?.[0];
  if (resource !== undefined)
    for (const [, object] of [...core.store.collection(collection).range("", "")])
      if (object.metadata.deletionTimestamp === undefined) await deleteQuietly(core, resource, object, {});
  if (core.store.collection(collection).size > 0) return;
  const definitions = core.registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")!;
  try {
    await rewrite(
      ownCall(core, definitions, { name }),
      (live) => {
        const next = copyJson(live);
        next.metadata.finalizers = (next.metadata.finalizers ?? []).filter((f) => f !== DEFINITION_CLEANUP);
        return next;
      },
      { managed: true },
    );
  } catch (error) {
    if (!isFault(error, "NotFound")) throw error;
  }
}
