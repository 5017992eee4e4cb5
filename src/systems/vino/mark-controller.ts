import { isFault } from "@slipway/base";
import { type Controller, DONE, source } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { VinoNode } from "../../kinds/vino/vino-node.ts";
import { networkValues } from "./annotation.ts";
import { AGENT_LABEL, NETWORK_VALUES, VINO } from "./names.ts";
import { BY_NODE, INDEXES } from "./node-view.ts";

/** Marks the Nodes that the agent is to run on, and keeps ViNO's annotation there. Both go with a node's last VinoNode. */
export function vinoMarkController(): Controller {
  return {
    name: "vino-marks",
    system: VINO,
    sources: [
      source({
        resource: Node,
        when: (node, before) => marks(node) !== marks(before),
      }),
      source({
        resource: VinoNode,
        indexes: INDEXES,
        keys: ({ spec }) => [{ name: spec.nodeName }],
        when: (node, before) => node.metadata.generation !== before.metadata.generation,
      }),
    ],
    access: [{ resource: Node, verbs: ["get", "patch"] }],
    async reconcile(ref, { cache, client }) {
      const node = cache.get(Node, ref);
      if (node === undefined) return DONE;
      const nodes = cache.byIndex(VinoNode, BY_NODE, node.metadata.name);
      const label = nodes.length > 0 ? "true" : undefined;
      const text = networkValues(nodes);
      const { labels = {}, annotations = {} } = node.metadata;
      if (labels[AGENT_LABEL] === label && annotations[NETWORK_VALUES] === text) return DONE;
      const body = {
        metadata: { labels: { [AGENT_LABEL]: label ?? null }, annotations: { [NETWORK_VALUES]: text ?? null } },
      };
      try {
        await client.patch(Node, ref, { type: "merge", body });
      } catch (error) {
        if (!isFault(error, "NotFound")) throw error;
      }
      return DONE;
    },
  };
}

const marks = ({ metadata: { uid, labels, annotations } }: Node): string =>
  JSON.stringify([uid, labels?.[AGENT_LABEL], annotations?.[NETWORK_VALUES]]);
