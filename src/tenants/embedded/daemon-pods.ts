/** What kube-controller-manager does for DaemonSets, in an embedded tenant that has nodes: a Pod on each node that it is for. */
import { isDeepStrictEqual } from "node:util";
import { isFault } from "@slipway/base";
import { type Controller, controllerOf, DONE, source } from "@slipway/kube";
import { Node, Pod } from "@slipway/kube/core";
import { DaemonSet, daemonPods } from "./daemon-pods-plan.ts";

/** Gives the DaemonSets of an embedded tenant a Pod on each node that takes one. */
export function daemonPodsController(system: string): Controller {
  return {
    name: "daemon-pods",
    system,
    sources: [
      source({ resource: DaemonSet }),
      source({
        resource: Node,
        when: (node, before) => placing(node) !== placing(before),
        keys: (_, __, cache) => cache.list(DaemonSet).map(({ metadata }) => metadata as Required<typeof metadata>),
      }),
      source({
        resource: Pod,
        keys: (pod) => {
          const owner = controllerOf(pod);
          const { namespace } = pod.metadata;
          return owner?.kind === DaemonSet.kind && namespace ? [{ namespace, name: owner.name }] : [];
        },
      }),
    ],
    access: [
      { resource: Pod, verbs: ["create", "delete"] },
      { resource: DaemonSet, verbs: ["update"], subresource: "status" },
    ],
    async reconcile(ref, { cache, client }) {
      const set = cache.get(DaemonSet, ref);
      if (set === undefined || set.metadata.deletionTimestamp !== undefined) return DONE;
      const { create, remove, status } = daemonPods(set, cache.list(Node), cache.list(Pod, ref.namespace));
      for (const { metadata } of remove) await client.delete(Pod, metadata, { uid: metadata.uid });
      for (const pod of create)
        await client.create(Pod, pod).catch((error: unknown) => {
          // The cache is behind: it was made a moment ago.
          if (!isFault(error, "AlreadyExists")) throw error;
        });
      if (!isDeepStrictEqual(status, set.status)) await client.updateStatus(DaemonSet, { ...set, status });
      return DONE;
    },
  };
}

/** What of a node decides about Pods. */
const placing = ({ metadata, spec }: Node): string => JSON.stringify([metadata.labels, spec?.taints]);
