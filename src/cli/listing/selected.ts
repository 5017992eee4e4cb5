import type { Resource } from "@slipway/kube";

/** Which objects are shown. */
export interface Selected {
  /** Unset: all namespaces. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

/** As a list or a watch of the resource takes it. Namespaces are not asked of what has none. */
export const selectionOf = ({ namespaced }: Resource, { namespace, labelSelector, fieldSelector }: Selected) => ({
  ...(namespace !== undefined && namespaced && { namespace }),
  ...(labelSelector !== undefined && { labelSelector }),
  ...(fieldSelector !== undefined && { fieldSelector }),
});
