/** What the kinds of Cluster API's IPAM contract share (ipam.cluster.x-k8s.io). Spellings and bounds are Cluster API's. */
import { z } from "zod";
import { AGE, CATEGORIES, contractReference, stringColumn } from "../cluster-api/fields.ts";

export const GROUP = "ipam.cluster.x-k8s.io";
export { AGE, CATEGORIES };
/** What a definition of the contract bears: which of its versions follows which contract, and that clusterctl moves its objects. */
export const CONTRACT_LABELS: Readonly<Record<string, string>> = {
  "cluster.x-k8s.io/provider": "cluster-api",
  "cluster.x-k8s.io/v1beta1": "v1beta1",
  "cluster.x-k8s.io/v1beta2": "v1beta2",
  "clusterctl.cluster.x-k8s.io": "",
};

export const poolRef = contractReference.describe(
  "Pool that the address is of, in the same namespace or of the cluster.",
);
/** `core/v1` TypedLocalObjectReference, as v1beta1 has it. */
export const oldPoolRef = z
  .object({ apiGroup: z.string().optional(), kind: z.string(), name: z.string() })
  .describe("Pool that the address is of.")
  .meta({ "x-kubernetes-map-type": "atomic" });

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** A reference to an object of the same namespace by its name. */
export const byName = (about: string) =>
  z.object({ name: z.string().min(1).max(253).regex(NAME).describe("Name of the object.") }).describe(about);

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
