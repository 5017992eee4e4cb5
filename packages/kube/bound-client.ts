import type { CallOptions, Client } from "./client.ts";

/**
 * The same client with every call bound to `signal`: once it is aborted, nothing goes out any more, whatever the caller passed. So a
 * reconcile that outlived its deadline can't write.
 */
export function boundClient(client: Client, signal: AbortSignal): Client {
  function bound<O extends CallOptions>(options: O | undefined): O {
    signal.throwIfAborted();
    const own = options?.signal;
    const both = own === undefined || own === signal ? signal : AbortSignal.any([own, signal]);
    return { ...options, signal: both } as O;
  }
  return {
    get: async (resource, ref, options) => client.get(resource, ref, bound(options)),
    find: async (resource, ref, options) => client.find(resource, ref, bound(options)),
    list: async (resource, options) => client.list(resource, bound(options)),
    watch: async (resource, options) => client.watch(resource, bound(options)),
    create: async (resource, draft, options) => client.create(resource, draft, bound(options)),
    update: async (resource, object, options) => client.update(resource, object, bound(options)),
    updateStatus: async (resource, object, options) => client.updateStatus(resource, object, bound(options)),
    patch: async (resource, ref, patch, options) => client.patch(resource, ref, patch, bound(options)),
    delete: async (resource, ref, options) => client.delete(resource, ref, bound(options)),
    evict: async (pod, options) => client.evict(pod, bound(options)),
  };
}
