/** What a SIPCluster asks for, in the spelling of today and in that of before March 2021. Pure. */
import { asFault } from "@slipway/base";
import { type LabelSelector, matchesLabels } from "@slipway/kube";
import { SPREAD } from "../../../kinds/sip/labels.ts";
import type { NodeSet, SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import type { Wish } from "./schedule.ts";

/** What the specification asks for. Roles are in an order of their own, so that the same specification gives the same hosts. */
export function wishOf({ spec }: SIPCluster): Wish {
  const roles = Object.entries(spec.nodes ?? {}).map(([role, set]) => ({
    role,
    count: (set.count?.active ?? 0) + (set.count?.standby ?? 0),
    selector: selectorOf(set),
    topologyKey: set.topologyKey || (set.spreadTopology && SPREAD[set.spreadTopology]) || undefined,
  }));
  return { roles: roles.toSorted((a, b) => (a.role < b.role ? -1 : 1)), topologyKey: spec.topologyKey || undefined };
}

/** Where both spellings are there, both must hold. */
function selectorOf({ labelSelector = {}, vmFlavor }: NodeSet): LabelSelector {
  if (!vmFlavor) return labelSelector;
  const [label = "", value = ""] = vmFlavor.split("=").map((part) => part.trim());
  const also = { key: label, operator: "In", values: [value] };
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), also] };
}

/** Why nothing can be chosen by what is wished for: a selector that is none. */
export function wrongWith({ roles }: Wish): string | undefined {
  for (const { role, selector } of roles)
    try {
      matchesLabels(selector, {});
    } catch (error) {
      return `role ${role}: ${asFault(error, "selector").advice}`;
    }
  return undefined;
}
