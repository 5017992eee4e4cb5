import { Fault } from "@slipway/base";
import type { Client } from "./client.ts";
import type { Access, Controller, Source, Verb } from "./controller.ts";
import { nameOf, type Resource } from "./object.ts";

/** A controller's whole access: what it declares, and reading what it watches. */
export function accessOf(controller: Pick<Controller, "access" | "sources">): Access[] {
  return [...controller.access, ...controller.sources.map(sourceAccess)];
}

/**
 * The same client, refusing with `Undeclared` every call that `access` does not cover, before it leaves the process. `who` is named in
 * the refusal. The rules are those of RBAC (`rulesOf`), so what passes here passes on a real cluster.
 */
export function declaredClient(client: Client, access: readonly Access[], who: string): Client {
  const byResource = Map.groupBy(access, (a) => accessKey(a.resource, a.subresource));

  function demand(verb: Verb, resource: Resource, at: { namespace?: string; name?: string }, sub?: string): void {
    const subresource = sub as Access["subresource"];
    const any = { ...resource, plural: ANY };
    const declared = [resource, any].flatMap((of) => byResource.get(accessKey(of, subresource)) ?? []);
    if (declared.some((a) => covers(a, verb, at))) return;
    const on = at.name === undefined ? resource.kind : nameOf(resource, { ...at, name: at.name });
    const what = sub === undefined ? resource.plural : `${resource.plural}/${sub}`;
    throw new Fault("Undeclared", on, `${who} did not declare that it may ${verb} ${what}`, {
      remedy: `add it to the access of ${who}`,
    });
  }

  return {
    get: async (resource, ref, options) => {
      demand("get", resource, ref);
      return client.get(resource, ref, options);
    },
    find: async (resource, ref, options) => {
      demand("get", resource, ref);
      return client.find(resource, ref, options);
    },
    list: async (resource, options = {}) => {
      demand("list", resource, selected(options));
      return client.list(resource, options);
    },
    watch: async (resource, options) => {
      demand("watch", resource, selected(options));
      return client.watch(resource, options);
    },
    create: async (resource, draft, options) => {
      demand("create", resource, draft.metadata);
      return client.create(resource, draft, options);
    },
    update: async (resource, object, options) => {
      demand("update", resource, object.metadata);
      return client.update(resource, object, options);
    },
    updateStatus: async (resource, object, options) => {
      demand("update", resource, object.metadata, "status");
      return client.updateStatus(resource, object, options);
    },
    patch: async (resource, ref, patch, options = {}) => {
      demand("patch", resource, ref, options.subresource);
      return client.patch(resource, ref, patch, options);
    },
    delete: async (resource, ref, options) => {
      demand("delete", resource, ref);
      return client.delete(resource, ref, options);
    },
    evict: async (pod, options) => {
      demand("create", POD, pod, "eviction");
      return client.evict(pod, options);
    },
  };
}

/** In the place of a plural: every resource of the group, as RBAC has it. */
export const ANY = "*";

/** What watching a source needs. A selector on one name narrows it to that name, as RBAC does for list and watch. */
export function sourceAccess(source: Source): Access {
  const name = onlyName(source.fieldSelector);
  return {
    resource: source.resource,
    verbs: ["list", "watch"],
    ...(source.namespace === undefined ? {} : { namespace: source.namespace }),
    ...(name === undefined ? {} : { names: [name] }),
  };
}

const POD: Resource = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

function covers(access: Access, verb: Verb, at: { namespace?: string; name?: string }): boolean {
  if (!access.verbs.includes(verb)) return false;
  if (access.namespace !== undefined && access.namespace !== at.namespace) return false;
  return access.names === undefined || (at.name !== undefined && access.names.includes(at.name));
}

function selected(options: { namespace?: string; fieldSelector?: string }): { namespace?: string; name?: string } {
  const name = onlyName(options.fieldSelector);
  return {
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

function onlyName(fieldSelector: string | undefined): string | undefined {
  return /^metadata\.name==?([^,=!]+)$/.exec(fieldSelector ?? "")?.[1];
}

/** Versions share rights: RBAC knows groups only. */
function accessKey(resource: Resource, subresource: Access["subresource"]): string {
  return `${resource.group}/${resource.plural}/${subresource ?? ""}`;
}
