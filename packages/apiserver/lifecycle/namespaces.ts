import { rfc3339 } from "@slipway/base";
import type { Core } from "../core/call.ts";
import { copyJson } from "../json/value.ts";
import type { Body } from "../model/served.ts";
import { rewrite } from "../verbs/update.ts";
import { deleteQuietly, ownCall, Work } from "./work.ts";

const NAMESPACES = "/namespaces";

/** Empties namespaces that are being deleted, sets conditions for what still blocks that, and deletes them when nothing does. */
export function namespaceLifecycle(core: Core): { close(): Promise<void> } {
  const work = new Work<string>(core, "namespaces", (name) => finish(core, name));
  const stop = core.store.listen("*", ({ collection, object, type }) => {
    if (collection === NAMESPACES) {
      if (object.metadata.deletionTimestamp !== undefined && type !== "DELETED") work.add(object.metadata.name);
    } else if (
      object.metadata.namespace !== undefined &&
      (type === "DELETED" || object.metadata.deletionTimestamp === undefined)
    ) {
      const namespace = core.store.get(NAMESPACES, object.metadata.namespace);
      if (namespace?.metadata.deletionTimestamp !== undefined) work.add(namespace.metadata.name);
    }
  });
  for (const [name, namespace] of core.store.collection(NAMESPACES).range("", ""))
    if (namespace.metadata.deletionTimestamp !== undefined) work.add(name);
  return {
    close: () => {
      stop();
      return work.close();
    },
  };
}

async function finish(core: Core, name: string): Promise<void> {
  const namespace = core.store.get(NAMESPACES, name);
  if (namespace?.metadata.deletionTimestamp === undefined) return;
  const remaining: Body[] = [];
  for (const [collection, resource] of core.registry.collections()) {
    if (!resource.namespaced) continue;
    for (const [, object] of [...core.store.collection(collection).range(`${name}/`, "")]) {
      if (object.metadata.deletionTimestamp === undefined) await deleteQuietly(core, resource, object, {});
    }
    for (const [, object] of core.store.collection(collection).range(`${name}/`, "")) remaining.push(object);
  }
  const resource = core.registry.find("", "v1", "namespaces")!;
  const call = ownCall(core, resource, { name });
  if (remaining.length === 0) await rewrite(call, withoutFinalizer, { managed: true, subresource: "finalize" });
  else {
    const now = rfc3339(core.clock.now());
    await rewrite({ ...call, subresource: "status" }, (live) => withConditions(live, remaining, now), {
      managed: true,
    });
  }
}

function withoutFinalizer(live: Body): Body {
  const next = copyJson(live);
  const spec = (next.spec ?? {}) as { finalizers?: string[] };
  next.spec = { ...spec, finalizers: (spec.finalizers ?? []).filter((f) => f !== "kubernetes") };
  return next;
}

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
}

/** The namespace with conditions that say what remains and which finalizers hold it. */
function withConditions(live: Body, remaining: readonly Body[], now: string): Body {
  const kinds = Object.groupBy(remaining, (o) => o.kind);
  const content = Object.entries(kinds)
    .map(([kind, of]) => `${kind} has ${of!.length} resource instances`)
    .sort();
  const finalizers = Object.groupBy(
    remaining.flatMap((o) => o.metadata.finalizers ?? []),
    (f) => f,
  );
  const holding = Object.entries(finalizers)
    .map(([finalizer, of]) => `${finalizer} in ${of!.length} resource instances`)
    .sort();
  const next = copyJson(live);
  const status = (next.status ?? {}) as { conditions?: Condition[] };
  const condition = (type: string, reason: string, texts: string[], prefix: string): Condition => {
    const before = (status.conditions ?? []).find((c) => c.type === type);
    const is = texts.length > 0 ? "True" : "False";
    const lastTransitionTime = before?.status === is ? before.lastTransitionTime : now;
    return {
      type,
      status: is,
      reason,
      message: texts.length > 0 ? `${prefix}: ${texts.join(", ")}` : "nothing",
      lastTransitionTime,
    };
  };
  const conditions = [
    condition("NamespaceContentRemaining", "SomeResourcesRemain", content, "Some resources are remaining"),
    condition(
      "NamespaceFinalizersRemaining",
      "SomeFinalizersRemain",
      holding,
      "Some content in the namespace has finalizers remaining",
    ),
  ];
  next.status = { ...status, phase: "Terminating", conditions };
  return next;
}
