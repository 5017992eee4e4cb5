import { Fault } from "@slipway/base";
import type { KubeObject, Transport } from "@slipway/kube";
import type { Kind } from "../../kinds/kind.ts";
import { SYSTEMS } from "../../operator/systems.ts";
import { kindNamed, namedObject, type ServedKind, servedKinds } from "../listing/kinds.ts";
import type { Selected } from "../listing/selected.ts";

/** What stands at the top: one object, or all of a kind that are selected. */
export interface Roots {
  resource: Kind;
  served: readonly ServedKind[];
  /** Unset: all of the kind. */
  name?: string;
  selected: Selected;
}

/** Reads `KIND/NAME`, `KIND/NAMESPACE/NAME` or `KIND`. Rejects with a `Fault` as `namedObject` does, and for selectors beside a name. */
export async function rootsOf(
  transport: Transport,
  text: string,
  { usual, selected }: { usual: string; selected: Selected },
): Promise<Roots> {
  const served = await servedKinds(transport, SYSTEMS);
  if (!text.includes("/")) return { resource: kindNamed(text, { served, systems: SYSTEMS }, text), served, selected };
  const namespace = selected.namespace ?? usual;
  const { resource, namespace: place, name } = namedObject(text, { served, systems: SYSTEMS, namespace });
  if (selected.labelSelector !== undefined || selected.fieldSelector !== undefined)
    throw new Fault("BadRequest", text, "it names one object, and selectors choose among many", {
      remedy: `leave --selector and --field-selector out, or name the kind alone: slipway tree ${text.split("/")[0]} -l LABELS`,
    });
  return { resource, served, name, selected: { namespace: place } };
}

/** Whether an object of the kind is the one that is named; all are where none is. */
export const isRoot = ({ name, selected: { namespace } }: Roots, { metadata }: KubeObject): boolean =>
  name === undefined || (metadata.name === name && metadata.namespace === namespace);
