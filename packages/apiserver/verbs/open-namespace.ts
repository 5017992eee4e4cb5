import type { Call } from "../core/call.ts";
import { forbidden, notFound } from "../model/status.ts";

const NAMESPACE = { group: "", plural: "namespaces", kind: "Namespace" };

/** A namespaced object is created only in a namespace that exists and is not on its way out; a custom one only while its definition stays. */
export function requireOpenNamespace(call: Call, name: string): void {
  const { core, resource, namespace } = call;
  if (!resource.builtIn) {
    const definition = core.store.get(
      "apiextensions.k8s.io/customresourcedefinitions",
      `${resource.plural}.${resource.group}`,
    );
    if (definition?.metadata.deletionTimestamp !== undefined)
      throw forbidden(resource, name, "create not allowed while custom resource definition is terminating");
  }
  if (!resource.namespaced) return;
  const found = core.store.get("/namespaces", namespace);
  if (found === undefined) throw notFound(NAMESPACE, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  throw forbidden(resource, name, why, [cause]);
}
