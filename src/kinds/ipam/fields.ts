/** What the kinds of Cluster API's IPAM contract share (ipam.cluster.x-k8s.io). Spellings and bounds are Cluster API's. */
import { z } from "zod";
import { contractReference, objectName, stringColumn } from "../cluster-api/fields.ts";

export const GROUP = "ipam.cluster.x-k8s.io";

export const poolRef = contractReference.describe(
  "Pool that the address is of, in the same namespace or of the cluster.",
);
/** `core/v1` TypedLocalObjectReference, as v1beta1 has it. */
export const oldPoolRef = z
  .object({ apiGroup: z.string().optional(), kind: z.string(), name: z.string() })
  .describe("Pool that the address is of.")
  .meta({ "x-kubernetes-map-type": "atomic" });

/** A reference to an object of the same namespace by its name. */
export const byName = (about: string) => z.object({ name: objectName }).describe(about);

export const POOL_COLUMNS = [
  stringColumn("Pool Name", ".spec.poolRef.name"),
  stringColumn("Pool Kind", ".spec.poolRef.kind"),
];
/** The whole specification stays as it was created. */
export const FIXED = {
  path: "spec",
  rule: "self == oldSelf",
  message: "spec is immutable: delete the object, and create another",
};
